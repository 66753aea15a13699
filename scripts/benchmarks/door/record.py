"""The record of all runs: one line of JSON each, from which tables and pictures are made."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.door.figure import Context, Figure
from benchmarks.door.workers import usable_cores

__all__ = ["Line", "append", "commit_of", "line_of", "newest", "read"]

PACKAGES = ("vbks", "tensorflow", "gpflow", "numpy")

NO_RECORDS = ":(top,exclude)docs/benchmarks"
"""All files but those that benchmarks write themselves."""


@dataclass(frozen=True)
class Line:
    """One run of one benchmark."""

    name: str
    figures: tuple[Figure, ...]
    versions: dict[str, str]
    cores: int
    seed: int
    seconds: float
    quick: bool
    date: str
    left_out: tuple[str, ...] = ()
    commit: str = ""
    """The commit of the code, with a + if it had changed since; empty where nobody knows."""


def line_of(name: str, figures: Sequence[Figure], context: Context, seconds: float) -> Line:
    """The run that has just ended, with what its figures depend on."""
    return Line(
        name=name,
        figures=tuple(figures),
        versions={p: version(p) for p in PACKAGES} | {"python": platform.python_version()},
        cores=usable_cores(),
        seed=context.seed,
        seconds=round(seconds, 3),
        quick=context.quick,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        left_out=tuple(context.left_out),
        commit=commit_of(Path(__file__).resolve().parent),
    )


def commit_of(folder: Path) -> str:
    """The commit of a checkout, with a + if anything but records and their pictures has changed."""
    commit = _git(folder, "rev-parse", "--short", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ":/", NO_RECORDS)
    return f"{commit}+" if commit and changes else commit


def _git(folder: Path, *words: str) -> str:
    """What git answers; nothing where it has no answer."""
    try:
        found = subprocess.run(
            ("git", *words), cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def append(line: Line, file: Path) -> None:
    """Add a run to the record."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as record:
        record.write(json.dumps(asdict(line), ensure_ascii=False) + "\n")


def read(file: Path) -> list[Line]:
    """All recorded runs, oldest first."""
    texts = file.read_text(encoding="utf-8").splitlines()
    return [_parse(json.loads(text)) for text in texts]


def _parse(fields: dict[str, Any]) -> Line:
    figures = tuple(Figure(**figure) for figure in fields["figures"])
    return Line(**fields | {"figures": figures, "left_out": tuple(fields["left_out"])})


def newest(lines: Sequence[Line], starts: tuple[str, ...]) -> list[Figure]:
    """Figures whose names begin so, of the newest record that has any."""
    for line in reversed(lines):
        own = [figure for figure in line.figures if figure.name.startswith(starts)]
        if own:
            return own
    return []
