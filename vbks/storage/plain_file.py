"""JSON files with named values of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from vbks.errors import FileError
from vbks.storage.records import Record, damaged
from vbks.storage.writing import write_file


def write_plain(file: Path, values: dict[str, Any]) -> None:
    """Write named values, completely or not at all."""
    text = json.dumps(values, allow_nan=False, indent=1)
    write_file(file, lambda stream: stream.write(text.encode("ascii")))


def read_plain(file: Path) -> Record:
    """The named values of a file, none of which is believed yet; none at all if it has others."""
    try:
        values = json.loads(file.read_bytes(), parse_constant=_refuse_constant)
    except OSError as error:
        raise FileError(
            f"'{file}' cannot be read: {error.strerror or error}. Ask its owner for access."
        ) from error
    except (ValueError, RecursionError) as error:
        raise damaged(f"'{file}' is not JSON that can be read: {error}") from None
    return Record(values if isinstance(values, dict) else {}, f"'{file}'")


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number there")
