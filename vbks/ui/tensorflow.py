"""TensorFlow's import, without what it writes."""

from __future__ import annotations

import os
from importlib import import_module


def import_tensorflow() -> None:
    """Import it, which takes seconds, without what it writes before it can be told not to."""
    with open(os.devnull, "w") as nowhere:
        stderr = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            import_module("tensorflow")
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
