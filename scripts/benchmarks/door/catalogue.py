"""Which benchmarks there are."""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import cast

from benchmarks.door.figure import Benchmark

__all__ = ["catalogue", "load"]

FOLDER = Path(__file__).resolve().parents[1]


def catalogue(folder: Path = FOLDER) -> dict[str, str]:
    """Names of benchmarks and their first sentences, read without importing TensorFlow."""
    modules = pkgutil.iter_modules([str(folder)])
    names = sorted(m.name for m in modules if not m.ispkg and m.name != "__main__")
    return {name.replace("_", "-"): _first_line(folder / f"{name}.py") for name in names}


def load(name: str) -> Benchmark:
    """The benchmark of that name."""
    return cast(Benchmark, import_module(f"benchmarks.{name.replace('-', '_')}"))


def _first_line(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
