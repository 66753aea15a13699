"""The words of a text one by one, and messages that point at one of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from vbks.errors import GrammarError
from vbks.grammar.quoting import excerpt, quote

_WORD = re.compile(r"\s*(?:(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<number>[0-9]+)|(?P<sign>\S)|\Z)")

END = ""
"""The word behind the last one."""


class Word(NamedTuple):
    """A piece of the text: a name, a number, a sign, or the end (of no kind)."""

    kind: str | None
    text: str
    position: int


class Reader:
    """A place in a text: `word` is what stands there, `take` moves on to the next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.last = END
        self.word = self._word_from(0)

    def take(self) -> str:
        """The word at this place, which is then left behind."""
        self.last = self.word.text
        self.word = self._word_from(self.word.position + len(self.last))
        return self.last

    def skip(self, sign: str) -> bool:
        """Take the word if it is this sign, and say whether it was."""
        found = self.word.text == sign
        if found:
            self.take()
        return found

    def require(self, sign: str) -> None:
        """Take this sign or fail."""
        if not self.skip(sign):
            raise self.expected(f"'{sign}'")

    def place(self) -> str:
        """Where the word is, for a message."""
        position = self.word.position
        return f"in {excerpt(self.text, position)} (column {position + 1})"

    def expected(self, what: str) -> GrammarError:
        """The error that something else should stand here."""
        after = f" after {quote(self.last)}" if self.last else ""
        found = quote(self.word.text) if self.word.text else "the end"
        return GrammarError(f"expected {what}{after} {self.place()}, found {found}.")

    def _word_from(self, start: int) -> Word:
        match = _WORD.match(self.text, start)
        assert match is not None, "every character is a space or part of a word"
        text = match[match.lastgroup] if match.lastgroup else END
        return Word(match.lastgroup, text, match.end() - len(text))
