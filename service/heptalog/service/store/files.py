"""Small files beside a database, durable under their names: whole as they were, or whole as they are to be."""

import os
from pathlib import Path


def replace_file(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Put this there, in the place of any file that is there, with these permissions if any. Raises OSError."""
    # Always the same name: what a crash leaves there is written over the next time. Only one process may write here.
    made = path.with_name(f".{path.name}.new")
    with made.open("wb") as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    made.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
