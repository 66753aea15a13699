"""Whether the character of the data changes somewhere, and where."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from vbks.arrays import Array
from vbks.data.times import EPOCH, instants
from vbks.grammar.expression import ChangePoint, ChangeWindow
from vbks.kernels.layout import Node
from vbks.parts.kinds import PLACE_TOLERANCE
from vbks.parts.values import places_of
from vbks.properties.members import Beliefs, Member
from vbks.properties.results import Change
from vbks.properties.telling import told_change
from vbks.properties.values import Weighted, told_peaks
from vbks.words import Axis, Estimate


def change_of(beliefs: Beliefs) -> Change:
    """Change points and windows among the data, along the input that most probably has one.

    Where a kernel has several, or a window has two ends, each place counts alike.
    """
    every = [_along(beliefs, dim) for dim in range(beliefs.num_inputs)]
    order = [beliefs.main, *(dim for dim in range(beliefs.num_inputs) if dim != beliefs.main)]
    dim = max(order, key=lambda number: every[number][0].total)
    shared, whole = every[dim]
    axis = beliefs.axes[dim + 1]
    gap = PLACE_TOLERANCE * beliefs.summaries[dim].range
    estimate, peaks = shared.estimate, told_peaks(whole, gap)
    density = shared.density(gap)
    return Change(
        name="change",
        probability=shared.total,
        sentence=told_change(shared.total, estimate, peaks, beliefs.axes, dim + 1),
        estimate=estimate,
        density=None if density is None else density.in_unit(1.0, axis.unit),
        unit=axis.unit,
        input=beliefs.axes.name(dim + 1),
        peaks=peaks,
        dates=_dates(estimate, axis),
    )


def _along(beliefs: Beliefs, dim: int) -> tuple[Weighted, Weighted]:
    """Places along an input with the weight of a sample shared by its places, and with all of it.

    Only places among the data count.
    """
    shared: list[tuple[Array, Array]] = []
    whole: list[tuple[Array, Array]] = []
    summary = beliefs.summaries[dim]
    for member in beliefs:
        nodes = _changes(member.layout.root)
        every = [places for node in nodes for places in _at(member, node, dim)]
        if not every:
            continue
        places = np.stack(every, axis=1)
        is_inside = (places > summary.low) & (places < summary.high)
        counts = np.maximum(is_inside.sum(axis=1), 1)
        for own in np.where(is_inside, places, np.nan).T:
            shared.append((own, member.weights / counts))
            whole.append((own, member.weights))
    return Weighted.of(shared), Weighted.of(whole)


def _at(member: Member, node: Node, dim: int) -> tuple[Array, ...]:
    """Where a change is at each sample of θ, if it is one along this input."""
    own = node.expression
    if not isinstance(own, ChangePoint | ChangeWindow) or own.dim != dim + 1:
        return ()
    return places_of(node, member.samples, member.units, dim)


def _changes(node: Node) -> Iterator[Node]:
    if isinstance(node.expression, ChangePoint | ChangeWindow):
        yield node
    for operand in node.operands:
        yield from _changes(operand)


def _dates(estimate: Estimate | None, axis: Axis) -> tuple[datetime, ...]:
    """The ends of the interval and the median as dates, where inputs came as dates."""
    if estimate is None or axis.origin != EPOCH:
        return ()
    days = [estimate.low, estimate.value, estimate.high]
    told = np.array([day for day in days if day is not None])
    return tuple(moment.item() for moment in instants(told))
