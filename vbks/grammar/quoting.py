"""How messages repeat what a user gave, whatever it was and however long."""

from __future__ import annotations

LONGEST_WORD = 40
"""Characters of one word that a message repeats: enough to recognise it."""

EXCERPT_REACH = 30
"""Characters of a text that a message repeats on either side of the place it is about."""


def quote(value: object) -> str:
    """What a user gave, for a message: words shortened, numbers, and the type of all else."""
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST_WORD else value[: LONGEST_WORD - 1] + "…")
    if isinstance(value, int) and abs(value) < 10**LONGEST_WORD:
        return repr(value)
    return f"a value of type '{type(value).__name__}'"


def excerpt(text: str, position: int) -> str:
    """The text around a position, quoted; an ellipsis stands for what was left out."""
    start, stop = position - EXCERPT_REACH, position + EXCERPT_REACH
    before = "…" if start > 0 else ""
    after = "…" if stop < len(text) else ""
    return repr(before + text[max(start, 0) : stop] + after)
