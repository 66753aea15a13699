"""The summary: three to five sentences that stand for the whole report."""

from __future__ import annotations

from vbks.report.labels import Labels
from vbks.report.sections.belief import Belief
from vbks.report.sections.effects import Effects
from vbks.report.sections.outlook import Outlook
from vbks.report.sections.parts import Parts
from vbks.report.values import Missing
from vbks.words.numerals import percent
from vbks.words.sureness import adverb

MOST_SENTENCES = 4
"""Sentences on what is going on; one more says what comes next."""

MOST_EFFECTS = 2
"""Inputs whose effects are told where parts cannot be."""


def summary_of(
    labels: Labels,
    outlook: Outlook | Effects | Missing,
    parts: Parts | Missing,
    belief: Belief | Missing,
) -> tuple[str, ...]:
    """What is going on, and what comes next."""
    sentences: list[str] = []
    if isinstance(parts, Parts):
        sentences += parts.summary[:MOST_SENTENCES]
    elif isinstance(belief, Belief):
        best = belief.rows[0]
        sentences.append(
            f"What is going on in {labels.target_name}: {adverb(best.probability)} {best.reading} "
            f"({percent(best.probability)})."
        )
        if isinstance(outlook, Effects):
            sentences += [effect.sentence for effect in outlook.effects[:MOST_EFFECTS]]
    if isinstance(outlook, Outlook):
        sentences.append(outlook.forecast)
    return tuple(sentences)
