"""How much memory the process has needed."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

__all__ = ["peak_memory", "resident_memory"]


def peak_memory() -> float:
    """The most memory that this process has held so far, in MB; it never goes down."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def resident_memory() -> float:
    """The memory that this process holds now, in MB; its peak where the system does not say."""
    statistics = Path("/proc/self/statm")
    if not statistics.exists():
        return peak_memory()
    return int(statistics.read_text().split()[1]) * resource.getpagesize() / 1e6
