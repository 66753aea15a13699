"""Priors on θ: presets that give every slot one, and the log density of many θ at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vbks.arrays import Array, Mask, Rows
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.summaries import pooled
from vbks.errors import DataError, GrammarError
from vbks.grammar.expression import Leaf
from vbks.kernels.layout import NOISE_SLOT, Layout, Node, Slot
from vbks.kernels.parameters import (
    LOG_ROOT_TWO_PI,
    FixedPrior,
    FlatPrior,
    MixturePrior,
    NormalPrior,
    Prior,
    StudentTPrior,
)

FLATTER = 10.0
"""How many times wider the priors of "flat" are than ours. They cost a few hundredths of a nat
where ours cost several, and keep numbers that data do not determine from running away."""

SKC_NOISE = NormalPrior(0.0, math.sqrt(0.2))
"""Prior of the noise in SKC: about the variance of the data. The paper gives variances, we have
sds."""

SKC_PRIORS: dict[tuple[str, str], Prior] = {
    ("WN", "variance"): SKC_NOISE,
    ("LIN", "variance"): FlatPrior(),
    ("LIN", "location"): FlatPrior(),
    ("SE", "variance"): FlatPrior(),
    ("SE", "lengthscales"): NormalPrior(0.0, math.sqrt(0.01)),
    ("PER", "variance"): FlatPrior(),
    ("PER", "lengthscales"): StudentTPrior(0.0, 1.0, 4.0),
}
"""Families and parameters as in appendix I of the SKC paper, but for periods, which need data."""

SKC_SHORTEST_PERIOD = 10
"""Shortest period in SKC, in steps from one row to the next."""

SKC_LONGEST_PERIOD = 1 / 5
"""Longest period in SKC, as a share of the range of the input."""


def slot_priors(
    layout: Layout,
    preset: str = "vbks",
    summaries: Sequence[InputSummary] = (),
    num_rows: int = 0,
) -> tuple[Prior, ...]:
    """The prior of each slot of θ, for inputs and targets that are standardised.

    Preset "vbks" has the priors of the families, of which that of periods is about the inputs where
    ``summaries`` of these are given. "flat" has the same so wide that the highest
    posterior is the highest likelihood, as CKS and ABCD fit. "skc" has those of appendix I of the
    SKC paper for noise, LIN, SE and PER, and those of "vbks" for what the paper does not have;
    periods need ``summaries`` of all inputs and the number of rows. Some of its priors are flat, so
    evidences of different expressions can be compared only up to constants: it is for the MAP
    estimates of SKC.
    """
    if preset not in _PRESETS:
        raise GrammarError(f"unknown priors {preset!r}. Known: {', '.join(sorted(_PRESETS))}.")
    return _PRESETS[preset](layout, summaries, num_rows)


def _vbks_priors(
    layout: Layout, summaries: Sequence[InputSummary], num_rows: int
) -> tuple[Prior, ...]:
    return tuple(_prior_of(slot, summaries) for slot in layout.slots)


def _prior_of(slot: Slot, summaries: Sequence[InputSummary]) -> NormalPrior:
    if slot.parameter.prior_at is None or not summaries:
        return slot.parameter.prior
    own = pooled(summaries) if slot.dim is None else summaries[slot.dim]
    return slot.parameter.prior_at(own)


def _skc_priors(
    layout: Layout, summaries: Sequence[InputSummary], num_rows: int
) -> tuple[Prior, ...]:
    priors = list(_vbks_priors(layout, summaries, num_rows))
    priors[NOISE_SLOT] = SKC_NOISE
    for family, name, slot in _leaf_slots(layout.root):
        if (family, name) == ("PER", "period"):
            priors[slot] = _skc_period(layout, layout.slots[slot], summaries, num_rows)
        else:
            priors[slot] = SKC_PRIORS.get((family, name), priors[slot])
    return tuple(priors)


def _flat_priors(
    layout: Layout, summaries: Sequence[InputSummary], num_rows: int
) -> tuple[Prior, ...]:
    priors = (_prior_of(slot, summaries) for slot in layout.slots)
    return tuple(NormalPrior(prior.mean, FLATTER * prior.sd) for prior in priors)


_PRESETS: dict[str, Callable[[Layout, Sequence[InputSummary], int], tuple[Prior, ...]]] = {
    "flat": _flat_priors,
    "skc": _skc_priors,
    "vbks": _vbks_priors,
}


def _leaf_slots(node: Node) -> Iterator[tuple[str, str, int]]:
    """Family, parameter and slot of every number that a leaf has."""
    if isinstance(node.expression, Leaf):
        scale = () if node.scale is None else (node.scale,)
        for name, slots in {"variance": scale, **node.slots}.items():
            yield from ((node.expression.family, name, slot) for slot in slots)
    for operand in node.operands:
        yield from _leaf_slots(operand)


def _skc_period(
    layout: Layout, slot: Slot, summaries: Sequence[InputSummary], num_rows: int
) -> MixturePrior:
    """Below the shortest possible period or well below the longest, as the paper has it."""
    if len(summaries) != layout.num_inputs or num_rows < 1:
        raise DataError(
            f"the prior on the period of '{layout.expression}' needs summaries of "
            f"{layout.num_inputs} inputs and the number of rows, got {len(summaries)} summaries "
            f"and num_rows={num_rows}."
        )
    inputs = summaries if slot.dim is None else [summaries[slot.dim]]
    extent = max(x.high for x in inputs) - min(x.low for x in inputs)
    shortest = math.log(SKC_SHORTEST_PERIOD * extent / num_rows)
    longest = math.log(SKC_LONGEST_PERIOD * extent)
    return MixturePrior(
        (NormalPrior(shortest - 0.5, math.sqrt(0.25)), NormalPrior(longest - 2.0, math.sqrt(0.5)))
    )


class Priors:
    """Independent priors on the slots of many θ, each row of H slots with its own.

    Rows may have fewer slots than there are, and some may be fixed: ``used`` [R, H] tells which are
    there to be learned. ``mean`` and ``precision`` [R, H] are the centres and curvatures of the
    priors, zero where there is none.
    """

    def __init__(self, priors_of_rows: Sequence[tuple[Prior, ...]], num_slots: int) -> None:
        shape = (len(priors_of_rows), num_slots)
        self.used: Mask = np.zeros(shape, bool)
        self.mean: Array = np.zeros(shape)
        self.precision: Array = np.zeros(shape)
        is_normal = np.zeros(shape, bool)
        self._others: dict[StudentTPrior | MixturePrior, Mask] = {}
        for row, priors in enumerate(priors_of_rows):
            own = (row, slice(len(priors)))
            self.used[own] = [not isinstance(prior, FixedPrior) for prior in priors]
            self.mean[own] = [prior.centre for prior in priors]
            self.precision[own] = [prior.precision for prior in priors]
            is_normal[own] = [isinstance(prior, NormalPrior) for prior in priors]
            for slot, prior in enumerate(priors):
                if isinstance(prior, StudentTPrior | MixturePrior):
                    self._others.setdefault(prior, np.zeros(shape, bool))[row, slot] = True
        self._normal_precision: Array = np.where(is_normal, self.precision, 0.0)
        log_roots = 0.5 * np.log(np.where(is_normal, self.precision, 1.0))
        self._log_norm = (log_roots - LOG_ROOT_TWO_PI * is_normal).sum(axis=1)

    def log_density(self, rows: Rows, theta: Array) -> tuple[Array, Array]:
        """log p(θ) [r] and its gradient [r, H] for some rows at θ [r, H]."""
        distance: Array = theta - self.mean[rows]
        gradient = self._normal_precision[rows] * -distance
        value = self._log_norm[rows] + 0.5 * (gradient * distance).sum(axis=1)
        for prior, members in self._others.items():
            own = members[rows]
            density = np.zeros(theta.shape)
            density[own], gradient[own] = prior.log_density(theta[own])
            value += density.sum(axis=1)
        return value, gradient
