"""Documents that the program writes: blocks between markers, made anew and compared."""

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

from heptalog.replay.errors import Code, error_of
from heptalog.replay.sentences import SENTENCES
from heptalog.service.status import status_code

ROOT = Path(__file__).parent.parent.parent
PROTO = ROOT / "proto"
FIRST = ("event.proto", "seal.proto")
SERVICES = ("games.proto", "log.proto")
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


BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    "events": ("docs/events.md", events),
    "errors": ("docs/errors.md", errors),
}
