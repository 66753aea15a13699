"""Where fits start: values that the data suggests, values of the parent, and draws around both.

Optima are many, above all in periods and lengthscales, so starts decide which one a fit ends in.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.segments import Segment
from vbks.data.signals.summaries import pooled
from vbks.errors import DataError
from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf, Sum
from vbks.kernels.layout import NOISE_SLOT, Layout, Node
from vbks.kernels.parts import parts_of
from vbks.kernels.registry import family_of, registered_families
from vbks.kernels.starts.inheritance import Parent, inherit
from vbks.kernels.starts.suggestions import FIRST_ZERO, num_waves, other_periods, suggested
from vbks.kernels.starts.target_level import start_at_level

Spot = TypeVar("Spot")

NEAR = 0.7
"""Standard deviation of starts that keep near the suggested one: a factor of two either way."""

ROUGHER = 0.2
"""Factor on all suggested lengthscales in the rougher one of the starts."""

HEAVY_TAILS = 0.05
"""Value of α of rational quadratic leaves in the rougher start: they are then rough at all scales
below their own."""

MEMORY = 3.0
"""The shortest lengthscale in another start, in spacings."""

LEAST_SHARE = math.exp(-4.0)
"""Variance of the shortest of the terms that go from long to short, as a share of the longest's."""

LINES_START, ROUGHER_START, MEMORY_START, LONG_TO_SHORT_START = 2, 4, 6, 7
"""Which starts, counted from 0, are as suggested but have several lines with their zeros before the
data, are rougher, have a memory, and go from long to short."""

NEXT_ZERO = 0.5
"""Distance between the zeros of several lines before the data, in ranges."""

APART = 0.25
"""Lengthscale, in spacings, of a start in which places have little to do with each other, as if
each were a category. It is tried where there are at least `MANY_REPEATS` rows at a place."""

MANY_REPEATS = 3.0
"""Rows at a place, on average, from which on one start has lengthscales of `APART` spacings."""

SHARP = 2.0
"""Spacings over which every other change that the data show passes at first."""

SAME_PERIOD = 0.02
"""Periods are the same to starts if their logarithms differ by less."""

CLIP_IN_SDS = 6.0
"""Starts stay within this many prior standard deviations of the prior mean."""

_MANY_OPTIMA = ("location", "change")
"""Roles of parameters that are drawn afresh even near the suggested start."""


def candidate_rng(seed: int, expression: Expression) -> np.random.Generator:
    """A generator that depends on the seed and the expression's text, and on nothing before it."""
    digest = hashlib.sha256(str(expression).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def draw_starts(
    layout: Layout,
    summaries: Sequence[InputSummary],
    num_starts: int,
    rng: np.random.Generator,
    parent: Parent | None = None,
) -> Array:
    """Unconstrained starting values of θ: [num_starts, H].

    Some inherit from the parent: the first half, or one when nothing is new. Of these and of the
    others, the first has the values that the data suggests. Of the rest every second one keeps near
    that, with the next of the data's periods and locations drawn afresh, and every second one is
    drawn altogether, but for the zeros of lines that multiply something: two of four are where the
    target is quiet.
    """
    known = {} if parent is None else inherit(layout, parent)
    num_heirs = 0 if parent is None else (num_starts + 1) // 2
    if len(known) == len(layout):
        num_heirs = min(num_heirs, 1)
    heirs = _starts(layout, _unexplained(summaries, parent), num_heirs, rng, known)
    others = _starts(layout, summaries, num_starts - num_heirs, rng, {})
    width = CLIP_IN_SDS * layout.prior_sd
    starts = np.concatenate([heirs, others])
    starts = np.clip(starts, layout.prior_mean - width, layout.prior_mean + width)
    start_at_level(layout, _by_input(summaries), starts[num_heirs:])
    return starts


def _unexplained(
    summaries: Sequence[InputSummary], parent: Parent | None
) -> Sequence[InputSummary]:
    """What the parent leaves of the target, beside the changes and waves of the target itself.

    A smooth part of the parent hides waves that are longer than it is rough.
    """
    if parent is None or parent.residuals is None:
        return summaries
    known = _log_periods(parent)
    return [
        replace(
            left,
            periods=_in_turn(left.periods, _far_from(known, own.periods)),
            changes=_in_turn(left.changes, own.changes),
            windows=_in_turn(left.windows, own.windows),
        )
        for left, own in zip(parent.residuals, summaries, strict=True)
    ]


def _log_periods(parent: Parent) -> list[float]:
    slots = zip(parent.layout.slots, parent.theta, strict=True)
    return [value for slot, value in slots if slot.parameter.role == "period"]


def _far_from(known: Sequence[float], periods: Sequence[float]) -> list[float]:
    """Periods whose logarithms are not among the known ones."""
    return [p for p in periods if all(abs(math.log(p) - other) > SAME_PERIOD for other in known)]


def _in_turn(*lists: Sequence[Spot]) -> tuple[Spot, ...]:
    """Items of all lists, the first of each before the second of each."""
    turns = zip_longest(*lists)
    return tuple(dict.fromkeys(item for turn in turns for item in turn if item is not None))


def halved_periods(layout: Layout, theta: Array, fixed: Sequence[int] = ()) -> Array:
    """θ [H] with the period of one wave halved, for each wave whose period is not fixed: [W, H].

    A function that repeats also repeats after twice as long, so that fits end there, with a
    lengthscale that is half as long as it could be.
    """
    halves = []
    for part in parts_of(layout.root):
        for index in part.node.slots.get("period", ()):
            if index in fixed:
                continue
            half = theta.copy()
            half[index] -= math.log(2.0)
            half[list(part.node.slots.get("lengthscales", ()))] += math.log(2.0)
            halves.append(half)
    return np.array(halves).reshape(-1, len(theta))


def long_to_short(
    layout: Layout, summaries: Sequence[InputSummary], rng: np.random.Generator
) -> Array:
    """Starts whose smooth terms go from long to short: [2, H], [1, H], or [0, H] if no sum has two.

    There are two where terms of a sum would begin alike otherwise: from the range, and rougher.
    """
    has_any = any(len(terms) > 1 for terms in _smooth_terms(layout, layout.root))
    starts = draw_starts(layout, summaries, LONG_TO_SHORT_START + 1, rng)
    rows = [LONG_TO_SHORT_START] if has_any else []
    if any(_alike(layout, starts[:1])):
        rows.append(ROUGHER_START)
    return starts[rows]


def _starts(
    layout: Layout,
    summaries: Sequence[InputSummary],
    num_starts: int,
    rng: np.random.Generator,
    known: dict[int, float],
) -> Array:
    if len(summaries) != layout.num_inputs:
        raise DataError(
            f"'{layout.expression}' is laid out for {layout.num_inputs} inputs, "
            f"but {len(summaries)} were summarised."
        )
    by_input = _by_input(summaries)
    drawn = [
        [slot.parameter.draw_start(rng, by_input[slot.dim]) for slot in layout.slots]
        for _ in range(num_starts)
    ]
    starts = np.array(drawn, float).reshape(num_starts, len(layout))
    waves: Counter[int | None] = Counter()
    most_waves = num_waves(layout, known)
    for slot, value in suggested(layout, by_input, known):
        starts[:1, slot] = value
        near = starts[1::2, slot]
        role, dim = layout.slots[slot].parameter.role, layout.slots[slot].dim
        if role == "period" and slot not in known:
            near[:] = other_periods(by_input[dim], waves[dim], most_waves, len(near))
            waves[dim] += 1
        elif role not in _MANY_OPTIMA:
            near[:] = rng.normal(value, NEAR, len(near))
    _place_changes(layout, by_input, starts)
    _roughen(layout, by_input, starts, known)
    if not known:
        _spread_lengthscales(layout, by_input, starts)
    _place_line_factors(layout, by_input, starts)
    beside_lines = dict(_beside_lines(layout, by_input))
    if beside_lines:
        starts[2:4] = starts[:1]
    rows = [row for row in range(num_starts) if row % 4 >= 2]
    for slot, values in beside_lines.items():
        starts[rows, slot] = np.resize(values, len(rows))
    starts += _spread(layout)
    for slot, value in known.items():
        starts[:, slot] = value
    return starts


def _by_input(summaries: Sequence[InputSummary]) -> dict[int | None, InputSummary]:
    """Summaries by their input, and of all inputs together for parameters that they share."""
    return dict(enumerate(summaries)) | {None: pooled(summaries)}


def _roughen(
    layout: Layout,
    by_input: Mapping[int | None, InputSummary],
    starts: Array,
    known: Mapping[int, float],
) -> None:
    """Make one start as suggested but rougher, and in another the last smooth leaf very rough.

    The second is noise that has a memory, beside what the rest explains, and the first to be tried
    with what a parent knows, with the size of the parent's noise. Inputs with many rows at each
    place have one more, in which each place is on its own.
    """
    new = {
        index: part
        for part in parts_of(layout.root)
        for index in part.node.slots.get("lengthscales", ())
        if layout.slots[index].parameter.role == "lengthscale" and index not in known
    }
    smooth = list(new)
    alone = [index for index, part in new.items() if not part.companions] or smooth
    spacings = {index: by_input[layout.slots[index].dim].spacing for index in smooth}
    if smooth and len(parts_of(layout.root)) > 1:
        rough = slice(1, 2) if known else slice(MEMORY_START, MEMORY_START + 1)
        starts[rough] = starts[:1]
        starts[rough, alone[-1]] = math.log(MEMORY * spacings[alone[-1]])
        scale = new[alone[-1]].node.scale
        if scale is not None and NOISE_SLOT in known and not new[alone[-1]].companions:
            starts[rough, scale] = known[NOISE_SLOT]
    if known:
        return
    if smooth:
        rougher = slice(ROUGHER_START, ROUGHER_START + 1)
        starts[rougher] = starts[:1]
        starts[rougher, smooth] += math.log(ROUGHER)
        starts[rougher, _mixtures(layout)] = math.log(HEAVY_TAILS)
        _tell_apart(layout, by_input, starts[rougher])
    coarse = [k for k in smooth if by_input[layout.slots[k].dim].repeats >= MANY_REPEATS]
    if coarse:
        starts[8:9] = starts[:1]
        starts[8:9, coarse] = np.log([APART * spacings[k] for k in coarse])


def _mixtures(layout: Layout) -> list[int]:
    """Slots of α of rational quadratic leaves."""
    return [k for k, slot in enumerate(layout.slots) if slot.parameter.role == "tails"]


def _tell_apart(layout: Layout, by_input: Mapping[int | None, InputSummary], starts: Array) -> None:
    """Spread lengthscales of smooth terms of a sum that are all the same, down to a few spacings.

    Terms that begin alike, as beside a wave, stay alike.
    """
    for slots in _alike(layout, starts):
        for term, share in zip(slots, np.linspace(0.0, 1.0, len(slots)), strict=True):
            for index in term:
                shortest = math.log(MEMORY * by_input[layout.slots[index].dim].spacing)
                starts[:, index] += share * np.minimum(shortest - starts[:, index], 0.0)


def _alike(layout: Layout, starts: Array) -> Iterator[list[tuple[int, ...]]]:
    """Slots of lengthscales of each term, for sums whose smooth terms all have the same ones."""
    for terms in _smooth_terms(layout, layout.root):
        slots = [term.slots["lengthscales"] for term in terms]
        values = {tuple(row) for own in slots for row in starts[:, own].round(6)}
        if len(slots) > 1 and len(values) == 1:
            yield slots


def _spread_lengthscales(
    layout: Layout, by_input: Mapping[int | None, InputSummary], starts: Array
) -> None:
    """Make one start as suggested, but smooth terms of the same sum go from long to short.

    Their lengthscales are from the range to a few spacings, and their variances fall with them:
    terms that begin alike, as beside a wave, stay alike, and large short ones take over the trend.
    """
    row = slice(LONG_TO_SHORT_START, LONG_TO_SHORT_START + 1)
    sums = [terms for terms in _smooth_terms(layout, layout.root) if len(terms) > 1]
    if sums:
        starts[row] = starts[:1]
    for terms in sums:
        for term, share in zip(terms, np.linspace(0.0, 1.0, len(terms)), strict=True):
            for index in term.slots["lengthscales"]:
                x = by_input[layout.slots[index].dim]
                longest, shortest = math.log(x.range), math.log(MEMORY * x.spacing)
                starts[row, index] = (1.0 - share) * longest + share * shortest
            if term.scale is not None:
                starts[row, term.scale] += share * math.log(LEAST_SHARE)


def _smooth_terms(layout: Layout, node: Node) -> Iterator[list[Node]]:
    """For each sum, those of its terms that are single leaves with a lengthscale of the input."""
    if isinstance(node.expression, Sum):
        yield [
            term
            for term in node.operands
            if any(
                layout.slots[index].parameter.role == "lengthscale"
                for index in term.slots.get("lengthscales", ())
            )
        ]
    for operand in node.operands:
        yield from _smooth_terms(layout, operand)


def _place_changes(
    layout: Layout, by_input: Mapping[int | None, InputSummary], starts: Array
) -> None:
    """Put changes where the data show some, in the first start and every second one after it.

    Each of these starts begins with another place, and each change of it has the next one.
    """
    rows = [0, *range(1, len(starts), 2)]
    counts: Counter[tuple[str, int]] = Counter()
    for part in parts_of(layout.root):
        kind, slots = part.node.expression, part.node.slots
        if not isinstance(kind, ChangePoint | ChangeWindow):
            continue
        x = by_input[kind.dim - 1]
        places = x.windows if isinstance(kind, ChangeWindow) else [Segment(c, c) for c in x.changes]
        before = counts[part.kind[0], kind.dim]
        counts[part.kind[0], kind.dim] += 1
        for turn, row in enumerate(rows[: len(starts)] if places else ()):
            place = places[(turn + before) % len(places)]
            starts[row, slots["location"]] = place.middle
            if "width" in slots:
                starts[row, slots["width"]] = math.log(place.width)
            if turn % 2:
                starts[row, slots["steepness"]] = -math.log(SHARP * x.spacing)


def _place_line_factors(
    layout: Layout, by_input: Mapping[int | None, InputSummary], starts: Array
) -> None:
    """Make one start as suggested, with the zeros of several factors before the data.

    A product of lines then grows all along, as it does where noise and waves grow with a trend.
    """
    slots = [
        index
        for part in parts_of(layout.root)
        for index in part.node.slots.get("location", ())
        if part.companions and layout.slots[index].parameter.role == "location"
    ]
    counts = Counter(layout.slots[index].dim for index in slots)
    if max(counts.values(), default=0) < 2:
        return
    row = slice(LINES_START, LINES_START + 1)
    starts[row] = starts[:1]
    for index in reversed(slots):
        x = by_input[layout.slots[index].dim]
        counts[layout.slots[index].dim] -= 1
        further = counts[layout.slots[index].dim]
        starts[row, index] = x.low - (FIRST_ZERO + NEXT_ZERO * further) * x.range


def _beside_lines(
    layout: Layout, by_input: Mapping[int | None, InputSummary]
) -> Iterator[tuple[int, Sequence[float]]]:
    """Slots of lines that multiply something and of a wave that one multiplies, with starts."""
    parts = parts_of(layout.root)
    if num_waves(layout) > 1 or sum(_is_line(part.kind[0]) for part in parts) > 1:
        return
    for part in parts:
        for index in (index for indices in part.node.slots.values() for index in indices):
            slot = layout.slots[index]
            role, x = slot.parameter.role, by_input[slot.dim]
            pairs = _in_turn(*([(place, p) for p in periods] for place, periods in x.quiet))
            if not pairs:
                continue
            if role == "location" and part.companions:
                yield index, [place for place, _ in pairs]
            elif role == "period" and any(map(_is_line, part.companions)):
                yield index, [math.log(period) for _, period in pairs]


def _is_line(leaf: str) -> bool:
    family = leaf.partition("[")[0]
    return family in registered_families() and family_of(family).has("location")


def _spread(layout: Layout) -> Array:
    """Distances add up over inputs, so lengthscales of a leaf on D inputs start √D times longer."""
    shift = np.zeros(len(layout))
    for part in parts_of(layout.root):
        if isinstance(part.node.expression, Leaf) and part.node.expression.dim is None:
            shift[list(part.node.slots.get("lengthscales", ()))] = 0.5 * math.log(layout.num_inputs)
    return shift
