"""Where fits start: values that the data suggests, values of the parent, and draws around both.

Optima are many, above all in periods and lengthscales, so starts decide which one a fit ends in.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.special import log_softmax, logsumexp

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    Product,
    leaves,
)
from vbks.kernels import families
from vbks.kernels.families import family_of
from vbks.kernels.layout import NOISE_SLOT, Layout, Node
from vbks.kernels.parameters import InputSummary, Start
from vbks.kernels.periodogram import merge_repeats, period_candidates

NEAR = 0.7
"""Standard deviation of starts that keep near the suggested one: a factor of two either way."""

CLIP_IN_SDS = 6.0
"""Starts stay within this many prior standard deviations of the prior mean."""

IMPOSSIBLE = -1e6
"""The likeness of parts of different kinds."""


@dataclass(frozen=True, eq=False)
class Parent:
    """The fitted expression that a candidate was made from.

    ``residuals`` are summaries of the inputs against what the parent does not explain, which is
    where new leaves look for their periods.
    """

    layout: Layout
    theta: Array
    residuals: tuple[InputSummary, ...] | None = None


def summarise_inputs(X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[InputSummary, ...]:
    """What starts need to know of each input: its range, its spacing and the target's periods.

    For the residuals of a parent, give these as ``y``.
    """
    targets = np.ravel(np.asarray(y, float))
    return tuple(_summary(x, targets) for x in np.asarray(X, float).reshape(len(targets), -1).T)


def _summary(x: Array, y: Array) -> InputSummary:
    distinct, _ = merge_repeats(x, y)
    if len(distinct) < 2:
        centre = float(distinct.sum())
        return InputSummary(centre - 0.5, centre + 0.5, 1.0)
    spacing = float(np.median(np.diff(distinct)))
    return InputSummary(float(x.min()), float(x.max()), spacing, period_candidates(x, y))


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
    that, with periods and locations drawn afresh, and every second one is drawn altogether.
    """
    known = {} if parent is None else _inherited(layout, parent)
    num_heirs = 0 if parent is None else (num_starts + 1) // 2
    if len(known) == len(layout):
        num_heirs = min(num_heirs, 1)
    residuals = summaries if parent is None or parent.residuals is None else parent.residuals
    heirs = _starts(layout, residuals, num_heirs, rng, known)
    others = _starts(layout, summaries, num_starts - num_heirs, rng, {})
    width = CLIP_IN_SDS * layout.prior_sd
    starts = np.concatenate([heirs, others])
    return np.clip(starts, layout.prior_mean - width, layout.prior_mean + width)


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
    by_input = dict(enumerate(summaries)) | {None: _pooled(summaries)}
    drawn = [
        [slot.parameter.draw_start(rng, by_input[slot.dim]) for slot in layout.slots]
        for _ in range(num_starts)
    ]
    starts = np.array(drawn, float).reshape(num_starts, len(layout))
    for slot, value in _suggested(layout, by_input, known):
        starts[:1, slot] = value
        if layout.slots[slot].parameter.start not in _MANY_OPTIMA:
            starts[1::2, slot] = rng.normal(value, NEAR, len(starts[1::2]))
    starts += _spread(layout)
    for slot, value in known.items():
        starts[:, slot] = value
    return starts


def _pooled(summaries: Sequence[InputSummary]) -> InputSummary:
    """All inputs as one, for parameters that they share."""
    periods = dict.fromkeys(period for x in summaries for period in x.periods[:1])
    return InputSummary(
        min(x.low for x in summaries),
        max(x.high for x in summaries),
        float(np.median([x.spacing for x in summaries])),
        tuple(periods),
    )


def _spread(layout: Layout) -> Array:
    """Distances add up over inputs, so lengthscales of a leaf on D inputs start √D times longer."""
    shift = np.zeros(len(layout))
    for part in _parts(layout.root):
        if isinstance(part.node.expression, Leaf) and part.node.expression.dim is None:
            shift[list(part.node.slots.get("lengthscales", ()))] = 0.5 * math.log(layout.num_inputs)
    return shift


@dataclass(frozen=True, eq=False)
class _Part:
    """A leaf or a change of a tree, and what tells it from others of its kind.

    ``companions`` are the leaves it is multiplied with; ``above`` are the expressions it is in,
    itself included; ``sides`` names the side it is on of each change above it, by the place of the
    change in the list of parts.
    """

    node: Node
    kind: tuple[str, int | None]
    companions: Counter[str]
    above: Counter[str]
    sides: dict[int, str]

    def likeness(self, other: _Part) -> float:
        """How much the surroundings of two parts have in common."""
        if self.kind != other.kind:
            return IMPOSSIBLE
        mine = self.companions + self.above + Counter(self.sides.values())
        theirs = other.companions + other.above + Counter(other.sides.values())
        return 4 * (mine & theirs).total() - mine.total() - theirs.total()


def _parts(root: Node) -> list[_Part]:
    parts: list[_Part] = []

    def visit(
        node: Node, companions: Counter[str], above: Counter[str], sides: dict[int, str]
    ) -> None:
        above = above + Counter([str(arrange(node.expression))])
        below = [(companions, above, sides)] * len(node.operands)
        match node.expression:
            case Leaf(family, dim):
                kind = (family, dim if family_of(family).uses_input else None)
                parts.append(_Part(node, kind, companions, above, sides))
            case Product(factors):
                texts = [Counter(map(str, leaves(factor))) for factor in factors]
                below = [(sum(texts, companions) - own, above, sides) for own in texts]
            case ChangePoint(dim=dim) | ChangeWindow(dim=dim):
                place, name = len(parts), type(node.expression).__name__
                parts.append(_Part(node, (name, dim), companions, above, sides))
                labels = (f"before {name}[{dim}]", f"after {name}[{dim}]")
                below = [(companions, above, {**sides, place: label}) for label in labels]
        for operand, surroundings in zip(node.operands, below, strict=True):
            visit(operand, *surroundings)

    visit(root, Counter(), Counter(), {})
    return parts


Suggestion = Callable[[InputSummary, _Part, int], float | None]
"""An unconstrained value from an input, the part it is for, and how many before it were like it."""


def _suggested(
    layout: Layout, by_input: Mapping[int | None, InputSummary], known: Collection[int]
) -> Iterator[tuple[int, float]]:
    """The start that the data suggests, as slots and values: prior means where it says nothing."""
    counts: Counter[tuple[object, ...]] = Counter()
    suggestions: dict[int, float | None] = dict(enumerate(layout.prior_mean))
    for part in _parts(layout.root):
        for index in (index for indices in part.node.slots.values() for index in indices):
            slot = layout.slots[index]
            start = slot.parameter.start
            if start in _SUGGESTIONS and index not in known:
                alike = (start, slot.dim, *part.sides.values())
                suggestions[index] = _SUGGESTIONS[start](by_input[slot.dim], part, counts[alike])
                counts[alike] += 1
    return ((index, value) for index, value in suggestions.items() if value is not None)


def _suggest_lengthscale(x: InputSummary, part: _Part, count: int) -> float:
    """The range beside a wave, which could not repeat otherwise; else a fifth of it, then less."""
    if any(map(_is_wave, part.companions)):
        return math.log(x.range)
    return math.log(max(0.2 * x.range * 0.25**count, 2 * x.spacing))


def _is_wave(leaf: str) -> bool:
    parameters = family_of(leaf.partition("[")[0]).parameters
    return any(parameter.start is families.start_period for parameter in parameters)


def _suggest_period(x: InputSummary, part: _Part, count: int) -> float | None:
    return math.log(x.periods[count]) if count < len(x.periods) else None


def _suggest_location(x: InputSummary, part: _Part, count: int) -> float | None:
    """The middle for a trend; before the data for a factor, whose product then grows."""
    if count:
        return None
    return x.low - 0.25 * x.range if part.companions else 0.5 * (x.low + x.high)


_SUGGESTIONS: dict[Start | None, Suggestion] = {
    families.start_lengthscale: _suggest_lengthscale,
    families.start_period: _suggest_period,
    families.start_location: _suggest_location,
    families.start_change: lambda x, _, n: None if n else 0.5 * (x.low + x.high),
    families.start_steepness: lambda x, _, n: math.log(35.0 / x.range),
    families.start_width: lambda x, _, n: math.log(x.range / 3.0),
}

_MANY_OPTIMA = (families.start_period, families.start_location, families.start_change)
"""What is drawn afresh even near the suggested start."""


def _inherited(layout: Layout, parent: Parent) -> dict[int, float]:
    """Slots whose values follow from the parent's: of leaves and changes that both have, and the
    scales and weights that give their terms the amplitudes they had."""
    theta = np.asarray(parent.theta, float)
    child_parts, parent_parts = _parts(layout.root), _parts(parent.layout.root)
    amplitudes = _amplitudes(parent.layout.root, theta)
    known, leaf_amplitudes = {NOISE_SLOT: float(theta[NOISE_SLOT])}, dict[int, float]()
    for own, match in _matched(child_parts, parent_parts).items():
        mine, theirs = child_parts[own].node, parent_parts[match].node
        for name, slots in mine.slots.items():
            if len(slots) == len(theirs.slots[name]):
                known.update(zip(slots, map(float, theta[list(theirs.slots[name])]), strict=True))
        leaf_amplitudes[id(mine)] = amplitudes[id(theirs)]
    known.update(_scales(layout.root, leaf_amplitudes, None))
    return {slot: value for slot, value in known.items() if math.isfinite(value)}


def _matched(child: Sequence[_Part], parent: Sequence[_Part]) -> dict[int, int]:
    """Parts of the child with their counterparts; both sides of a new change may have the same."""
    found = _assigned(child, parent, range(len(child)), range(len(parent)))
    for place, part in enumerate(child):
        if place in found or isinstance(part.node.expression, Leaf):
            continue
        sides = {side for other in child if (side := other.sides.get(place))}
        for side in sorted(sides):
            here = [i for i, other in enumerate(child) if other.sides.get(place) == side]
            there = [i for i, other in enumerate(child) if other.sides.get(place, side) != side]
            taken = {found[i] for i in here if i in found}
            free = sorted({found[i] for i in there if i in found} - taken)
            found |= _assigned(child, parent, [i for i in here if i not in found], free)
    return found


def _assigned(
    child: Sequence[_Part], parent: Sequence[_Part], rows: Sequence[int], columns: Sequence[int]
) -> dict[int, int]:
    """Pairs of parts that are most alike in total, in the order of both where they are equal."""
    likeness = [[child[i].likeness(parent[j]) - 1e-3 * abs(i - j) for j in columns] for i in rows]
    table = np.array(likeness).reshape(len(rows), len(columns))
    pairs = zip(*linear_sum_assignment(table, maximize=True), strict=True)
    return {rows[r]: columns[c] for r, c in pairs if table[r, c] > 0.5 * IMPOSSIBLE}


def _log_total(node: Node, theta: Array) -> float:
    """The logarithm of the scale of a whole node, as its leaves at unit scale have zero."""
    totals = [_log_total(operand, theta) for operand in node.operands]
    match node.expression:
        case Leaf():
            return 0.0 if node.scale is None else float(theta[node.scale])
        case Product():
            return sum(totals)
    return 0.0 if node.weights is not None else float(logsumexp(totals))


def _amplitudes(node: Node, theta: Array, above: float = 0.0) -> dict[int, float]:
    """The log scale, by identity of node, of all terms together that a leaf or change is in."""
    totals = np.array([_log_total(operand, theta) for operand in node.operands])
    shares = np.full(len(totals), above)
    if isinstance(node.expression, Product):
        shares += totals.sum() - totals
    elif node.weights is not None:
        shares += log_softmax([*theta[list(node.weights)], 0.0])
    found = {id(node): above + _log_total(node, theta)}
    for operand, share in zip(node.operands, shares, strict=True):
        found |= _amplitudes(operand, theta, float(share))
    return found


def _scales(
    node: Node, amplitudes: Mapping[int, float], around: float | None
) -> Iterator[tuple[int, float]]:
    """Scales and weights that give leaves these amplitudes; new ones in a product have that of the
    factors ``around`` them."""
    wanted = [_amplitude(operand, amplitudes) for operand in node.operands]
    match node.expression:
        case Leaf():
            amplitude = amplitudes.get(id(node), around)
            if node.scale not in (None, NOISE_SLOT) and amplitude is not None:
                yield node.scale, amplitude
        case Product():
            for i, operand in enumerate(node.operands):
                others = [a for j, a in enumerate(wanted) if j != i and a is not None]
                around_it = float(np.mean(others)) if others else around
                yield from _scales(operand, amplitudes, around_it)
        case _:
            all_new = all(amplitude is None for amplitude in wanted)
            share = around - math.log(len(wanted)) if around is not None and all_new else None
            for operand in node.operands:
                yield from _scales(operand, amplitudes, share)
            for slot, amplitude in zip(node.weights or (), wanted, strict=False):
                if amplitude is not None and wanted[-1] is not None:
                    yield slot, amplitude - wanted[-1]


def _amplitude(node: Node, amplitudes: Mapping[int, float]) -> float | None:
    """The amplitude of a whole node, as far as it is known from its leaves."""
    if isinstance(node.expression, Leaf):
        return amplitudes.get(id(node))
    parts = [_amplitude(operand, amplitudes) for operand in node.operands]
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return float(np.mean(known) if isinstance(node.expression, Product) else logsumexp(known))
