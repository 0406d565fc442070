"""Documents that the program writes: blocks between markers, made anew and compared."""

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc
from msgspec import Struct
from msgspec.structs import fields

from heptalog.analytics.views import dictionary
from heptalog.cli.dictionaries import short_type
from heptalog.replay.errors import Code, error_of
from heptalog.replay.phrases import in_a_row
from heptalog.replay.registry import NEWEST
from heptalog.replay.rules import AnyRules
from heptalog.replay.sentences import SENTENCES
from heptalog.replay.words import title_of
from heptalog.service.status import status_code

ROOT = Path(__file__).parent.parent.parent
PROTO = ROOT / "proto"
FIRST = ("event.proto", "seal.proto")
SERVICES = ("admin.proto", "audit.proto", "games.proto", "log.proto", "query.proto")
GAMES = sorted(path.name for path in PROTO.glob("heptalog/v1/*.proto") if path.name not in FIRST + SERVICES)
_MESSAGE, _NESTED_ENUM, _ENUM_VALUE, _FIELD = 4, 4, 2, 2

Comments = dict[tuple[int, ...], str]


def with_block(text: str, name: str, block: str) -> str:
    """The document with the block of this name replaced."""
    pattern = re.compile(rf"(<!-- begin: {name} -->\n).*?(<!-- end: {name} -->)", re.DOTALL)
    assert pattern.search(text), f"there is no block {name}"
    return pattern.sub(lambda match: match[1] + block + match[2], text)


def errors() -> str:
    """Every code with its kind, its gRPC status and its sentence."""
    lines = ["| code | kind | gRPC | meaning |", "|---|---|---|---|"]
    for code in Code:
        error = error_of(code)
        lines.append(f"| `{code}` | {type(error).__name__} | {status_code(error).name} | {SENTENCES[code]} |")
    return "\n".join(lines) + "\n"


def events() -> str:
    """Every message of the record, with its fields and what the .proto says of them."""
    return "\n".join(line for file in _described() for line in _file(file))


def _described() -> list[FileDescriptorProto]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "set"
        names = [f"heptalog/v1/{name}" for name in (*FIRST, *GAMES)]
        include = Path(protoc.__file__).parent / "_proto"
        arguments = ["protoc", f"-I{PROTO}", f"-I{include}", f"--descriptor_set_out={out}", "--include_source_info"]
        assert protoc.main([*arguments, *names]) == 0
        described = FileDescriptorSet.FromString(out.read_bytes())
    return sorted(described.file, key=lambda file: names.index(file.name))


def _file(file: FileDescriptorProto) -> Iterator[str]:
    comments: Comments = {}
    for location in file.source_code_info.location:
        text = " ".join((location.leading_comments or location.trailing_comments).split())
        comments[tuple(location.path)] = text
    yield f"## {file.name.rsplit('/', maxsplit=1)[1]}\n"
    for index, message in enumerate(file.message_type):
        yield from _message(message, comments, (_MESSAGE, index))


def _message(message: DescriptorProto, comments: Comments, path: tuple[int, ...]) -> Iterator[str]:
    yield f"### {message.name}\n"
    yield f"{comments.get(path, '')}\n"
    if message.field:
        yield "| number | field | type | meaning |\n|---|---|---|---|"
    for index, field in enumerate(message.field):
        note = comments.get((*path, _FIELD, index), "")
        yield f"| {field.number} | `{field.json_name}` | {_type(field)} | {note} |"
    yield ""
    for index, enum in enumerate(message.enum_type):
        yield f"`{enum.name}`: {comments.get((*path, _NESTED_ENUM, index), '')}\n"
        for place, value in enumerate(enum.value):
            if value.number:
                note = comments.get((*path, _NESTED_ENUM, index, _ENUM_VALUE, place), "")
                yield f"- `{value.name}` {value.number}{f': {note}' if note else ''}"
        yield ""


def _type(field: FieldDescriptorProto) -> str:
    name = field.type_name.rsplit(".", maxsplit=1)[-1]
    kind = name or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return f"many {kind}"
    return f"{kind}, optional" if field.proto3_optional else kind


def views() -> str:
    """What each kind of viewer sees of each game: the fields of its view types."""
    return "\n".join(line for rules in NEWEST.values() for line in _views_of(rules))


def _views_of(rules: AnyRules) -> Iterator[str]:
    yield f"## {title_of(rules.key)}\n"
    waiting = list(get_args(get_type_hints(rules.view)["return"]))
    told: list[type[Struct]] = []
    while waiting:
        kind = waiting.pop(0)
        if kind in told:
            continue
        told.append(kind)
        yield f"### {kind.__name__}\n"
        yield f"{' '.join((kind.__doc__ or '').split())}\n"
        yield "| field | type |\n|---|---|"
        for info in fields(kind):
            yield f"| `{info.encode_name}` | {_told_type(info.type)} |"
            waiting += [part for part in _types_in(info.type) if issubclass(part, Struct)]
        yield ""


def _told_type(annotation: Any) -> str:
    if get_origin(annotation) is tuple:
        return f"list of {_told_type(get_args(annotation)[0])}"
    if get_args(annotation):
        return " or ".join("null" if choice is NoneType else _told_type(choice) for choice in get_args(annotation))
    names = {str: "string", int: "number", bool: "boolean"}
    return names.get(annotation) or str(annotation.__name__)


def _types_in(annotation: Any) -> Iterator[type]:
    for choice in get_args(annotation):
        yield from _types_in(choice)
    if isinstance(annotation, type) and not get_args(annotation):
        yield annotation


def tables_and_views() -> str:
    """Every table and view, with what its columns mean."""
    return "\n".join(line for is_derived in (False, True) for line in _entries(is_derived=is_derived))


def _entries(*, is_derived: bool) -> Iterator[str]:
    yield "## Views\n" if is_derived else "## Tables\n"
    for entry in dictionary():
        if entry.is_derived is not is_derived:
            continue
        yield f"### {entry.name}\n"
        reads = in_a_row([f"[{name}](#{name})" for name in entry.reads]) if entry.reads else ""
        yield f"{entry.meaning}{f' Over {reads}.' if reads else ''}\n"
        yield "| column | type | meaning |\n|---|---|---|"
        yield from (f"| `{column.name}` | {short_type(column.type)} | {column.meaning} |" for column in entry.columns)
        yield ""


BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    "events": ("docs/events.md", events),
    "errors": ("docs/errors.md", errors),
    "views": ("docs/views.md", views),
    "dictionary": ("docs/dictionary.md", tables_and_views),
}
