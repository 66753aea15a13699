"""Parts in words: what each is called, and a sentence with its numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vbks.parts.averaging import RARE, REST
from vbks.parts.kinds import Kind
from vbks.words import Axes, Estimate, Part, Sentence, describe, reading
from vbks.words.facts import target_name
from vbks.words.numerals import decimals_for, fixed, percent, trimmed
from vbks.words.phrases import sentence


@dataclass(frozen=True)
class Told:
    """A part in words: a short reading and a sentence, and what they are made of."""

    reading: str
    sentence: Sentence
    part: Part


def told(
    kind: Kind,
    part: Part,
    axes: Axes,
    *,
    amplitude: Estimate | None,
    share: float,
    probability: float,
    acts: tuple[float, float] | None,
) -> Told:
    """A part with what is known of it."""
    if kind == REST:
        return Told("other parts", _rest(probability), part)
    known = replace(
        part,
        amplitude=amplitude,
        share=share,
        probability=probability,
        acts=None if acts is None else (Estimate(acts[0]), Estimate(acts[1])),
    )
    return Told(reading(known, axes), describe(known, axes), known)


def told_level(level: float, spread: float, axes: Axes) -> Told:
    """The level in the units of the target, as finely as tells it from what targets deviate by."""
    unit = f" {axes.target.unit}" if axes.target.unit else ""
    verb = "multiply" if axes.is_log else "vary around"
    name = target_name(axes)
    decimals = max(decimals_for(level, 2), decimals_for(spread, 1) if spread > 0.0 else 0)
    number = f"about {trimmed(fixed(level, decimals))}{unit}"
    detail = sentence(f"all other parts {verb} a level of {name} of {number}")
    return Told("level", Sentence("level", sentence("a level"), detail), Part(()))


def told_mean_function() -> Told:
    """The mean function, of which nothing is known but its values."""
    text = "The mean function that was given."
    return Told("mean function", Sentence("mean function", text, text), Part(()))


def _rest(probability: float) -> Sentence:
    summary = sentence(f"other parts, each with less than {percent(RARE)} of the belief")
    return Sentence("other parts", summary, summary)
