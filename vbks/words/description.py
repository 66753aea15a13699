"""A part in words: a reading for tables, a summary, and a detailed text of at most sixty words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vbks.words.axes import Axes
from vbks.words.estimate import positive
from vbks.words.facts import facts
from vbks.words.form import Form, form_of
from vbks.words.modifiers import noun_phrase
from vbks.words.numerals import percent
from vbks.words.outlook import covers, outlook
from vbks.words.part import Part
from vbks.words.phrases import num_words, sentence
from vbks.words.quantities import length
from vbks.words.readings import reading
from vbks.words.sureness import adverb
from vbks.words.telling import EVERYTHING, SUMMARY, Detail, Telling, shorter

MOST_WORDS = 60
"""Words of a text, signs that stand alone included; details that do not fit are left out."""

LEAST_ELSEWHERE = 0.005
"""A belief on another scale is told from this share on."""

NAMELESS = Axes()
"""One input and a target of which nothing is known."""


@dataclass(frozen=True)
class Sentence:
    """What is said of a part, from the shortest to the longest."""

    reading: str
    summary: str
    detail: str

    def __str__(self) -> str:
        return self.detail


def describe(part: Part, axes: Axes = NAMELESS) -> Sentence:
    """A part in words, with numbers in the units of the axes."""
    form = form_of(part, axes)
    return Sentence(
        reading(part, axes),
        _fitted(lambda telling: _summary(form, axes, telling), SUMMARY),
        _fitted(lambda telling: _detail(part, form, axes, telling), EVERYTHING),
    )


def _fitted(write: Callable[[Telling], str], telling: Telling) -> str:
    """The text with as many details as there is room for."""
    text = write(telling)
    while telling and num_words(text) > MOST_WORDS:
        telling = shorter(telling)
        text = write(telling)
    return text


def _summary(form: Form, axes: Axes, telling: Telling) -> str:
    return sentence(str(noun_phrase(form, axes, telling)))


def _detail(part: Part, form: Form, axes: Axes, telling: Telling) -> str:
    noun = noun_phrase(form, axes, telling)
    texts = (
        sentence(f"there is {_with_belief(str(noun), part, telling)}"),
        facts(part, form, axes, telling),
        _transition(form, axes) if Detail.TRANSITION in telling else "",
        covers(form, axes) if Detail.COVERS in telling else "",
        outlook(form, axes) if Detail.OUTLOOK in telling else "",
    )
    return " ".join(filter(None, texts))


def _with_belief(noun: str, part: Part, telling: Telling) -> str:
    """How sure it is that the part is there: a word before the noun, and the number behind it."""
    probability = part.probability
    if probability is None or not 0 <= probability <= 1:
        return noun
    belief = f"{percent(probability)} of the belief"
    if part.elsewhere > LEAST_ELSEWHERE and Detail.KERNELS in telling:
        belief += f", and on another scale with {percent(part.elsewhere)}"
    text = f"{adverb(min(1.0, probability + part.elsewhere))} {noun}"
    if Detail.KERNELS in telling:
        belief = f"in kernels with {belief}"
    return f"{text}, {belief}" if noun.endswith(")") else f"{text} ({belief})"


def _transition(form: Form, axes: Axes) -> str:
    """How long the change takes, if there is one and it is known."""
    taken = [(positive(gate.values.transition), gate.input) for gate in form.gates]
    if len(taken) != 1 or taken[0][0] is None:
        return ""
    lasting = length(taken[0][0], axes[taken[0][1]])
    edges = "Each change" if form.gates[0].side in ("outside", "inside") else "The change"
    return f"{edges} takes {lasting}."
