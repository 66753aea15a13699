"""What is said when a command is stopped by Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

EXIT_CODE = 130
"""What shells expect of a program that was stopped by Ctrl-C."""


class Stopped(Exception):
    """A command was stopped by Ctrl-C; the message says what was kept, and how to go on."""


@contextmanager
def stoppable(kept: str) -> Iterator[None]:
    """Have Ctrl-C end a command with a sentence about what was ``kept``."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"stopped. {kept}") from None
