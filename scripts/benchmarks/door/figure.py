"""What a benchmark is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

__all__ = ["Benchmark", "Context", "Figure"]


@dataclass(frozen=True)
class Figure:
    """One measured number, beside what was asked of it and what others reach."""

    name: str
    value: float
    unit: str
    asked: str | None = None
    others: str | None = None
    met: bool | None = None


@dataclass(frozen=True)
class Context:
    """The wishes of the person at the door."""

    quick: bool = False
    """Small sizes, to see that the benchmark runs; its figures mean nothing."""
    full: bool = False
    """Larger sizes than usual, in benchmarks that have some, for a machine that has hours."""
    data: Path | None = None
    """The folder of real data."""
    seed: int = 0
    part: str | None = None
    """The part to run of a benchmark that has `PARTS`; all of them by default."""
    left_out: list[str] = field(default_factory=list)
    """What could not be measured and why; it is printed and recorded."""

    def file(self, name: str) -> Path | None:
        """A file of the real data, or None after noting that it is left out."""
        if self.data is None:
            self.left_out.append(f"{name}: no folder of real data was given (--data DIR)")
            return None
        path = self.data / name
        if not path.is_file():
            self.left_out.append(f"{name}: not in {self.data}")
            return None
        return path


class Benchmark(Protocol):
    """The shape of a benchmark's module."""

    def run(self, context: Context) -> list[Figure]:
        """Measure, and return the figures in the order in which they are to be read."""
        ...
