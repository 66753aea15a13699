"""Python's collector of garbage, held while much is imported and nothing is thrown away."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_collector() -> Iterator[None]:
    """Collect no garbage meanwhile, and as before after that.

    Each collection looks at all modules that were imported so far, which takes a sixth of the time
    in which TensorFlow is imported.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
