"""The statements that may be asked, as the engine's parser prints them: node by node, every key of each named.

What is not here is refused, so that nothing passes that we have not looked at: nodes that change something (INSERT in
a WITH, since 2.0), that show the catalogue (DESCRIBE), parameters, and whatever a newer engine thinks of.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

# The value of a key: nothing but plain values, or nodes of a family; lists are gone through.
Keys: TypeAlias = Mapping[str, str]

PLAIN: Final = ""
EXPRESSION: Final = "expression"
TYPE: Final = "type of a value"
TABLE: Final = "table"
QUERY: Final = "query"
SOURCE: Final = "call after FROM"
SCOPE: Final = "WITH"
NAME: Final = "name"

_PLACE: Final = {"query_location": PLAIN, "query_location_length": PLAIN}
_EXPRESSION: Final = {"class": PLAIN, "type": PLAIN, "alias": PLAIN, **_PLACE}
_TABLE: Final = {"type": PLAIN, "alias": PLAIN, "column_name_alias": PLAIN, "sample": "sample", **_PLACE}
_QUERY: Final = {"type": PLAIN, "cte_map": SCOPE, "modifiers": "modifier"}
_CALL: Final = {
    "function_name": PLAIN,
    "qualified_name": NAME,
    "schema": PLAIN,
    "catalog": PLAIN,
    "arguments": "argument",
    "distinct": PLAIN,
}
_FUNCTION: Final = {
    **_EXPRESSION,
    **_CALL,
    "filter": EXPRESSION,
    "order_bys": "modifier",
    "is_operator": PLAIN,
}

# By the name of the family, then by what a node of it calls itself. Families of one shape have one nameless member.
GRAMMAR: Final[Mapping[str, Mapping[str, Keys]]] = MappingProxyType(
    {
        "statement": {"": {"node": QUERY}},
        QUERY: {
            "SELECT_NODE": {
                **_QUERY,
                "select_list": EXPRESSION,
                "from_table": TABLE,
                "where_clause": EXPRESSION,
                "group_expressions": EXPRESSION,
                "group_sets": PLAIN,
                "aggregate_handling": PLAIN,
                "having": EXPRESSION,
                "sample": "sample",
                "qualify": EXPRESSION,
            },
            "SET_OPERATION_NODE": {**_QUERY, "setop_type": PLAIN, "setop_all": PLAIN, "children": QUERY},
            "RECURSIVE_CTE_NODE": {
                **_QUERY,
                "cte_name": PLAIN,
                "union_all": PLAIN,
                "left": QUERY,
                "right": QUERY,
                "aliases": PLAIN,
                "key_targets": EXPRESSION,
            },
        },
        TABLE: {
            "EMPTY": {"type": PLAIN},
            "BASE_TABLE": {
                **_TABLE,
                "table_name": PLAIN,
                "schema_name": PLAIN,
                "catalog_name": PLAIN,
                "qualified_name": NAME,
            },
            "SUBQUERY": {**_TABLE, "subquery": "statement"},
            "JOIN": {
                **_TABLE,
                "left": TABLE,
                "right": TABLE,
                "condition": EXPRESSION,
                "join_type": PLAIN,
                "ref_type": PLAIN,
                "using_columns": PLAIN,
                "is_implicit": PLAIN,
            },
            "TABLE_FUNCTION": {**_TABLE, "function": SOURCE, "with_ordinality": PLAIN},
            "EXPRESSION_LIST": {**_TABLE, "expected_names": PLAIN, "values": EXPRESSION},
            "PIVOT": {
                **_TABLE,
                "source": TABLE,
                "aggregates": EXPRESSION,
                "unpivot_names": PLAIN,
                "pivots": "pivot",
                "groups": PLAIN,
                "include_nulls": PLAIN,
            },
        },
        EXPRESSION: {
            "BETWEEN": {**_EXPRESSION, "input": EXPRESSION, "lower": EXPRESSION, "upper": EXPRESSION},
            "CASE": {**_EXPRESSION, "case_checks": "case", "else_expr": EXPRESSION},
            "CAST": {**_EXPRESSION, "child": EXPRESSION, "type_expr": TYPE, "try_cast": PLAIN},
            "COLLATE": {**_EXPRESSION, "child": EXPRESSION, "collation": PLAIN},
            "COLUMN_REF": {**_EXPRESSION, "column_names": PLAIN},
            "COMPARISON": {**_EXPRESSION, "left": EXPRESSION, "right": EXPRESSION},
            "CONJUNCTION": {**_EXPRESSION, "children": EXPRESSION},
            "CONSTANT": {**_EXPRESSION, "literal": "literal"},
            "FUNCTION": _FUNCTION,
            "LAMBDA": {**_EXPRESSION, "lhs": EXPRESSION, "expr": EXPRESSION, "syntax_type": PLAIN},
            "OPERATOR": {**_EXPRESSION, "children": EXPRESSION},
            "POSITIONAL_REFERENCE": {**_EXPRESSION, "index": PLAIN},
            "STAR": {
                **_EXPRESSION,
                "relation_name": PLAIN,
                "exclude_list": "column",
                "replace_list": "replacement",
                "rename_list": "renaming",
                "columns": PLAIN,
                "expr": EXPRESSION,
            },
            "SUBQUERY": {
                **_EXPRESSION,
                "subquery_type": PLAIN,
                "subquery": "statement",
                "child": EXPRESSION,
                "comparison_type": PLAIN,
            },
            "WINDOW": {
                **_EXPRESSION,
                **_CALL,
                "partitions": EXPRESSION,
                "orders": "order",
                "arg_orders": "order",
                "start": PLAIN,
                "end": PLAIN,
                "start_expr": EXPRESSION,
                "end_expr": EXPRESSION,
                "exclude_clause": PLAIN,
                "filter_expr": EXPRESSION,
                "ignore_nulls": PLAIN,
                "has_ignore_nulls": PLAIN,
            },
        },
        SOURCE: {"FUNCTION": _FUNCTION},
        # What follows :: or AS in a cast; its parameters are types or constants.
        TYPE: {
            "TYPE": {
                **_EXPRESSION,
                "type_name": PLAIN,
                "qualified_name": NAME,
                "schema": PLAIN,
                "catalog": PLAIN,
                "children": TYPE,
            },
            "CONSTANT": {**_EXPRESSION, "literal": "literal"},
        },
        "modifier": {
            "LIMIT_MODIFIER": {"type": PLAIN, "limit": EXPRESSION, "offset": EXPRESSION, "limit_type": PLAIN},
            "ORDER_MODIFIER": {"type": PLAIN, "orders": "order"},
            "DISTINCT_MODIFIER": {"type": PLAIN, "distinct_on_targets": EXPRESSION},
        },
        "order": {"": {"type": PLAIN, "null_order": PLAIN, "expression": EXPRESSION}},
        "case": {"": {"when_expr": EXPRESSION, "then_expr": EXPRESSION}},
        "argument": {"": {"name": PLAIN, "expression": EXPRESSION}},
        "literal": {"": {"kind": PLAIN, "text": PLAIN}},
        "column": {"": {"column": PLAIN}},
        "replacement": {"": {"key": PLAIN, "value": EXPRESSION}},
        "renaming": {"": {"key": "column", "value": PLAIN}},
        "pivot": {"": {"pivot_expressions": EXPRESSION, "unpivot_names": PLAIN, "entries": "entry"}},
        "entry": {"": {"star_expr": EXPRESSION, "alias": PLAIN}},
        "sample": {
            "": {"sample_size": "size", "is_percentage": PLAIN, "method": PLAIN, "seed": PLAIN, "repeatable": PLAIN}
        },
        "size": {"": {"type": "size type", "is_null": PLAIN, "value": PLAIN}},
        "size type": {"": {"id": PLAIN}},
        NAME: {"": {"path": PLAIN}},
        # Its queries see only those before them, so it is gone through by hand.
        SCOPE: {"": {"map": SCOPE}},
    }
)
# What a node of these families calls itself stands under this key.
KIND_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {QUERY: "type", TABLE: "type", "modifier": "type", EXPRESSION: "class", SOURCE: "class", TYPE: "class"}
)
# One WITH: what it is called, and what it is.
COMMON_KEYS: Final = frozenset({"materialized", "query_node", "aliases", "key_targets"})
# Names that the engine takes for calls although nobody writes parentheses, and that tell what no table does.
TELLING_NAMES: Final = frozenset(
    {"current_catalog", "current_role", "current_schema", "current_user", "session_user", "user"}
)
