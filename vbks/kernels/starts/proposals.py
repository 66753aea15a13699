"""Starts that have a name: each makes one change to the start that the data suggest.

Many candidates are found from one kind of start only, such as sums from terms that go from long to
short. Where there are few starts, those later in the order are left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.grammar.expression import Sum
from vbks.kernels.layout import NOISE_SLOT, Layout, Node
from vbks.kernels.parts import Part, parts_of
from vbks.kernels.starts.policy import StartPolicy


@dataclass(frozen=True)
class Situation:
    """What starts of a candidate depend on: its layout, its inputs, and what a parent knows."""

    layout: Layout
    by_input: Mapping[int | None, InputSummary]
    known: Mapping[int, float]
    policy: StartPolicy

    @cached_property
    def parts(self) -> Sequence[Part]:
        """Leaves and changes of the candidate, from left to right."""
        return parts_of(self.layout.root)

    @cached_property
    def smooth(self) -> dict[int, Part]:
        """Slots of new lengthscales of inputs, with the leaves that they are of."""
        return {
            index: part
            for part in self.parts
            for index in part.node.slots.get("lengthscales", ())
            if self.role(index) == "lengthscale" and index not in self.known
        }

    def role(self, index: int) -> str | None:
        """What the parameter of a slot is to starts."""
        return self.layout.slots[index].parameter.role

    def input_of(self, index: int) -> InputSummary:
        """The input that the parameter of a slot is about."""
        return self.by_input[self.layout.slots[index].dim]

    def log_memory(self, index: int) -> float:
        """The logarithm of a lengthscale of a few spacings."""
        return math.log(self.policy.memory * self.input_of(index).spacing)


@dataclass(frozen=True)
class StartProposal:
    """A start by its name, its place in the order of starts, and what it is."""

    name: str
    """The name tells how the start differs from the one that the data suggest."""

    place: int
    """The place among the starts of a candidate, counted from zero."""

    when: Callable[[Situation], bool]
    """Whether a candidate has such a start."""

    change: Callable[[Situation, Array], None]
    """Changes θ [H], which is what the data suggest, to that of the start."""


def _has_line_factors(situation: Situation) -> bool:
    """Whether several lines on one input multiply something."""
    layout = situation.layout
    dims = Counter(layout.slots[index].dim for index in _line_factors(situation))
    return max(dims.values(), default=0) > 1


def _lines_before_the_data(situation: Situation, theta: Array) -> None:
    """Zeros of several factors before the data, one after the other.

    A product of lines then grows all along, as it does where noise and amplitudes grow with a
    trend.
    """
    layout, policy = situation.layout, situation.policy
    slots = list(_line_factors(situation))
    counts = Counter(layout.slots[index].dim for index in slots)
    for index in reversed(slots):
        x = situation.input_of(index)
        counts[layout.slots[index].dim] -= 1
        further = counts[layout.slots[index].dim]
        theta[index] = x.low - (policy.first_zero + policy.next_zero * further) * x.range


def _line_factors(situation: Situation) -> Iterator[int]:
    """Slots of the zeros of lines that multiply something."""
    for part in situation.parts:
        for index in part.node.slots.get("location", ()):
            if part.companions and situation.role(index) == "location":
                yield index


def _is_smooth(situation: Situation) -> bool:
    """Whether there is a new lengthscale of an input."""
    return bool(situation.smooth)


def _rougher(situation: Situation, theta: Array) -> None:
    """Shorter lengthscales, and rational quadratics that are rough at all scales."""
    layout, policy = situation.layout, situation.policy
    theta[list(situation.smooth)] += math.log(policy.rougher)
    tails = [index for index in range(len(layout)) if situation.role(index) == "tails"]
    theta[tails] = math.log(policy.heavy_tails)
    # Terms that begin alike, as beside a periodic leaf, stay alike.
    for slots in alike_terms(layout, theta):
        for term, share in zip(slots, np.linspace(0.0, 1.0, len(slots)), strict=True):
            for index in term:
                theta[index] += share * min(situation.log_memory(index) - theta[index], 0.0)


def _has_other_parts(situation: Situation) -> bool:
    """Whether there is a new lengthscale of an input, and something beside it."""
    return bool(situation.smooth) and len(situation.parts) > 1


def _with_memory(situation: Situation, theta: Array) -> None:
    """The last smooth leaf as noise that has a memory, beside what the rest explains.

    One that stands alone is preferred. Beside a parent's values it has the size of the parent's
    noise.
    """
    smooth, known = situation.smooth, situation.known
    alone = [index for index, part in smooth.items() if not part.companions] or list(smooth)
    last = alone[-1]
    theta[last] = situation.log_memory(last)
    scale = smooth[last].node.scale
    if scale is not None and NOISE_SLOT in known and not smooth[last].companions:
        theta[scale] = known[NOISE_SLOT]


def _has_smooth_sum(situation: Situation) -> bool:
    """Whether a sum has several smooth terms."""
    return any(len(terms) > 1 for terms in smooth_terms(situation.layout, situation.layout.root))


def _long_to_short(situation: Situation, theta: Array) -> None:
    """Smooth terms of the same sum from long to short.

    Their lengthscales are from the range to a few spacings, and their variances fall with them:
    terms that begin alike, as beside a periodic leaf, stay alike, and large short ones take over
    the trend.
    """
    layout, policy = situation.layout, situation.policy
    for terms in smooth_terms(layout, layout.root):
        if len(terms) < 2:
            continue
        for term, share in zip(terms, np.linspace(0.0, 1.0, len(terms)), strict=True):
            for index in term.slots["lengthscales"]:
                longest = math.log(situation.input_of(index).range)
                theta[index] = (1.0 - share) * longest + share * situation.log_memory(index)
            if term.scale is not None:
                theta[term.scale] += share * math.log(policy.shortest_term)


def _has_repeats(situation: Situation) -> bool:
    """Whether an input with a new lengthscale has many rows at each place."""
    return bool(_repeated(situation))


def _separate_places(situation: Situation, theta: Array) -> None:
    """Places that have little to do with each other, as if each were a category."""
    coarse, separate = _repeated(situation), situation.policy.separate
    theta[coarse] = np.log([separate * situation.input_of(index).spacing for index in coarse])


def _repeated(situation: Situation) -> list[int]:
    least = situation.policy.many_repeats
    return [k for k in situation.smooth if situation.input_of(k).repeats >= least]


LINES = StartProposal("lines before the data", 2, _has_line_factors, _lines_before_the_data)
ROUGHER = StartProposal("rougher", 4, _is_smooth, _rougher)
LONG_TO_SHORT = StartProposal("long to short", 7, _has_smooth_sum, _long_to_short)

PROPOSALS = (
    LINES,
    ROUGHER,
    StartProposal("noise with memory", 6, _has_other_parts, _with_memory),
    LONG_TO_SHORT,
    StartProposal("separate places", 8, _has_repeats, _separate_places),
)
"""The named starts of candidates without a parent."""

HEIR_PROPOSALS = (
    StartProposal("noise with memory", 1, _has_other_parts, _with_memory),
    LINES,
)
"""The named starts of candidates that inherit values from a parent."""


def alike_terms(layout: Layout, theta: Array) -> Iterator[list[tuple[int, ...]]]:
    """Slots of lengthscales of each term, for sums whose smooth terms all have the same ones."""
    for terms in smooth_terms(layout, layout.root):
        slots = [term.slots["lengthscales"] for term in terms]
        values = {tuple(theta[list(own)].round(6)) for own in slots}
        if len(slots) > 1 and len(values) == 1:
            yield slots


def smooth_terms(layout: Layout, node: Node) -> Iterator[list[Node]]:
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
        yield from smooth_terms(layout, operand)
