"""How sure a probability is, in words."""

from __future__ import annotations

CERTAIN = 0.99
"""Above this probability there is no doubt that a summary has to mention."""

LEVELS = ((CERTAIN, "almost certainly"), (0.9, "very likely"), (0.66, "probably"))
"""Probabilities above which a word is used; below the last, "possibly"."""


def adverb(probability: float) -> str:
    """The word for a probability, such as "very likely" above 0.9."""
    return next((word for least, word in LEVELS if probability > least), "possibly")
