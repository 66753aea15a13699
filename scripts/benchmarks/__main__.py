"""Runs one benchmark by name; `scripts/bench` is the way in."""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]

# Python puts this folder first on the path, where a benchmark would hide a library of its name.
sys.path[:] = [
    str(SCRIPTS),
    *(p for p in sys.path if Path(p or ".").resolve() != SCRIPTS / "benchmarks"),
]

from benchmarks.door.command import main  # noqa: E402

if __name__ == "__main__":
    main(results=SCRIPTS.parent / "docs" / "benchmarks")
