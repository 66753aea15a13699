"""What a candidate inherits: the values of leaves and changes that its parent has, too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import log_softmax, logsumexp

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.grammar.expression import Leaf, Product
from vbks.kernels.layout import NOISE_SLOT, Layout, Node
from vbks.kernels.parts import IMPOSSIBLE, Part, parts_of
from vbks.kernels.starts.policy import StartPolicy
from vbks.kernels.starts.suggestions import in_turn


@dataclass(frozen=True, eq=False)
class Parent:
    """The fitted expression that a candidate was made from.

    ``residuals`` are summaries of the inputs against what the parent does not explain, which is
    where new leaves look for their periods.
    """

    layout: Layout
    theta: Array
    residuals: tuple[InputSummary, ...] | None = None


def unexplained(
    summaries: Sequence[InputSummary], parent: Parent | None, policy: StartPolicy
) -> Sequence[InputSummary]:
    """What the parent leaves of the target, beside the changes and periods of the target itself.

    A smooth part of the parent hides periods that are longer than it is rough.
    """
    if parent is None or parent.residuals is None:
        return summaries
    known = _log_periods(parent)
    return [
        replace(
            left,
            periods=in_turn(left.periods, _far_from(known, own.periods, policy.same_period)),
            changes=in_turn(left.changes, own.changes),
            windows=in_turn(left.windows, own.windows),
        )
        for left, own in zip(parent.residuals, summaries, strict=True)
    ]


def _log_periods(parent: Parent) -> list[float]:
    slots = zip(parent.layout.slots, parent.theta, strict=True)
    return [value for slot, value in slots if slot.parameter.role == "period"]


def _far_from(known: Sequence[float], periods: Sequence[float], distance: float) -> list[float]:
    """Periods whose logarithms are not among the known ones."""
    return [p for p in periods if all(abs(math.log(p) - other) > distance for other in known)]


def inherit(layout: Layout, parent: Parent) -> dict[int, float]:
    """Slots whose values follow from the parent's: of leaves and changes that both have, and the
    scales and weights that give their terms the amplitudes they had."""
    theta = np.asarray(parent.theta, float)
    child_parts, parent_parts = parts_of(layout.root), parts_of(parent.layout.root)
    amplitudes = _amplitudes(parent.layout.root, theta)
    known, leaf_amplitudes = {NOISE_SLOT: float(theta[NOISE_SLOT])}, dict[int, float]()
    for own, match in _matched(child_parts, parent_parts).items():
        mine, theirs = child_parts[own].node, parent_parts[match].node
        for name, slots in mine.slots.items():
            values = theta[list(theirs.slots.get(name, ()))]
            if len(slots) == len(values):
                known.update(zip(slots, map(float, values), strict=True))
        leaf_amplitudes[id(mine)] = amplitudes[id(theirs)]
    known.update(_scales(layout.root, leaf_amplitudes, None))
    return {slot: value for slot, value in known.items() if math.isfinite(value)}


def _matched(child: Sequence[Part], parent: Sequence[Part]) -> dict[int, int]:
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
    child: Sequence[Part], parent: Sequence[Part], rows: Sequence[int], columns: Sequence[int]
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
