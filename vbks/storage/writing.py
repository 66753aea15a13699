"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Have a file written beside its place, brought to the disk, and renamed."""
    temporary = path.parent / f".{path.name}.tmp-{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, reach the disk, where the system can be asked to."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
