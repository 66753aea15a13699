"""From an average over kernels to the parts that its function is the sum of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from gpflow.functions import Function

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.parts.across_warps import with_belief_elsewhere
from vbks.parts.averaging import REST, MatchedParts, Moments, matched
from vbks.parts.components import Component, Components, Decomposition, Rows
from vbks.parts.contributions import Contribution, acts, contributions, order_of
from vbks.parts.courses import trend_of, with_courses
from vbks.parts.held_out import held_out_means
from vbks.parts.scale import Scale, scale_of
from vbks.parts.sources import Source, sources_of
from vbks.parts.telling import Told, told, told_level, told_mean_function
from vbks.parts.values import estimate
from vbks.predict.models.mean_functions import mean_values
from vbks.predict.posteriors.averaging import Average
from vbks.words import Axes, Estimate, Part

MOST_ROWS = 1000
"""Of more rows, errors and shares are those of a random sample, where fits are not exact."""


def decompose(
    average: Average, X: Array, axes: Axes, mean_function: Function | None = None
) -> Components:
    """The parts of the function of an average at inputs X [N, D] in the user's units.

    They are apart for each warp, the most probable first.
    """
    found = []
    for sources in sources_of(average, axes).values():
        posteriors = sources[0].posteriors
        parameter = float(np.average(average.parameters, weights=average.weights))
        scale = scale_of(average.likelihood, posteriors.units, parameter)
        own = replace(axes, warp=scale.name)
        own = replace(own, at_level=_at_level(scale, sources[0]))
        parts = matched([replace(source, axes=own) for source in sources])
        found.append(_Decomposer(average, parts, own, scale, X, mean_function).decomposition())
    return Components(with_belief_elsewhere(found), axes)


def _at_level(scale: Scale, source: Source) -> float | None:
    """How much the target changes around its level for each unit of a warp that is no factor."""
    units = source.posteriors.units
    if scale.effect == "factor" or not scale.is_warp:
        return None
    ends = units.y_mean + units.y_scale * np.array([-0.5, 0.5])
    low, high = scale.response(ends)
    return float(high - low) / units.y_scale


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Matched parts by their places among components; a mean function is one more."""

    parts: MatchedParts
    mean: Function | None
    places: tuple[int, ...]

    def covariance(self, first: int, second: int, X: Array) -> Array:
        """The covariance [N, N] of two parts; a mean function has none."""
        pair = self.places[first], self.places[second]
        if len(self.parts) in pair:
            return np.zeros((len(X), len(X)))
        return self.parts.covariance(*pair, self.parts.units.standardise_inputs(X))

    def moments(self, places: Sequence[int], X: Array) -> tuple[Array, Array]:
        """Mean and standard deviation [N] of the sum of some parts."""
        own = [self.places[place] for place in places]
        kept = [place for place in own if place < len(self.parts)]
        mean, sd = self.parts.sum_moments(kept, self.parts.units.standardise_inputs(X))
        if len(kept) < len(own):
            assert self.mean is not None
            mean = mean + mean_values(self.mean, X)
        return mean, sd


@dataclass(frozen=True, eq=False)
class _Decomposer:
    """The parts of kernels under one warp on their way to components.

    Their places are those of the matched parts; a mean function is one more.
    """

    average: Average
    parts: MatchedParts
    axes: Axes
    scale: Scale
    X: Array
    mean: Function | None

    def decomposition(self) -> Decomposition:
        """The parts in their order, with what is known of each."""
        moments = self.parts.moments(self.parts.units.standardise_inputs(self.X))
        return Decomposition(
            self.parts.units.warp.name,
            self.scale.effect,
            self.parts.weight,
            self.X,
            self.axes,
            tuple(self._component(place, moments) for place in self._places),
            Rows(self._rows_X, self._targets, self._fitted[self._places], self._observed),
            self.scale.response,
            _Posterior(self.parts, self.mean, tuple(self._places)),
            trend_of(self.parts, self.axes, self._rows_X),
        )

    def _component(self, place: int, moments: Moments) -> Component:
        if place == len(self.parts):
            return self._mean_component(self.contributions[place])
        kind = self.parts.kinds[place]
        inputs = sorted({*kind.inputs, *(number for _, number in kind.gates)})
        ends = self._acts(place, inputs)
        probability = min(1.0, float(self.parts.probabilities[place]) * self.parts.weight)
        words = self._told(place, probability, ends)
        return Component(
            reading=words.reading,
            sentence=words.sentence,
            kind=kind.name,
            inputs=tuple(self.axes.name(number) for number in inputs),
            warp=self.parts.units.warp.name,
            effect=self.scale.effect,
            probability=probability,
            mean=moments.mean[place],
            sd=moments.sd[place],
            given_mean=moments.given_mean[place],
            given_sd=moments.given_sd[place],
            contribution=self.contributions[place],
            acts=ends,
            kernels=self.parts.kernels(place),
            part=words.part,
            places=tuple(number - 1 for number in inputs),
        )

    def _mean_component(self, contribution: Contribution) -> Component:
        assert self.mean is not None
        words, values = told_mean_function(), mean_values(self.mean, self.X)
        zeros = np.zeros(len(values))
        return Component(
            reading=words.reading,
            sentence=words.sentence,
            kind="mean function",
            inputs=tuple(self.axes.name(n) for n in range(1, len(self.axes.inputs) + 1)),
            warp=self.parts.units.warp.name,
            effect=self.scale.effect,
            probability=min(1.0, self.parts.weight),
            mean=values,
            sd=zeros,
            given_mean=values,
            given_sd=zeros,
            contribution=contribution,
            acts=None,
            kernels=self.parts.kernels(0),
            part=words.part,
            places=tuple(range(len(self.axes.inputs))),
        )

    def _told(self, place: int, probability: float, ends: tuple[float, float] | None) -> Told:
        if place == 0:
            level = float(self.scale.response(np.array([self._fitted[0].mean()]))[0])
            return told_level(level, float(self._targets.std()), self.axes)
        return told(
            self.parts.kinds[place],
            self._part(place),
            self.axes,
            amplitude=self._amplitude(place),
            share=self.contributions[place].share,
            probability=probability,
            acts=ends,
        )

    def _amplitude(self, place: int) -> Estimate | None:
        """How much a part moves the function: the deviation of its mean over the rows.

        The mean is that which pictures show, of the kernels that have the part, so that the size
        agrees with the share; the interval is that of their own means.
        """
        values, weights = self._amplitudes[place]
        if not len(values):
            return None
        interval = estimate(values, weights)
        typical = float(self._fitted[place].std() / self.parts.probabilities[place])
        return Estimate(typical, interval.low, interval.high)

    def _part(self, place: int) -> Part:
        """What the words are told of a part: its factors, and how it goes over the data."""
        if self.parts.kinds[place] == REST:
            return self.parts.parts[place]
        return with_courses(self.parts, place, self._rows_X)

    def _acts(self, place: int, inputs: Sequence[int]) -> tuple[float, float] | None:
        """Along time, or the first input, if the part depends on it."""
        main = self.axes.main
        if main not in inputs:
            return None
        return acts(self._rows_X[:, main - 1], self._fitted[place])

    @property
    def _places(self) -> list[int]:
        return [*self._order, *self._base]

    @property
    def _base(self) -> list[int]:
        """What every sum begins with."""
        return [0] if self.mean is None else [len(self.parts), 0]

    @cached_property
    def _order(self) -> list[int]:
        return order_of(self._held_out, self._base, self._error)

    @cached_property
    def contributions(self) -> dict[int, Contribution]:
        """What each part explains, by its place."""
        arguments = self._fitted, self._held_out, self._order, self._base
        if self._observed is None:
            return contributions(*arguments, self._targets, self.scale.response, self._error)
        return contributions(*arguments, self._observed, np.asarray, self._error)

    def _error(self, total: Array) -> float:
        return float(np.mean(np.abs(self._targets - self.scale.response(total))))

    @cached_property
    def _rows(self) -> TrainingData:
        """The rows that parts are compared with."""
        data, source = self.parts.sources[0].posteriors.data, self.parts.sources[0]
        if source.fit.bound == "exact" or data.num_rows <= MOST_ROWS:
            return data
        return data.sampled(MOST_ROWS, np.random.default_rng(0))

    @cached_property
    def _rows_X(self) -> Array:
        return self._rows.units.restore_inputs(self._rows.arrays()[0])

    @cached_property
    def _rows_y(self) -> Array:
        """Targets as the fits have them, in the user's units."""
        _, y = self._rows.arrays()
        return y if self._rows.has_own_targets else self._rows.units.restore_targets(y)

    @cached_property
    def _targets(self) -> Array:
        return self._rows_y + self._offset

    @cached_property
    def _observed(self) -> Array | None:
        """Targets on the scale where parts add up, if they are on it."""
        if self._likelihood.has_identity_link and not self.scale.is_warp:
            return self._targets
        if not self.scale.is_warp:
            return None
        return self._rows.units.warp.forward(self._rows_y) + self._offset

    @cached_property
    def _offset(self) -> Array:
        """The mean function at the rows: [N]."""
        return (
            np.zeros(len(self._rows_X))
            if self.mean is None
            else mean_values(self.mean, self._rows_X)
        )

    @cached_property
    def _fitted(self) -> Array:
        """Means of the parts at the rows: [P, N]."""
        means = self.parts.averaged(self._component_means, len(self._rows_X))
        return self._with_offset(means)

    @cached_property
    def _component_means(self) -> list[Array]:
        return self.parts.component_means(self._rows.arrays()[0])

    @cached_property
    def _held_out(self) -> Array:
        """The same without the rows of a block."""
        found = held_out_means(self.parts, self._rows, self._likelihood)
        return self._with_offset(found)

    @property
    def _likelihood(self) -> Likelihood:
        units = self.parts.units
        return self.average.likelihood.at_level(units.y_mean, units.y_scale)

    def _with_offset(self, means: Array) -> Array:
        return means if self.mean is None else np.vstack([means, self._offset])

    @cached_property
    def _amplitudes(self) -> list[tuple[Array, Array]]:
        return list(self.parts.amplitudes(self._component_means))
