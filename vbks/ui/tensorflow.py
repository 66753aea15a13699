"""TensorFlow's import, without what it writes."""

from __future__ import annotations

import gc
import os
from importlib import import_module

from vbks.collector import held_collector


def import_tensorflow() -> None:
    """Import it and GPflow, which takes seconds, without what they write before they can be told.

    What was imported stays, so that the collector of garbage need not look at it again.
    """
    with open(os.devnull, "w") as nowhere:
        stderr = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            with held_collector():
                import_module("vbks.selecting")
            gc.freeze()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
