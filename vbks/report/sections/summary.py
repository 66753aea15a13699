"""The summary: three to five sentences that stand for the whole report."""

from __future__ import annotations

from vbks.report.labels import Labels
from vbks.report.sections.belief import Belief
from vbks.report.sections.effects import Effects
from vbks.report.sections.outlook import Outlook
from vbks.report.values import Missing
from vbks.words.numerals import percent
from vbks.words.sureness import adverb


def summary_of(
    labels: Labels, outlook: Outlook | Effects | Missing, belief: Belief | Missing
) -> tuple[str, ...]:
    """What is going on, what comes next, and how sure that is."""
    sentences = []
    if isinstance(belief, Belief):
        best = belief.rows[0]
        sentences.append(
            f"What is going on in {labels.target}: {adverb(best.probability)} {best.reading} "
            f"({percent(best.probability)})."
        )
    if isinstance(outlook, Outlook):
        sentences.append(outlook.sentence)
    if isinstance(outlook, Effects):
        sentences += [effect.sentence for effect in outlook.effects[:2]]
    return tuple(sentences)
