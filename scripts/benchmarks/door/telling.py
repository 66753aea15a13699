"""Lines for the person who waits, on stderr, where they do not mix with the table of figures."""

from __future__ import annotations

import sys

__all__ = ["tell"]


def tell(text: str) -> None:
    """One line about a piece of work that is done."""
    print(text, file=sys.stderr, flush=True)
