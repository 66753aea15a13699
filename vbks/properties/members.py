"""The kernels of a belief with samples of their θ: what properties are read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vbks.arrays import Array, Mask
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.summaries import measure_inputs
from vbks.data.units import Units
from vbks.inference.result import LocalFit
from vbks.kernels.layout import Layout, Node, lay_out
from vbks.parts.posteriors import part_means
from vbks.parts.scale import Scale, scale_of
from vbks.parts.sources import Source, sources_of
from vbks.parts.terms import Term, terms_of
from vbks.parts.values import Samples, samples_of
from vbks.predict.posteriors.averaging import Average
from vbks.words import Axes

GRID = 41
"""Amplitudes are compared at this many places of an input."""

MOST_ROWS = 200
"""Of more rows, amplitudes and shares are those of a random sample of this many."""


@dataclass(frozen=True, eq=False)
class Member:
    """A kernel of the belief, with its probability and samples of its θ."""

    fit: LocalFit
    probability: float
    sources: tuple[Source, ...]
    scale: Scale

    @cached_property
    def samples(self) -> Samples:
        """Samples of θ [S, H], of each mode of q(θ)."""
        return samples_of(self.fit)

    @property
    def weights(self) -> Array:
        """What each sample counts in the whole belief: [S]."""
        return self.samples.weights * self.probability

    @property
    def units(self) -> Units:
        """The units of the rows under the warp."""
        return self.sources[0].posteriors.units

    @cached_property
    def layout(self) -> Layout:
        """What the numbers of θ are."""
        return lay_out(self.fit.expression, self.fit.num_inputs, self.fit.ard)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The additive terms of the kernel."""
        return terms_of(self.layout)

    def mean_of(self, numbers: Sequence[int], X: Array) -> Array:
        """The posterior mean of terms at standardised inputs, on the scale of the warp: [N].

        It is that of the function around its level, so that of all terms adds up to the function.
        """
        weight = sum(source.weight for source in self.sources)
        total = np.zeros(len(X))
        for source in self.sources if numbers else ():
            means = part_means(source, [list(numbers)], X)[:, 0]
            total += source.weights @ means / weight
        return np.asarray(self.units.y_mean + self.units.y_scale * total)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """All kernels that matter, and the rows that they are of.

    X [N, D] are rows in the user's units, at most `MOST_ROWS`; ``summaries`` say how far inputs
    reach and how finely they are spaced, in the same units.
    """

    members: tuple[Member, ...]
    axes: Axes
    X: Array
    summaries: tuple[InputSummary, ...]
    is_gaussian: bool

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    @property
    def num_inputs(self) -> int:
        """How many inputs there are."""
        return self.X.shape[1]

    @property
    def main(self) -> int:
        """The input along which things happen, counted from 0: time if there is one."""
        return self.axes.main - 1

    def along(self, dim: int) -> Array:
        """Places along an input from end to end, other inputs being at their medians: [G, D]."""
        X = np.repeat(np.median(self.X, axis=0)[np.newaxis], GRID, axis=0)
        X[:, dim] = np.linspace(self.summaries[dim].low, self.summaries[dim].high, GRID)
        return X


def beliefs_of(average: Average, X: Array, axes: Axes) -> Beliefs:
    """The kernels of an average, X [N, D] being rows in the user's units."""
    parameter = float(np.average(average.parameters, weights=average.weights))
    members = []
    for sources in sources_of(average, axes).values():
        scale = scale_of(average.likelihood, sources[0].posteriors.units, parameter)
        fits = {id(source.fit): source.fit for source in sources}
        for key, fit in fits.items():
            own = tuple(source for source in sources if id(source.fit) == key)
            members.append(Member(fit, sum(source.weight for source in own), own, scale))
    members.sort(key=lambda member: -member.probability)
    every = np.arange(len(X))
    rows = every if len(X) <= MOST_ROWS else np.random.default_rng(0).permutation(every)[:MOST_ROWS]
    return Beliefs(tuple(members), axes, X[rows], measure_inputs(X), average.likelihood.is_gaussian)


def leaf_dims(node: Node, num_inputs: int) -> tuple[int, ...]:
    """The inputs of a leaf or change, counted from 0."""
    dim = getattr(node.expression, "dim", None)
    return tuple(range(num_inputs)) if dim is None else (dim - 1,)


def share_where(mask: Mask, weights: Array) -> float:
    """The weight of the samples [S] for which something holds."""
    return float(np.sum(weights[mask]))
