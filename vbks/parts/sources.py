"""Where parts come from: kernels of the average at one mode of q(θ), and what they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vbks.arrays import Array, Rows
from vbks.data.warps import Warp
from vbks.inference.approximations.base_samples import base_samples
from vbks.inference.result import LocalFit
from vbks.kernels.layout import Layout, lay_out
from vbks.parts.kernels import TermKernels
from vbks.parts.kinds import Kind, gather, kind_of
from vbks.parts.long_waves import FAMILIES, LEAST, LIMIT, long_share
from vbks.parts.terms import Limits, Term, terms_of
from vbks.parts.values import NUM_SAMPLES, Samples, known_values, known_waves
from vbks.predict.posteriors.averaging import Average
from vbks.predict.posteriors.posteriors import Posteriors
from vbks.words import Axes, Part


@dataclass(frozen=True, eq=False)
class Source:
    """Components of the average that share a kernel and a mode of q(θ).

    They are those at ``places`` of posteriors; ``weights`` are their shares of the whole average.
    The function of each is the sum of its parts, which are groups of terms of one kind.
    """

    fit: LocalFit
    mode: int
    posteriors: Posteriors
    places: Rows
    weights: Array
    axes: Axes

    @property
    def weight(self) -> float:
        """The share of the average."""
        return float(self.weights.sum())

    @cached_property
    def layout(self) -> Layout:
        """What the numbers of θ are."""
        return lay_out(self.fit.expression, self.fit.num_inputs, self.fit.ard)

    @cached_property
    def theta(self) -> Array:
        """θ of the components: [S, H]."""
        components = self.posteriors.kernels.components
        return np.stack([components[place].theta for place in self.places])

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The additive terms of the kernel."""
        return terms_of(self.layout, self.limits)

    @cached_property
    def limits(self) -> Limits:
        """Along time, or the only input, which leaves have long waves and short ones."""
        main = self.axes.main
        if not (self.axes[main].is_time or len(self.axes.inputs) == 1):
            return {}
        X, _ = self.posteriors.data.sample(RANGE_ROWS, np.random.default_rng(0))
        limit = LIMIT * float(np.ptp(X[:, main - 1]))
        mode = self.fit.modes[self.mode].mean[np.newaxis]
        return {
            leaf.number: limit
            for term in terms_of(self.layout)
            for leaf in term.leaves
            if leaf.leaf.family in FAMILIES
            and (leaf.leaf.dim or main) == main
            and (leaf.leaf.dim is not None or self.fit.num_inputs == 1)
            and LEAST < long_share(leaf.leaf.family, leaf.values(mode), limit)[0] < 1.0 - LEAST
        }

    @cached_property
    def term_parts(self) -> tuple[Part, ...]:
        """The terms in words, with what q(θ) says of their leaves."""
        mode = self.fit.modes[self.mode]
        count = NUM_SAMPLES if np.any(mode.factor) else 1
        theta = mode.mean + base_samples(count, len(mode.mean), 0) @ mode.factor.T
        samples = Samples(theta, np.full(count, 1.0 / count))
        known = known_values(self.layout, samples, self.posteriors.units)
        leaves = {leaf.number: leaf for term in self.terms for leaf in term.leaves}
        scale = self.posteriors.units.x_scale[self.axes.main - 1]
        waves = {
            number: known_waves(leaves[number], samples, limit, scale)
            for number, limit in self.limits.items()
        }
        return tuple(term.part(known, self.fit.num_inputs, waves) for term in self.terms)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Places of the terms of each part."""
        return gather([kind_of(part, self.axes) for part in self.term_parts], self.axes)

    @cached_property
    def parts(self) -> list[Part]:
        """The term that is most of each part."""
        mode = self.fit.modes[self.mode].mean[np.newaxis]
        X, _ = self.posteriors.data.sample(DIAGONAL_ROWS, np.random.default_rng(0))
        sizes = TermKernels(self.layout, mode, limits=self.limits).diag(X)[0].mean(axis=-1)
        largest = [max(group, key=lambda number: float(sizes[number])) for group in self.groups]
        return [self.term_parts[number] for number in largest]

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kind of each part."""
        return [kind_of(part, self.axes) for part in self.parts]

    def kernels(self, groups: Sequence[Sequence[int]], places: Rows) -> TermKernels:
        """Kernels of groups of terms for some of the components."""
        return TermKernels(self.layout, self.theta[places], groups, self.limits)


RANGE_ROWS = 100_000
"""The range of the data is that of at most this many rows."""

DIAGONAL_ROWS = 200
"""At this many rows it is seen which term of a part has most of its variance."""


def sources_of(average: Average, axes: Axes) -> dict[Warp, list[Source]]:
    """The sources under each warp, the most probable first in both."""
    found: dict[Warp, list[Source]] = {}
    for posteriors in average.posteriors:
        warp = posteriors.units.warp
        own = Axes(axes.inputs, axes.target, warp.name)
        found.setdefault(warp, []).extend(_sources(posteriors, own))
    total = sum(source.weight for sources in found.values() for source in sources)
    for sources in found.values():
        sources.sort(key=lambda source: -source.weight)
        for source in sources:
            source.weights[:] /= total
    by_weight = sorted(found, key=lambda warp: -weight_of(found[warp]))
    return {warp: found[warp] for warp in by_weight}


def weight_of(sources: Sequence[Source]) -> float:
    """The share of the average that sources have together."""
    return sum(source.weight for source in sources)


def _sources(posteriors: Posteriors, axes: Axes) -> Iterator[Source]:
    components = posteriors.kernels.components
    keys = [(component.member, component.mode) for component in components]
    for key in dict.fromkeys(keys):
        places = np.array([place for place, own in enumerate(keys) if own == key])
        fit, weights = components[places[0]].fit, posteriors.weights[places].copy()
        yield Source(fit, key[1], posteriors, places, weights, axes)
