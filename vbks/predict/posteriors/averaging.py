"""The average over components: standardised inputs in, answers in the user's units out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from vbks.arrays import Array, Mask, Rows
from vbks.errors import DataError
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.inference.result import LocalFit
from vbks.kernels.precision import check_precision
from vbks.predict.posteriors.conditioning import members_in, posteriors_of
from vbks.predict.posteriors.limits import (
    RARE,
    Limits,
    limit_growth,
    median_of_medians,
    without_growth,
)
from vbks.predict.posteriors.marginals import (
    WarpedGaussians,
    mixture_log_density,
    mixture_moments,
    mixture_quantiles,
)
from vbks.predict.posteriors.observations import (
    draw_targets,
    observed_log_densities,
    observed_moments,
)
from vbks.predict.posteriors.posteriors import BLOCK, ELEMENTS_AT_ONCE, Data, Posteriors
from vbks.predict.posteriors.samples import Member

QUANTILE_SAMPLES = 4096
"""A quantile without a closed form is that of this many targets: the 5 % quantile is then that of
between 4.3 % and 5.7 %."""

JITTER = 1e-10
"""A covariance that functions are drawn with has this on its diagonal, relative to its
variances."""

MORE_JITTER, MORE_JITTER_TRIES = 100.0, 2
"""The jitter of a member whose covariance cannot be factorised grows by this factor, so often."""


@dataclass(frozen=True, eq=False)
class Average:
    """The mixture of all components of some members, whose weights add up to one.

    Posteriors are made when they are first needed, and kept. Inputs are standardised [N, D];
    ``noisy`` asks for targets instead of the function.
    """

    members: tuple[Member, ...]
    data: Data
    likelihood: Likelihood
    num_samples: int
    seed: int

    @cached_property
    def posteriors(self) -> list[Posteriors]:
        """The posteriors of all components."""
        check_precision()
        members = self.members
        found = posteriors_of(members, self.data, self.num_samples, self.seed)
        for _ in range(MORE_JITTER_TRIES):
            lost = set(range(len(members))) - members_in(found)
            if not lost:
                break
            members = tuple(
                (_with_more_jitter(fit) if place in lost else fit, weight)
                for place, (fit, weight) in enumerate(members)
            )
            found = posteriors_of(members, self.data, self.num_samples, self.seed)
        for place in sorted(set(range(len(self.members))) - members_in(found)):
            fit, weight = members[place]
            raise DataError(
                f"'{fit.expression}', which has {weight:.2g} of the weight, cannot predict: its "
                f"covariance has no Cholesky factor with a jitter of {fit.jitter:g}. Fit it again "
                "with more jitter, or give it no weight."
            )
        return found

    @cached_property
    def weights(self) -> Array:
        """Shares of the components: [R]."""
        weights = np.concatenate([part.weights for part in self.posteriors])
        return np.asarray(weights / weights.sum())

    @cached_property
    def parameters(self) -> Array:
        """The likelihood's parameter of each component: [R]."""
        return np.concatenate([part.kernels.parameters for part in self.posteriors])

    def moments(self, X: Array, noisy: bool) -> tuple[Array, Array, Mask]:
        """Mean and variance, and where tails are limited, else they decided it: [N] each."""
        mean, variance, is_limited = _in_blocks(lambda rows: self._moments(X[rows], noisy), X)
        return mean, variance, np.asarray(is_limited, bool)

    def _moments(self, X: Array, noisy: bool) -> tuple[Array, Array, Array]:
        return self._mixed_moments(self._parts(X, noisy), self.weights, noisy)

    def _mixed_moments(
        self, parts: Sequence[WarpedGaussians], weights: Array, noisy: bool
    ) -> tuple[Array, Array, Array]:
        """Mean and variance of parts that are limited, and where they are: [N] each."""
        limited = without_growth(parts)
        means, variances = self._moments_of(limited, noisy)
        limits = Limits.of(weights, means, variances)
        is_limited = np.sum([part.heavy_weight() for part in parts], axis=0) > RARE
        for part, within in zip(parts, limited, strict=True):
            is_limited |= np.any(within.means < part.means, axis=0)
        is_limited |= limits.is_active(weights, means)
        return *mixture_moments(weights, *limits.apply(means, variances)), is_limited

    def member_moments(self, X: Array) -> tuple[Array, Array]:
        """Means and variances of the function under each member alone: [K, N] each."""

        def of_block(rows: Rows) -> tuple[Array, Array]:
            parts = self._parts(X[rows], noisy=False)
            found = [self._member_moments(parts, place) for place in range(len(self.members))]
            return np.stack([mean for mean, _ in found]), np.stack([var for _, var in found])

        means, variances = _in_blocks(of_block, X)
        return means, variances

    def _member_moments(self, parts: Sequence[WarpedGaussians], member: int) -> tuple[Array, Array]:
        """Mean and variance of the function under one member: [N] each."""
        is_own = [posteriors.members == member for posteriors in self.posteriors]
        own = [part.take(rows) for part, rows in zip(parts, is_own, strict=True) if np.any(rows)]
        weights = np.concatenate([part.weights for part in own])
        mean, variance, _ = self._mixed_moments(own, weights / weights.sum(), noisy=False)
        return mean, variance

    def covariance(self, X: Array, noisy: bool) -> tuple[Array, Array, Mask]:
        """Mean [N] and covariance [N, N], by total covariance, and where tails are limited."""
        mean, _, is_limited = self.moments(X, noisy)
        parts = self._parts(X, noisy)
        middle = median_of_medians(parts)
        limits = Limits.of(self.weights, *self._moments_of(without_growth(parts), noisy))
        N, total = len(X), np.zeros((len(X), len(X)))
        for part in self.posteriors:
            for piece in part.in_pieces(max(1, ELEMENTS_AT_ONCE // (N * max(N, len(part.Z))))):
                means, covariances = piece.joint(X)
                if noisy:
                    covariances = covariances + piece.noise(X)[..., np.newaxis] * np.eye(N)
                variances = np.diagonal(covariances, axis1=-2, axis2=-1)
                means = limit_growth(piece.units, middle, means, variances)
                restored = piece.units.restore_moments(means, variances)
                distance = limits.apply(*restored)[0] - mean
                within = limits.shrink(piece.units.restore_covariance(means, covariances))
                total += np.einsum("r,rij->ij", piece.weights, within)
                total += (piece.weights * distance.T) @ distance
        return mean, total, is_limited

    def log_density(self, X: Array, y: Array, known: Array | None = None) -> Array:
        """Log densities of targets [N] in the user's units: [N].

        Their noise is the learned one and, in the square of the user's units, what is known [N].
        """

        def of_block(rows: Rows) -> tuple[Array]:
            if self.likelihood.is_gaussian:
                parts = self._marginals(X[rows], True, None if known is None else known[rows])
                return (mixture_log_density(list(parts), y[rows]),)
            moments = self._component_moments(X[rows], noisy=False)
            terms = observed_log_densities(self.likelihood, self.parameters, *moments, y[rows])
            return (logsumexp(terms, axis=0, b=self.weights[:, np.newaxis]),)

        (density,) = _in_blocks(of_block, X)
        return density

    def quantiles(self, X: Array, levels: Array, noisy: bool, known: Array | None = None) -> Array:
        """Quantiles at levels [Q]: [N, Q]; noise is as in `log_density`."""

        def of_block(rows: Rows) -> tuple[Array]:
            if noisy and not self.likelihood.is_gaussian:
                return (self._sampled_quantiles(X[rows], levels).T,)
            parts = self._marginals(X[rows], noisy, None if known is None else known[rows])
            return (mixture_quantiles(list(parts), levels).T,)

        (quantiles,) = _in_blocks(of_block, X)
        return quantiles.T

    def samples(
        self, X: Array, num: int, rng: np.random.Generator, *, noisy: bool, joint: bool
    ) -> Array:
        """Functions or targets: [S, N], each from a component of its own.

        If they are not joint, a sample has the right distribution at every input alone.
        """
        chosen = rng.choice(len(self.weights), num, p=self.weights)
        found, start = np.empty((num, len(X))), 0
        for part in self.posteriors:
            is_own = (chosen >= start) & (chosen < start + len(part))
            if np.any(is_own):
                places, own = np.unique(chosen[is_own] - start, return_inverse=True)
                found[is_own] = self._draw(part.take(places), own, X, rng, noisy, joint)
            start += len(part)
        return found

    def _draw(
        self,
        part: Posteriors,
        own: Rows,
        X: Array,
        rng: np.random.Generator,
        noisy: bool,
        joint: bool,
    ) -> Array:
        """Samples [S, N] from components, which are given for each."""
        normal = rng.standard_normal((len(own), len(X)))
        if joint:
            z = np.empty(normal.shape)
            for place, piece in enumerate(part.in_pieces(1)):
                means, covariances = piece.joint(X)
                z[own == place] = means[0] + normal[own == place] @ _root(covariances[0]).T
        else:
            means, variances = _in_blocks(lambda rows: part.marginals(X[rows]), X)
            z = means[own] + np.sqrt(variances[own]) * normal
        if noisy and not self.likelihood.is_gaussian:
            f = part.units.restore_targets(z)
            return draw_targets(self.likelihood, part.kernels.parameters[own], f, rng)
        if noisy:
            z = z + np.sqrt(part.noise(X)[own]) * rng.standard_normal(z.shape)
        return part.units.restore_targets(z)

    def _sampled_quantiles(self, X: Array, levels: Array) -> Array:
        rng = np.random.default_rng(self.seed)
        means, variances = self._component_moments(X, noisy=False)
        strata = (np.arange(QUANTILE_SAMPLES) + 0.5) / QUANTILE_SAMPLES
        chosen = np.searchsorted(np.cumsum(self.weights)[:-1], strata)
        f = rng.normal(means[chosen], np.sqrt(variances[chosen]))
        y = draw_targets(self.likelihood, self.parameters[chosen], f, rng)
        return np.asarray(np.quantile(y, levels, axis=0, method="inverted_cdf").T)

    def _marginals(
        self, X: Array, noisy: bool, known: Array | None = None
    ) -> Iterator[WarpedGaussians]:
        """The function, or targets with Gaussian noise, at a block of inputs."""
        for part in self.posteriors:
            means, variances = part.marginals(X)
            if noisy:
                variances = variances + part.noise(X)
            if noisy and known is not None:
                variances = variances + known / part.units.y_scale**2
            yield WarpedGaussians(part.units, part.weights, means, variances)

    def _parts(self, X: Array, noisy: bool) -> list[WarpedGaussians]:
        """The function at a block of inputs, with noise if that is Gaussian."""
        return list(self._marginals(X, noisy and self.likelihood.is_gaussian))

    def _component_moments(self, X: Array, noisy: bool) -> tuple[Array, Array]:
        """Means and variances of each component at a block of inputs: [R, N]."""
        return self._moments_of(self._parts(X, noisy), noisy)

    def _moments_of(self, parts: Sequence[WarpedGaussians], noisy: bool) -> tuple[Array, Array]:
        """The same from the parts."""
        found = [part.restored() for part in parts]
        means, variances = (np.concatenate(parts) for parts in zip(*found, strict=True))
        if noisy and not self.likelihood.is_gaussian:
            return observed_moments(self.likelihood, self.parameters, means, variances)
        return means, variances


def _with_more_jitter(fit: LocalFit) -> LocalFit:
    return replace(fit, jitter=max(fit.jitter, 1e-8) * MORE_JITTER)


def _in_blocks(evaluate: Callable[[Rows], tuple[Array, ...]], X: Array) -> tuple[Array, ...]:
    """Results whose last axis is that of the rows, of one block of rows after the other."""
    places = np.arange(len(X))
    found = [evaluate(places[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
    return tuple(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))


def _root(covariance: Array) -> Array:
    """A matrix whose square is the covariance, all but singular as it may be."""
    try:
        scale = JITTER * np.trace(covariance) / len(covariance)
        return np.linalg.cholesky(covariance + scale * np.eye(len(covariance)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
