"""QueryService: questions over the whole history. Each call decodes, asks, encodes."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from heptalog.analytics.views import dictionary
from heptalog.service.answering import Context, Readers, answers, streams
from heptalog.service.asked import View, ViewColumn
from heptalog.service.tables.tables import Tables, check_kept
from heptalog.service.wire import part_message, question_of, view_message
from heptalog.v1 import query_pb2, query_pb2_grpc


class QueryServicer(query_pb2_grpc.QueryServiceServicer):
    """Answers from the tables, where this server keeps them."""

    def __init__(self, tables: Tables | None, readers: Readers) -> None:
        self._tables = tables
        self._readers = readers

    @streams
    async def Query(
        self, request: query_pb2.QueryRequest, context: Context
    ) -> AsyncGenerator[query_pb2.QueryResponse, None]:
        question = question_of(request)
        async with aclosing(check_kept(self._tables).questions.answer(question)) as parts:
            async for part in parts:
                yield part_message(part)

    @answers
    async def ListViews(self, request: query_pb2.ListViewsRequest, context: Context) -> query_pb2.ListViewsResponse:
        views = await self._readers.run(_views)
        return query_pb2.ListViewsResponse(views=map(view_message, views))


def _views() -> list[View]:
    return [
        View(
            entry.name,
            entry.meaning,
            tuple(ViewColumn(column.name, column.type, column.meaning, column.values) for column in entry.columns),
            entry.is_derived,
        )
        for entry in dictionary()
    ]
