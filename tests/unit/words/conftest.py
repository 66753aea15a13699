"""The rules of English that every text about a kernel keeps."""

import re
from collections.abc import Callable

import pytest

FORMULA = re.compile(
    r"\b(SE|RQ|OU|PER0?|LIN|WN|CP|CW|(?<!°)C|M[35]2|None|nan|NaN|inf|True|False)\b|[*]|\[|\]|\d[eE][+-]?\d"
)
SINGULAR = (
    "function|cycle|noise|constant|polynomial|factor|amplitude|shape|effect|slope|deviation|change"
    "|it|which"
)
PLURAL = "functions|cycles|patterns|changes|inputs|stretches|swings|waves"
BASE_VERBS = "apply|change|depend|grow|shrink|vary|repeat|go|fade|rise|fall|have|are|move|cover"
THIRD_VERBS = (
    "applies|changes|depends|grows|shrinks|varies|repeats|goes|fades|rises|falls|has|is|moves"
)
TIMES = "year|month|week|day|hour|minute|second"
RULES = {
    "a plural verb after a singular noun": rf"\b({SINGULAR}) ({BASE_VERBS})\b",
    "a singular verb after a plural noun": rf"\b({PLURAL}) ({THIRD_VERBS})\b",
    "a doubled word": r"\b(?!faster and)([A-Za-z]+) \1\b",
    "a doubled space or a line break": r"\s\s|[\n\t]",
    "a space before a mark": r" [,.;:)]|\( ",
    "a doubled mark": r"[,.;:]{2}|, and,|,\.",
    "an article before a plural": rf"\ban? ({PLURAL})\b",
    "one of something that is plural": rf"(?<![\d.,–−])1 ({TIMES})s\b",
    "several of something that is singular": rf"(?<![\d.,–])(?!1 )\d(?:[\d.,]*\d)? ({TIMES})\b",
    "a preposition with nothing after it": r"\b(of|with|by|over|in|from|until|and|or|to)[,.]",
    "two conjunctions or prepositions": r"\b(and|or|by|with|over) (and|or|by|with|over|,)",
    "a lower-case beginning after a full stop": r"[a-z%)]\. [a-z]",
    "a size of zero": r"± 0\b(?!\.)|−0\b(?!\.)|-\d",
}


def _breaches(text: str, is_sentence: bool = True) -> list[str]:
    """The rules that a text breaks."""
    broken = [rule for rule, pattern in RULES.items() if re.search(pattern, text)]
    if FORMULA.search(text):
        broken.append("a formula or a placeholder is left")
    if len(text.split()) > 60:
        broken.append("more than sixty words")
    broken += [f"article: {' '.join(found)}" for found in _wrong_articles(text)]
    broken += [] if _is_balanced(text) else ["brackets are not balanced"]
    if is_sentence and not re.fullmatch(r"[A-Z].*[^.]\.", text, flags=re.S):
        broken.append("no capital at the beginning or no full stop at the end")
    if not text or text != text.strip():
        broken.append("empty, or with space around it")
    return broken


def _wrong_articles(text: str) -> list[tuple[str, str]]:
    return [
        (article, word)
        for article, word in re.findall(r"\b([Aa]n?) ([\w“-]+)", text)
        if (article.lower() == "an") != _begins_with_a_vowel_sound(word.strip("“"))
    ]


def _begins_with_a_vowel_sound(word: str) -> bool:
    if word.startswith(("one", "uni", "use", "eu")):
        return False
    return word[:1] in "aeiouAEIOU8" or re.match(r"(11|18)\b|hour|hon", word) is not None


def _is_balanced(text: str) -> bool:
    opened = []
    for sign in text:
        if sign in "([“":
            opened.append(")]”"["([“".index(sign)])
        elif sign in ")]”" and (not opened or opened.pop() != sign):
            return False
    return not opened


@pytest.fixture(scope="session")
def breaches() -> Callable[..., list[str]]:
    return _breaches
