"""Texts that may come from anywhere, as they are shown in a terminal."""

from __future__ import annotations

import unicodedata

UNSEEN = ("Cc", "Cs", "Zl", "Zp")
"""Categories of Unicode that move the cursor, begin a line, or stand for no character."""

DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of what follows."""


def printable(text: str) -> str:
    """The text in one line, with escapes such as \\x1b in place of what would steer a terminal."""
    return "".join(map(_shown, text))


def _shown(letter: str) -> str:
    is_seen = unicodedata.category(letter) not in UNSEEN and letter not in DIRECTIONS
    return letter if is_seen else letter.encode("unicode_escape").decode("ascii")
