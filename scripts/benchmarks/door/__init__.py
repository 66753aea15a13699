"""The one way to all benchmarks: the same words in, the same table, record and picture out."""

from __future__ import annotations

from benchmarks.door.figure import Benchmark, Context, Figure
from benchmarks.door.memory import peak_memory

__all__ = ["Benchmark", "Context", "Figure", "peak_memory"]
