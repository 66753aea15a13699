"""What commands show on standard error while they work, TensorFlow's import included."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from vbks.progress import Progress, reporting
from vbks.ui.tensorflow import import_tensorflow

STARTED = time.perf_counter()
"""When this process began, nearly: budgets of commands count from then on."""


@contextmanager
def working(what: str, seconds: float | None = None) -> Iterator[Progress]:
    """Show what a command does from its first second on, in place or by lines now and then.

    A budget in ``seconds`` is that of the whole process.
    """
    with reporting(True) as progress:
        if seconds is not None:
            progress.goal(seconds, float("inf"), STARTED)
        progress.start(0, what)
        yield progress


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Import TensorFlow, and show that and then ``what`` is done, but on a terminal alone."""
    with reporting(sys.stderr.isatty()) as progress:
        start_tensorflow(progress)
        progress.start(0, what)
        yield


def start_tensorflow(progress: Progress) -> None:
    """Import TensorFlow, and say so."""
    progress.start(0, "Starting TensorFlow")
    import_tensorflow()
