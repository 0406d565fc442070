"""The engine of one question: nothing but a snapshot can be reached, and nothing can be set."""

from collections.abc import Sequence
from typing import Final

import duckdb

from heptalog.analytics.sql import quoted

# Threads that there are already would not be confined.
_BORN_WITH: Final[dict[str, str | bool | int | float | list[str]]] = {"threads": 1, "async_threads": 0}
# What the engine keeps count of; the rest of what a worker may take is for what it does not count.
_COUNTED_SHARE: Final = 0.75
_SETTINGS: Final = (
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET python_enable_replacements = false",
    "SET parquet_metadata_cache = true",
    "SET preserve_insertion_order = true",
    "SET errors_as_json = true",
    "SET TimeZone = 'UTC'",
    "SET catalog_error_max_schemas = 0",
)


def born() -> duckdb.DuckDBPyConnection:
    """An empty database in memory, without a thread of its own.

    It looks at the machine when it is made, which a confined process cannot. As that takes a hundredth of a second, it
    is made once, before workers are forked: a fork copies memory but no threads, and it has none. `limit` and
    `close_off` it before anything is asked.
    """
    return duckdb.connect(":memory:", config=_BORN_WITH)


def limit(connection: duckdb.DuckDBPyConnection, folders: Sequence[str], *, memory_bytes: int, threads: int) -> None:
    """Let it read these folders and nothing else, and take so much."""
    # A folder without its slash would stand for all whose names begin so.
    listed = ", ".join(quoted(folder.rstrip("/") + "/") for folder in folders)
    connection.execute(f"SET allowed_directories = [{listed}]")
    for setting in _SETTINGS:
        connection.execute(setting)
    connection.execute(f"SET memory_limit = '{int(memory_bytes * _COUNTED_SHARE)}B'")
    connection.execute(f"SET threads = {threads:d}")


def close_off(connection: duckdb.DuckDBPyConnection) -> None:
    """Let nothing be set and nothing be written from here on."""
    connection.execute("SET lock_configuration = true")
    connection.execute("BEGIN TRANSACTION READ ONLY")
