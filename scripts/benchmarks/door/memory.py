"""How much memory the process has needed."""

from __future__ import annotations

import resource
import sys

__all__ = ["peak_memory"]


def peak_memory() -> float:
    """The most memory that this process has held so far, in MB; it never goes down."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
