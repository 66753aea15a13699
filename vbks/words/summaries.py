"""What a function does in a few sentences: where it goes, what repeats, and what else there is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vbks.words.axes import Axes, readable_name
from vbks.words.courses import along_input, goes, goes_one_way
from vbks.words.estimate import Estimate, positive
from vbks.words.form import Curve, Cycle, Form, Line, form_of
from vbks.words.lengthscales import is_long
from vbks.words.modifiers import STEADY
from vbks.words.nouns import Head, cycle_noun, direction_of, head_noun, head_of
from vbks.words.numerals import counted, percent
from vbks.words.part import Part, Values
from vbks.words.phrases import listed, num_words, sentence, with_article
from vbks.words.quantities import length, size, slope
from vbks.words.readings import SLOW, curve_name
from vbks.words.regions import is_nowhere, limits, region
from vbks.words.sureness import CERTAIN, adverb
from vbks.words.telling import SUMMARY

LEAST_PROBABILITY = 0.5
"""Parts that are more probably there than not are told."""

LEAST_SHARE = 0.002
"""Parts with a smaller share of the variance are left out."""

MOST_DRIFTS, MOST_INPUTS = 2, 3
"""At most this many drifts and effects of this many inputs are told, the largest first."""

MOST_WORDS = 50
"""A sentence that has several things to say has no more words."""

MOST_NAMES = 2
"""So many parts on one side of a change are named."""

MOST_CYCLES = 2
"""So many cycles are told: those with the largest shares."""

VERBS = "rises|falls|levels|grows|has|varies|stays"
"""Verbs that a plural subject changes."""

PLURALS = {"has": "have", "varies": "vary"}
"""Those that do not only lose their last letter."""


@dataclass(frozen=True)
class _Told:
    part: Part
    form: Form
    head: Head

    @property
    def probability(self) -> float:
        """That of being there, on whatever scale."""
        own = 1.0 if self.part.probability is None else self.part.probability
        return min(1.0, own + self.part.elsewhere)

    @property
    def doubt(self) -> str:
        """How sure it is, where it is not: "probably (81 %) "."""
        if self.probability > CERTAIN:
            return ""
        return f"{adverb(self.probability)} ({percent(self.probability)}) "


def summarise(
    parts: Sequence[Part],
    axes: Axes,
    explained: float | None = None,
    trend: Values | None = None,
) -> tuple[str, ...]:
    """At most five sentences on the parts under one warp that are probably there.

    ``explained`` is the share of the variance that all parts account for; ``trend`` is how lines
    and curves go together along time, or along the only input, where that is known.
    """
    told = [own for own in map(lambda part: _told(part, axes), parts) if _is_told(own)]
    told.sort(key=lambda own: -(own.part.share or 0.0))
    everywhere = [own for own in told if not own.form.gates]
    carrier = _carrier(everywhere, trend, axes)
    cycles = [own for own in everywhere if isinstance(own.head, Cycle)]
    rest = [own for own in everywhere if own not in cycles and not _is_carried(own, carrier, axes)]
    found = [
        *_opening(carrier, cycles[:MOST_CYCLES], axes),
        *_of_inputs([own for own in rest if not _is_drift(own, axes)], axes),
        *_drifts([own for own in rest if _is_drift(own, axes)], axes),
        *_changes([own for own in told if own.form.gates], not everywhere, axes),
    ]
    if not found:
        return (_sentence("varies around a constant level", axes),)
    if explained is not None and 0.0 < explained <= 1.0:
        found.append(
            sentence(f"all parts together account for {percent(explained)} of the variance")
        )
    return tuple(found[:5])


def _told(part: Part, axes: Axes) -> _Told:
    form = form_of(part, axes)
    return _Told(part, form, head_of(form, axes))


def _is_told(own: _Told) -> bool:
    share = own.part.share
    is_large = share is None or share >= LEAST_SHARE
    is_something = own.head is not None or bool(own.form.gates)
    is_probable = own.probability > LEAST_PROBABILITY
    return is_large and is_something and is_probable and not is_nowhere(own.form.gates)


def _is_trend(own: _Told, axes: Axes) -> bool:
    """Whether it goes somewhere along the only input, or along time."""
    match own.head:
        case Line(inputs=(number,), power=1) as line:
            return direction_of(line) is not None and _is_main(number, axes)
        case Curve(input=number, values=values):
            alone = len(own.form.curves) == 1 and not own.form.lines
            return alone and values.direction is not None and _is_main(number, axes)
    return False


def _carrier(found: Sequence[_Told], trend: Values | None, axes: Axes) -> _Told | None:
    """The largest line or curve that goes somewhere, with the course that all have together."""
    if trend is None:
        return next((own for own in found if _is_trend(own, axes)), None)
    own = next((own for own in found if _is_along_main(own, axes)), None)
    if own is None or not _is_clear(trend):
        return None
    curve = Curve(axes.main, 0, False, trend)
    return replace(own, head=curve, form=replace(own.form, curves=(curve,), lines=()))


def _is_along_main(own: _Told, axes: Axes) -> bool:
    match own.head:
        case Line(inputs=(number,)) | Curve(input=number):
            return _is_main(number, axes) and not own.part.courses
    return False


def _is_carried(own: _Told, carrier: _Told | None, axes: Axes) -> bool:
    """Whether a part is in what is said of the trend: no drift much shorter than the data is."""
    if carrier is None or own.part is carrier.part:
        return carrier is not None
    covered = axes[axes.main].range
    match own.head:
        case Line():
            return _is_along_main(own, axes)
        case Curve(values=values) if goes_one_way(values) and _is_along_main(own, axes):
            scale = values.lengthscale
            return scale is None or covered is None or scale.value > SLOW * covered
    return False


def _is_clear(values: Values) -> bool:
    """Whether the rate of a trend is known well enough to be told."""
    rate = values.slope
    return rate is None or rate.width is None or rate.width <= abs(rate.value)


def _is_main(number: int, axes: Axes) -> bool:
    return axes[number].is_time or len(axes.inputs) == 1


def _is_drift(own: _Told, axes: Axes) -> bool:
    return isinstance(own.head, Curve) and _is_main(own.head.input, axes) and not own.part.courses


def _opening(trend: _Told | None, cycles: Sequence[_Told], axes: Axes) -> Iterator[str]:
    """Where it goes, with the cycles that are certain, and then how large these are."""
    certain = [own for own in cycles if own.probability > CERTAIN]
    phrases = listed([_cycle(own, trend, axes) for own in certain])
    if trend is not None:
        yield _sentence(
            f"{trend.doubt}{_goes(trend, axes)}" + (f", with {phrases}" if phrases else ""), axes
        )
    elif phrases:
        yield _sentence(f"has {phrases}", axes)
    for own in cycles:
        if own not in certain:
            yield sentence(f"there is {own.doubt}{_cycle(own, trend, axes)}")
    sizes = [f"the {_short(own, axes)} by {_size(own, axes)}" for own in cycles if _size(own, axes)]
    if sizes:
        yield sentence(
            sizes[0].replace(" by ", f" typically moves {_target(axes)} by ", 1)
            + "".join(f", {text}" for text in sizes[1:])
        )


def _goes(own: _Told, axes: Axes) -> str:
    """What the trend does: "grows by about 11 % a year"."""
    if isinstance(own.head, Line):
        number, values = own.head.inputs[0], own.head.values
        direction = direction_of(own.head)
    else:
        assert isinstance(own.head, Curve)
        number, values, direction = own.head.input, own.head.values, own.head.values.direction
    axis = axes[number]
    along = "" if axis.is_time or axes.is_obvious(number) else f"with {axes.name(number)}"
    if (
        values.slope is None
        or not axis.is_time
        or not (goes_one_way(values) or isinstance(own.head, Line))
    ):
        told = Values(direction=direction) if isinstance(own.head, Line) else values
        return goes(told, axis, along)
    verb = "falls" if direction == "down" else "grows" if axes.is_log else "rises"
    text = f"{verb} by {slope(Estimate(values.slope.value), axes, axis)}"
    pace = {"faster": ", faster and faster", "slower": ", ever more slowly", None: ""}[values.pace]
    return f"{text}{'' if isinstance(own.head, Line) else ' on average'}{pace}"


def _cycle(own: _Told, trend: _Told | None, axes: Axes) -> str:
    """A cycle and how it changes: "a yearly cycle whose swings grow with the level"."""
    assert isinstance(own.head, Cycle)
    clauses = []
    growths = {line.growth for line in own.form.lines} | {own.form.swings}
    if "growing" in growths or "shrinking" in growths:
        clauses.append(f"whose swings {'grow' if 'growing' in growths else 'shrink'}")
    elif axes.is_log and trend is not None:
        clauses.append("whose swings grow with the level")
    changing = [
        c for c in own.form.curves if c.input == own.head.input and not is_long(c, axes, STEADY)
    ]
    if changing:
        scale = changing[0].values.lengthscale
        over = f" over {length(scale, axes[own.head.input])}" if scale else ""
        clauses.append(f"whose shape changes{over}")
    return f"{cycle_noun(own.head, axes, SUMMARY)} {listed(clauses)}".rstrip()


def _short(own: _Told, axes: Axes) -> str:
    assert isinstance(own.head, Cycle)
    noun = cycle_noun(own.head, axes, SUMMARY)
    return " ".join(filter(None, (*noun.adjectives, noun.noun, noun.complement)))


def _size(own: _Told, axes: Axes) -> str:
    amplitude = positive(own.part.amplitude)
    return "" if amplitude is None else size(amplitude, axes)


def _of_inputs(found: Sequence[_Told], axes: Axes) -> Iterator[str]:
    """What the inputs do that move the target most, one after the other."""
    texts: list[str] = []
    for own in found:
        texts += [along_input(course, axes) for course in own.part.courses]
        if isinstance(own.head, Curve) and len(own.form.curves) == 1 and own.head.values.direction:
            number = own.head.input
            texts.append(
                own.doubt + goes(own.head.values, axes[number], f"with {axes.name(number)}")
            )
        if isinstance(own.head, Line) and direction_of(own.head):
            number, values = own.head.inputs[0], Values(direction=direction_of(own.head))
            texts.append(own.doubt + goes(values, axes[number], f"with {axes.name(number)}"))
    if texts:
        pronoun = "they" if _is_plural(_target(axes)) else "it"
        first, *others = texts[:MOST_INPUTS]
        clauses = [first, *(f"{pronoun} {text}" for text in others)]
        yield _sentence(_fitting(clauses), axes)


def _drifts(found: Sequence[_Told], axes: Axes) -> Iterator[str]:
    """What has no course of its own: "A drift over about 9 months adds ± 4 %."."""
    for own in found[:MOST_DRIFTS]:
        assert isinstance(own.head, Curve)
        scale, adds = own.head.values.lengthscale, _size(own, axes)
        name = with_article(
            curve_name(
                Curve(own.head.input, own.head.roughness, False, Values(lengthscale=scale)), axes
            )
        )
        over = f" over {length(scale, axes[own.head.input])}" if scale else ""
        if adds:
            doubt = f"{own.doubt.rstrip()}, " if own.doubt else ""
            yield sentence(f"{doubt}{name}{over} moves {_target(axes)} by {adds}")


def _changes(found: Sequence[_Told], is_alone: bool, axes: Axes) -> Iterator[str]:
    """What there is on each side of changes: "From 1646 to 1713 irradiance stays constant."."""
    sides: dict[str, list[str]] = {}
    for own in found:
        is_along_one = len({gate.input for gate in own.form.gates}) == 1
        where = (region if is_along_one else limits)(own.form.gates, axes)
        names = sides.setdefault(where, [])
        if (name := _name(own, axes)) not in names:
            names.append(name)
    texts = [f"{where} {_side(names, is_alone, axes)}" for where, names in sides.items()]
    if texts:
        yield sentence(_fitting(texts))


def _side(names: Sequence[str], is_alone: bool, axes: Axes) -> str:
    """What there is on one side: nothing but a level if no other part applies everywhere."""
    if is_alone and list(names) in (["a constant"], ["a constant factor"]):
        return f"{_target(axes)} {agreeing('stays constant', axes)}"
    more = [f"{counted(len(names) - MOST_NAMES)} more"] if len(names) > MOST_NAMES else []
    return f"there is {listed([*names[:MOST_NAMES], *more])}"


def _name(own: _Told, axes: Axes) -> str:
    """A part in a few words that can be the object of a sentence."""
    if isinstance(own.head, Curve) and axes[own.head.input].is_time and len(own.form.curves) == 1:
        return with_article(curve_name(own.head, axes))
    noun = head_noun(own.form, axes, SUMMARY)
    return str(replace(noun, course="", attributes=noun.attributes[:1]))


def _fitting(texts: Sequence[str]) -> str:
    """The first texts, as many as a sentence has room for."""
    most = len(texts)
    while most > 1 and num_words("; ".join(texts[:most])) > MOST_WORDS:
        most -= 1
    return "; ".join(texts[:most])


def _sentence(predicate: str, axes: Axes) -> str:
    """A sentence with the target as its subject."""
    return sentence(f"{_target(axes)} {agreeing(predicate, axes)}")


def _target(axes: Axes) -> str:
    return readable_name(axes.target.name) or "the target"


def agreeing(predicate: str, axes: Axes) -> str:
    """A predicate whose verbs have the number of the target."""
    if not _is_plural(_target(axes)):
        return predicate
    return re.sub(
        rf"\b({VERBS})\b(?! (cycle|of))", lambda own: PLURALS.get(own[1], own[1][:-1]), predicate
    )


def _is_plural(name: str) -> bool:
    """Whether a name is one of many things, as far as its end says."""
    last = name.split()[-1].lower()
    return last.endswith("s") and not last.endswith(("ss", "us", "is", "as", "ics"))
