"""A Gaussian process over candidates, which says where a higher evidence is to be expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import rankdata

from vbks.arrays import Array
from vbks.search.strategies.acquisition import EXPECTED_IMPROVEMENT, Acquisition

LEAST_VARIANCE = 1e-12
"""Predictions have at least this variance, so that it has a logarithm."""


@dataclass(frozen=True)
class SurrogatePrior:
    """Normal priors of a surrogate's mean and of the logarithms of scale, lengthscale and noise.

    They are for values that are normal scores. Given all evidences of K144 on eight series,
    lengthscales are from 0.7 to 1.5 of the largest distance and noise is 0.03; while few are known,
    a shorter lengthscale is more careful.
    """

    means: tuple[float, float, float, float] = (0.0, 0.0, math.log(0.5), math.log(0.03))
    spreads: tuple[float, float, float, float] = (1.0, 0.7, 0.7, 1.0)
    """Prior standard deviations: a few values must not make the process sure of itself."""
    farthest: float = 4.0
    """Look for the most probable parameters within this many standard deviations."""


PRIOR = SurrogatePrior()


@dataclass(frozen=True)
class Surrogate:
    """N(mean, scale² exp(−d²/2ℓ²)) of values at squared distances d², seen with noise."""

    mean: float
    scale: float
    lengthscale: float
    noise: float

    def covariance(self, squared_distances: Array) -> Array:
        """Covariances, of the shape of the squared distances."""
        decay = np.exp(-0.5 * squared_distances / self.lengthscale**2)
        return np.asarray(self.scale**2 * decay)


def fit_surrogate(
    squared_distances: Array, values: Array, prior: SurrogatePrior = PRIOR
) -> Surrogate:
    """The most probable process for values [R] at squared distances [R, R] from each other."""
    means, spreads = np.array(prior.means), np.array(prior.spreads)
    bounds = np.stack([means - prior.farthest * spreads, means + prior.farthest * spreads], axis=1)
    found = minimize(
        surrogate_loss,
        means,
        args=(squared_distances, values, prior),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
    )
    return _surrogate(found.x)


def surrogate_loss(
    parameters: Array, squared_distances: Array, values: Array, prior: SurrogatePrior = PRIOR
) -> tuple[float, Array]:
    """Minus the log posterior density of the four parameters, up to a constant, and its slope."""
    model = _surrogate(parameters)
    K = model.covariance(squared_distances)
    L = cholesky(K + model.noise**2 * np.eye(len(values)), lower=True)
    alpha = cho_solve((L, True), values - model.mean)
    spreads = np.array(prior.spreads)
    steps = (parameters - np.array(prior.means)) / spreads
    loss = 0.5 * (values - model.mean) @ alpha + np.log(np.diag(L)).sum() + 0.5 * steps @ steps
    weight = 0.5 * (cho_solve((L, True), np.eye(len(values))) - np.outer(alpha, alpha))
    slopes = [
        -alpha.sum(),
        2.0 * (weight * K).sum(),
        (weight * K * squared_distances).sum() / model.lengthscale**2,
        2.0 * model.noise**2 * np.trace(weight),
    ]
    return float(loss), np.array(slopes) + steps / spreads


def _surrogate(parameters: Array) -> Surrogate:
    mean, *logarithms = map(float, parameters)
    return Surrogate(mean, *map(math.exp, logarithms))


def normal_scores(values: Array) -> Array:
    """Values of a standard normal in the same order.

    Evidences of poor kernels are lower by hundreds of nats, beside which good ones would all look
    the same: by their scores the best of K144 is found in less than half as many fits.
    """
    return np.asarray(ndtri((rankdata(values) - 0.5) / len(values)))


class Prediction:
    """What a surrogate expects of candidates, given values of others.

    ``known`` [R, R] are squared distances between those with values [R], ``cross`` [R, P] those
    between them and the candidates; ``mean`` and ``variance`` [P] are without noise.
    """

    def __init__(self, model: Surrogate, known: Array, values: Array, cross: Array) -> None:
        self._model = model
        noise = model.noise**2 * np.eye(len(values))
        L = cholesky(model.covariance(known) + noise, lower=True)
        self._factors = solve_triangular(L, model.covariance(cross), lower=True)
        scaled = solve_triangular(L, values - model.mean, lower=True)
        self.mean: Array = model.mean + scaled @ self._factors

    @property
    def variance(self) -> Array:
        """Variances of the candidates' values."""
        explained = (self._factors**2).sum(axis=0)
        return np.asarray(np.maximum(self._model.scale**2 - explained, LEAST_VARIANCE))

    def believe(self, place: int, squared_distances: Array) -> None:
        """Take the mean of a candidate, at squared distances [P] from all, for its value.

        Means stay as they are, and what is near to it becomes less uncertain.
        """
        explained = self._factors[:, place] @ self._factors
        left = self._model.covariance(squared_distances) - explained
        root = math.sqrt(self.variance[place] + self._model.noise**2)
        self._factors = np.vstack([self._factors, left / root])


def choose_batch(
    prediction: Prediction,
    best: float,
    distances_from: Callable[[int], Array],
    num: int,
    acquisition: Acquisition = EXPECTED_IMPROVEMENT,
) -> list[int]:
    """Places of the candidates to try next, each the one of the highest acquisition.

    A chosen candidate is believed to have the value expected of it while others are chosen.
    """
    chosen: list[int] = []
    is_left = np.ones(len(prediction.mean), bool)
    while len(chosen) < min(num, len(is_left)):
        scores = acquisition(prediction.mean, np.sqrt(prediction.variance), best)
        place = int(np.argmax(np.where(is_left, scores, -np.inf)))
        prediction.believe(place, distances_from(place))
        best = max(best, float(prediction.mean[place]))
        is_left[place] = False
        chosen.append(place)
    return chosen
