"""Properties in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from vbks.properties.values import Peak
from vbks.words import Axes, Estimate
from vbks.words.facts import target_name
from vbks.words.numerals import interval, percent, stated
from vbks.words.phrases import listed, sentence
from vbks.words.places import place_after_preposition
from vbks.words.quantities import length
from vbks.words.summaries import agreeing
from vbks.words.sureness import adverb
from vbks.words.time_units import cycle_name

HARDLY = 0.1
"""Something less probable than this is told as not being there."""

TOLD_PEAK = 0.1
"""Further periods and places are told from this probability on."""

MOST_PEAKS = 3
"""So many periods or places are told one by one."""


def told_cycle(
    probability: float, period: Estimate | None, peaks: Sequence[Peak], axes: Axes, number: int
) -> str:
    """Whether there is a cycle and how long it takes."""
    if probability < HARDLY or period is None:
        return sentence(f"a cycle is unlikely{_brackets(probability)}")
    axis = axes[number]
    name = cycle_name(period.value, axis.unit)
    where = "" if axes.is_obvious(number) or axes.tells_time(number) else f" in {axes.name(number)}"
    noun = f"a {name} cycle{where}" if name else f"a cycle{where}"
    told = f"with a period of {length(period, axis, with_interval=True)}"
    text = sentence(f"there is {adverb(probability)} {noun}{_brackets(probability)}, {told}")
    others = [own for own in peaks if own.probability >= TOLD_PEAK][:MOST_PEAKS]
    if len(others) < 2:
        return text
    shown = [f"{length(own.estimate, axis)}{_brackets(own.probability)}" for own in others]
    return f"{text} {sentence(f'cycles of {listed(shown)} are possible')}"


def told_trend(up: float, down: float, change: Estimate | None, axes: Axes) -> str:
    """Whether the target goes up or down, and by how much."""
    probability = up + down
    if probability < HARDLY or change is None:
        return sentence(f"a trend that would go on is unlikely{_brackets(probability)}")
    likelier, rest = (up, down) if up >= down else (down, up)
    way, verb = ("rising", "rises") if up >= down else ("falling", "falls")
    text = f"there is {adverb(likelier)} a {way} trend{_brackets(likelier)}"
    along = "" if axes.is_obvious(axes.main) else f" with {axes.name(axes.main)}"
    size = change.through(lambda value: value if up >= down else -value)
    unit = f" {axes.target.unit}" if axes.target.unit else ""
    amount = f"{stated(size)}{unit}{interval(size)}"
    told = f"{target_name(axes)} {agreeing(verb, axes)} by {amount} over the data{along}"
    other = f"a {'falling' if up >= down else 'rising'} one has {percent(rest)}"
    parts = [told, other] if rest >= HARDLY else [told]
    return sentence(f"{text}: {', and '.join(parts)}")


def told_spread(
    name: str,
    probabilities: tuple[float, float, float],
    proportional: float,
    ratio: Estimate | None,
    axes: Axes,
    number: int,
) -> str:
    """Whether swings or noise grow, shrink or vary along an input."""
    changes = sum(probabilities)
    noun, are = ("swings", "are") if name == "swings" else ("the noise", "is")
    if ratio is None:
        return sentence(f"there are no {noun} that could grow or shrink")
    if changes < HARDLY:
        verb = "change" if name == "swings" else "changes"
        return sentence(f"it is unlikely that {noun} {verb} in size{_brackets(changes)}")
    verbs = [f"{stem}{'' if name == 'swings' else 's'}" for stem in ("grow", "shrink", "change")]
    best = max(range(3), key=lambda own: probabilities[own])
    verb, own = verbs[best], probabilities[best]
    text = f"{noun} {adverb(own)} {verb}{_brackets(own)}"
    if 2.0 * proportional > changes:
        text += " with the level of " + target_name(axes)
    if changes - own >= HARDLY:
        other = "change" if name == "swings" else "changes"
        text += f", or {other} otherwise{_brackets(changes - own)}"
    axis = axes[number]
    ends = ("at the end", "at the beginning")
    if not (axis.is_time or axes.is_obvious(number)):
        ends = (f"where {axes.name(number)} is highest", "where it is lowest")
    times = f"{stated(ratio)} times{interval(ratio)}"
    they = "they" if name == "swings" else "it"
    return sentence(f"{text}: {they} {are} {times} as large {ends[0]} as {ends[1]}")


def told_change(
    probability: float, where: Estimate | None, peaks: Sequence[Peak], axes: Axes, number: int
) -> str:
    """Whether the character of the data changes, and where."""
    if probability < HARDLY or where is None:
        return sentence(f"a change of character is unlikely{_brackets(probability)}")
    axis = axes[number]
    text = f"the data {adverb(probability)} change{_brackets(probability)}"
    along = "" if axes.is_obvious(number) or axes.tells_time(number) else f" in {axes.name(number)}"
    others = [own for own in peaks if own.probability >= TOLD_PEAK][:MOST_PEAKS]
    if len(others) < 2:
        return sentence(f"{text} {place_after_preposition(where, axis, True)}{along}")
    shown = [
        f"{place_after_preposition(own.estimate, axis)}{_brackets(own.probability)}"
        for own in others
    ]
    return sentence(f"{text} more than once, or it is open where: {listed(shown)}{along}")


def told_input(probability: float, share: float, axes: Axes, number: int) -> str:
    """Whether an input matters."""
    name = axes.name(number)
    if probability < HARDLY:
        return sentence(f"{name} hardly matters{_brackets(probability)}")
    text = f"{name} {adverb(probability)} matters{_brackets(probability)}"
    return sentence(f"{text}: it accounts for {percent(share)} of the variance")


def told_pair(probability: float, share: float, axes: Axes, numbers: tuple[int, int]) -> str:
    """Whether two inputs act together."""
    names = listed([axes.name(number) for number in numbers])
    text = f"{names} {adverb(probability)} act together{_brackets(probability)}"
    return sentence(f"{text}: what they do only jointly is {percent(share)} of the variance")


def _brackets(probability: float) -> str:
    return f" ({percent(min(probability, 1.0))})"
