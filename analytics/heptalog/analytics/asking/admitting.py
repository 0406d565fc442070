"""Whether a statement may be asked: one SELECT over our tables, with functions that only compute."""

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any, Final, NoReturn

import duckdb
import msgspec

from heptalog.analytics.asking import grammar
from heptalog.analytics.asking.functions import Place, calls, is_allowed, is_refused
from heptalog.analytics.asking.naming import problem_of_names
from heptalog.replay.errors import Code, Malformed

# A name in WITH is one that the engine takes for no file and for nothing of its own, wherever it looks.
_PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*")
_ENGINES_NAMES: Final = ("duckdb_", "information_schema", "pg_", "pragma_", "sqlite_")
# The schema of the tables, and the one in which a recursive WITH sees all that it has.
_OURS: Final = "main"
_RECURRING: Final = "recurring"
_PRINTED: Final = "SELECT json_serialize_sql(?, skip_null := true, skip_empty := true, skip_default := true)"
_ONE_SELECT: Final = "one SELECT can be asked, and nothing else"
_PIVOT: Final = "; a PIVOT that names its values is one: FROM games PIVOT (count(*) FOR ruleset IN ('seven_up'))"
# What the engine's messages begin with, before " Error:", where a statement is to blame: its text or a value in it.
_FAULTS_OF_STATEMENTS: Final = frozenset(
    {
        "Binder",
        "Catalog",
        "Conversion",
        "Decimal",
        "Divide by Zero",
        "Expression",
        "Invalid Input",
        "Invalid type",
        "Mismatch Type",
        "Not implemented",
        "Object Size",
        "Out of Range",
        "Parameter Not Allowed",
        "Parameter Not Resolved",
        "Parser",
        "Planner",
        # An argument that must be constant, and is a subquery.
        "Serialization",
        "Syntax",
        "Unknown Type",
    }
)
NESTED: Final = "it is nested too deeply"
# So much of what the engine says is looked at: it can quote what a row holds.
_SAID_LENGTH_MAX: Final = 10_000
# What the engine's messages begin with, and the lines of them that help.
_TOO_DEEP: Final = "Max expression depth"
_NOT_CONSTANT: Final = "Cannot copy BoundSubquery"
_TOO_WIDE: Final = re.compile(r"\bU?INT128\b.*\bINT64\b")
_ADVICE: Final = re.compile(r",? or SET [^\n]*")
_HINTS: Final = ("Candidate bindings", "Candidate tables", "Candidate Entries", "Did you mean", "Either add it")
# How it says that there is no such column, before the names that are near.
_NO_COLUMN: Final = re.compile(
    r'(?:Referenced )?[Cc]olumn "(?P<name>[^"\n]+)" (?:in \w+ list )?(?:not found in FROM|does not exist on)[^\n]*'
    r'|\w[\w ]* "(?P<table>[^"\n]+)" does not have a column named "(?P<column>[^"\n]+)"'
)
_TOLD_COLUMN: Final = re.compile(r"there is no column (.+) (?:here|in \w+);")
_NEAR_NAMES: Final = re.compile(r'"([^"\n]+)"')
# Words for what is refused, where the name of the node says nothing to whoever wrote it.
_WORDS: Final[Mapping[str, str]] = {
    "SHOW_REF": "DESCRIBE, SHOW and SUMMARIZE cannot be asked: heptalog views prints the tables and their columns",
    "PARAMETER": "parameters have no value here",
    "INSERT_QUERY_NODE": "INSERT cannot be asked",
    "UPDATE_QUERY_NODE": "UPDATE cannot be asked",
    "DELETE_QUERY_NODE": "DELETE cannot be asked",
    "COPY_QUERY_NODE": "COPY cannot be asked",
    "at_clause": "AT cannot be asked: the tables have no versions",
}


def printed(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """The statement as the engine's parser understands it. Raises Malformed QUERY_INVALID where it is no SELECT."""
    row = connection.execute(_PRINTED, [sql]).fetchall()[0]
    try:
        tree = msgspec.json.decode(row[0])
    except RecursionError:
        _refuse(NESTED)
    if tree["error"]:
        if tree["error_type"] == "not implemented":
            _refuse(_ONE_SELECT + (_PIVOT if "pivot" in sql.lower() else ""))
        _refuse(_one_line(tree["error_message"]), tree.get("position"))
    statements = tree["statements"]
    if len(statements) != 1:
        _refuse(_ONE_SELECT if statements else "there is no statement")
    return statements[0]


def is_statements(message: str) -> bool:
    """Whether an error of the engine's is the statement's fault, and not the machine's or ours."""
    return message.partition(" Error:")[0] in _FAULTS_OF_STATEMENTS


def invalid(message: str, columns: Collection[str] = ()) -> Malformed:
    """What the engine says of a statement, as one line: it may be JSON, with the place in the statement.

    `columns` are those that a name which is none of them may have been meant for.
    """
    _, _, told = message.partition(": ")
    try:
        parts = msgspec.json.decode(told, type=_Told)
    except msgspec.MsgspecError:
        return _invalid(_one_line(told or message, columns))
    return _invalid(_one_line(parts.exception_message, columns), parts.position)


def place_of_column(problem: str, sql: str) -> int | None:
    """The byte at which a column stands that there is not; None where it stands there more than once, or otherwise."""
    told = _TOLD_COLUMN.match(problem)
    places = [] if told is None else [*re.finditer(rf"(?<!\w){re.escape(told[1])}(?!\w)", sql)]
    return len(sql[: places[0].start()].encode()) if len(places) == 1 else None


def admit(statement: Any, tables: Collection[str]) -> frozenset[str]:
    """The tables that a statement names, in lower case. Raises Malformed QUERY_INVALID where it may not be asked."""
    reading = _Reading(frozenset(tables))
    try:
        # Parameters, where there are any, are refused where they stand.
        reading.node({name: value for name, value in statement.items() if name == "node"}, "statement", frozenset())
    except RecursionError:
        _refuse(NESTED)
    return frozenset(reading.named)


class _Told(msgspec.Struct):
    exception_message: str
    position: str | None = None


class _Reading:
    """One walk over a statement."""

    def __init__(self, tables: frozenset[str]) -> None:
        self.tables = tables
        self.named: set[str] = set()
        self._place = 0

    def node(self, node: Any, family: str, scope: frozenset[str]) -> None:
        """Go through a node of a family, or a list of them; `scope` are the names that WITH has given."""
        if isinstance(node, list):
            for one in node:
                self.node(one, family, scope)
            return
        if isinstance(node, str) and family == "column":
            return
        if not isinstance(node, dict):
            _refuse(f"a {family} of this kind cannot be asked", self._place)
        self._place = node.get("query_location", self._place)
        kind = str(node.get(grammar.KIND_KEYS.get(family, ""), ""))
        keys = grammar.GRAMMAR[family].get(kind)
        if keys is None:
            _refuse(_WORDS.get(kind, f"{kind} cannot be asked"), self._place)
        if "cte_map" in node:
            scope = self._scope(node["cte_map"], scope)
        if kind == "RECURSIVE_CTE_NODE":
            scope |= {_lower(node["cte_name"])}
        self._look(kind, family, node, scope)
        for key, value in node.items():
            if key not in keys:
                _refuse(_WORDS.get(key, f"{key} of {kind or family} cannot be asked"), self._place)
            if keys[key] == grammar.SCOPE:
                continue
            if keys[key] == grammar.PLAIN:
                self._plain(value)
            else:
                self.node(value, keys[key], scope)

    def _scope(self, common: Any, scope: frozenset[str]) -> frozenset[str]:
        """The names in scope once a WITH has been gone through: each of its queries sees only those before it."""
        if not isinstance(common, dict) or not common.keys() <= {"map"}:
            _refuse("this WITH cannot be asked", self._place)
        for entry in common.get("map", ()):
            if entry.keys() != {"key", "value"} or not entry["value"].keys() <= grammar.COMMON_KEYS:
                _refuse("this WITH cannot be asked", self._place)
            self.node(entry["value"]["query_node"], grammar.QUERY, scope)
            self.node(entry["value"].get("key_targets", []), grammar.EXPRESSION, scope)
            if not _PLAIN_NAME.fullmatch(entry["key"]) or _lower(entry["key"]).startswith(_ENGINES_NAMES):
                _refuse(f"{entry['key']} cannot be a name in WITH", self._place)
            scope |= {_lower(entry["key"])}
        return scope

    def _look(self, kind: str, family: str, node: Mapping[str, Any], scope: frozenset[str]) -> None:
        """What a kind of node must hold beside its shape."""
        match kind:
            case "BASE_TABLE":
                self._table(_path(node), scope)
            case "FUNCTION" | "WINDOW":
                name = _path(node)[-1]
                self._call(name, Place.FROM if family == grammar.SOURCE else Place.CALL)
                if problem := problem_of_names(name, node.get("arguments", ())):
                    _refuse(problem, self._place)
            case "TYPE":
                if len(path := _path(node)) != 1 or not is_allowed(path[0], Place.TYPE):
                    _refuse(f"nothing can be cast to {'.'.join(path)}", self._place)
            case "COLUMN_REF":
                names = node["column_names"]
                if len(names) == 1 and _lower(names[0]) in grammar.TELLING_NAMES:
                    _refuse(f"{names[0]} cannot be asked", self._place)

    def _table(self, path: list[str], scope: frozenset[str]) -> None:
        names = [name.lower() for name in path]
        if len(names) == 1 and names[0] in scope:
            return
        if len(names) == 2 and names[0] == _RECURRING and names[1] in scope:
            return
        if names[-1] in self.tables and names[:-1] in ([], [_OURS]):
            self.named.add(names[-1])
            return
        near = difflib.get_close_matches(names[-1], sorted(self.tables | scope), 1)
        _refuse(f"there is no table {'.'.join(path)} here{_hint(near)}", self._place)

    def _plain(self, value: Any) -> None:
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value)):
            _refuse("this cannot be asked", self._place)
        if isinstance(value, list):
            for one in value:
                self._plain(one)

    def _call(self, name: str, place: Place) -> None:
        if is_allowed(name, place):
            return
        if is_refused(name, place):
            _refuse(f"the function {name} cannot be called here", self._place)
        near = difflib.get_close_matches(name.lower(), sorted(calls()), 1)
        _refuse(f"there is no function {name} here{_hint(near)}", self._place)


def _path(node: Mapping[str, Any]) -> list[str]:
    """The name of a table, function or type with what stands before it."""
    path = node.get("qualified_name", {}).get("path")
    if not isinstance(path, list) or not path or not all(isinstance(name, str) for name in path):
        _refuse("a name without letters cannot be asked", node.get("query_location"))
    return path


def _hint(near: list[str]) -> str:
    return f"; did you mean {near[0]}?" if near else ""


def _lower(name: Any) -> str:
    return str(name).lower()


def _no_column(told: re.Match[str], candidates: Collection[str], columns: Collection[str]) -> str:
    name = told["name"] or told["column"]
    # Of two tables the engine names a column with its table.
    names = dict.fromkeys([*(each.rpartition(".")[2] for each in candidates), *columns])
    hint = _hint(difflib.get_close_matches(name.lower(), names, 1))
    where = f"in {told['table']}" if told["table"] else "here"
    return f"there is no column {name} {where}{hint or '; heptalog views NAME prints those of a table or a view'}"


def _one_line(said: str, columns: Collection[str] = ()) -> str:
    """What the engine says, without what it advises to set, and with what it thinks was meant."""
    text = said[:_SAID_LENGTH_MAX]
    if told := _NO_COLUMN.match(text):
        return _no_column(told, _NEAR_NAMES.findall(text[told.end() :]), columns)
    if text.startswith(_TOO_DEEP):
        return NESTED
    if text.startswith(_NOT_CONSTANT):
        return "an argument that must be constant is a subquery"
    if _TOO_WIDE.search(text):
        return "an integer of it does not fit into 64 bits: it can be cast to DOUBLE or VARCHAR"
    first, *others = _ADVICE.sub("", text).split("\n")
    hints = [line[0].lower() + line[1:].rstrip(".") for line in others if line.startswith(_HINTS)]
    return "; ".join([first.rstrip("!."), *hints[:1]])


def _invalid(problem: str, place: Any = None) -> Malformed:
    """A failure with its place in the statement where that is known: the parser counts bytes from 0."""
    facts: dict[str, Any] = {"byte": int(place)} if place is not None and str(place).isdecimal() else {}
    return Malformed(Code.QUERY_INVALID, problem=problem, **facts)


def _refuse(problem: str, place: Any = None) -> NoReturn:
    raise _invalid(problem, place)
