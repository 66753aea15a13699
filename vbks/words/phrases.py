"""Noun phrases that grow by what stands after the noun, and the rules of English they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class NounPhrase:
    """A head noun with its modifiers, which are written in one order whoever adds them.

    ``complement`` and ``course`` follow the noun directly; then come what it is "with", clauses of
    "whose" as pairs of subject and predicate, what it is modulated by, and where it "applies".
    """

    noun: str
    adjectives: tuple[str, ...] = ()
    complement: str = ""
    course: str = ""
    has_article: bool = True
    attributes: tuple[str, ...] = ()
    clauses: tuple[tuple[str, str], ...] = ()
    modulators: tuple[str, ...] = ()
    applies: str = ""

    def __str__(self) -> str:
        core = " ".join(filter(None, (*self.adjectives, self.noun, self.complement, self.course)))
        text = with_article(core) if self.has_article else core
        if self.attributes:
            text += f"{',' if self.course else ''} with {listed(self.attributes)}"
        if self.clauses:
            comma = "," if self.attributes or self.course else ""
            text += f"{comma} {relative_clauses(self.clauses)}"
        if self.modulators:
            text += f", modulated by {listed(self.modulators)}"
        return f"{text}, which {self.applies}" if self.applies else text


def relative_clauses(clauses: Iterable[tuple[str, str]]) -> str:
    """Clauses of "whose", one for each subject with all that is said of it."""
    said: dict[str, list[str]] = {}
    for subject, predicate in clauses:
        said.setdefault(subject, []).append(predicate)
    texts = [f"whose {subject} {listed(predicates)}" for subject, predicates in said.items()]
    return ", and ".join(texts)


def listed(items: Sequence[str]) -> str:
    """Items with commas, and "and" before the last."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def with_article(phrase: str) -> str:
    """A phrase after "a" or "an", as it sounds."""
    return f"{'an' if sounds_like_vowel(phrase) else 'a'} {phrase}"


def sounds_like_vowel(phrase: str) -> bool:
    """Whether a phrase begins with a vowel when it is read aloud."""
    word = phrase.lstrip("“").lower()
    if re.match(r"(uni|use|usu|eu|one\b|once)", word):
        return False
    return re.match(r"([aeiou]|hour|hon|8|11\b|18\b)", word) is not None


def sentence(text: str) -> str:
    """A text with a capital at its beginning and a full stop at its end."""
    return f"{text[:1].upper()}{text[1:]}."


def num_words(text: str) -> int:
    """Words of a text: what has spaces around it, signs included."""
    return len(text.split())
