"""A Gaussian process over candidates, which says where a higher evidence is to be expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import erfcx, ndtr, ndtri
from scipy.stats import rankdata

from vbks.arrays import Array

CENTRES = np.array([0.0, 0.0, math.log(0.5), math.log(0.03)])
"""Prior means of the mean and of the logarithms of scale, lengthscale and noise, for values that
are normal scores. Given all evidences of K144 on eight series, lengthscales are from 0.7 to 1.5 of
the largest distance and noise is 0.03; while few are known, a shorter one is more careful."""

SPREADS = np.array([1.0, 0.7, 0.7, 1.0])
"""Their prior standard deviations: a few values must not make the process sure of itself."""

FARTHEST = 4.0
"""Prior standard deviations within which they are sought."""

LEAST_VARIANCE = 1e-12
"""Least variance of a prediction, so that it has a logarithm."""

WORST = -1e6
"""Standard deviations below the best beyond which all candidates are the same."""

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


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


def fit_surrogate(squared_distances: Array, values: Array) -> Surrogate:
    """The most probable process for values [R] at squared distances [R, R] from each other."""
    bounds = np.stack([CENTRES - FARTHEST * SPREADS, CENTRES + FARTHEST * SPREADS], axis=1)
    found = minimize(
        surrogate_loss,
        CENTRES,
        args=(squared_distances, values),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
    )
    return _surrogate(found.x)


def surrogate_loss(
    parameters: Array, squared_distances: Array, values: Array
) -> tuple[float, Array]:
    """Minus the log posterior density of the four parameters, up to a constant, and its slope."""
    model = _surrogate(parameters)
    K = model.covariance(squared_distances)
    L = cholesky(K + model.noise**2 * np.eye(len(values)), lower=True)
    alpha = cho_solve((L, True), values - model.mean)
    steps = (parameters - CENTRES) / SPREADS
    loss = 0.5 * (values - model.mean) @ alpha + np.log(np.diag(L)).sum() + 0.5 * steps @ steps
    weight = 0.5 * (cho_solve((L, True), np.eye(len(values))) - np.outer(alpha, alpha))
    slopes = [
        -alpha.sum(),
        2.0 * (weight * K).sum(),
        (weight * K * squared_distances).sum() / model.lengthscale**2,
        2.0 * model.noise**2 * np.trace(weight),
    ]
    return float(loss), np.array(slopes) + steps / SPREADS


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
    prediction: Prediction, best: float, distances_from: Callable[[int], Array], num: int
) -> list[int]:
    """Places of the candidates to try next, each by its expected improvement over the best.

    A chosen candidate is believed to have the value expected of it while others are chosen.
    """
    chosen: list[int] = []
    is_left = np.ones(len(prediction.mean), bool)
    while len(chosen) < min(num, len(is_left)):
        gain = log_expected_improvement(prediction.mean, np.sqrt(prediction.variance), best)
        place = int(np.argmax(np.where(is_left, gain, -np.inf)))
        prediction.believe(place, distances_from(place))
        best = max(best, float(prediction.mean[place]))
        is_left[place] = False
        chosen.append(place)
    return chosen


def log_expected_improvement(mean: Array, sd: Array, best: float) -> Array:
    """log E max(f − best, 0) for f ~ N(mean, sd²), also where it is too small for a number."""
    z = (mean - best) / sd
    above, below = np.maximum(z, 0.0), np.clip(z, WORST, 0.0)
    high = np.log(np.exp(-0.5 * above**2 - LOG_ROOT_TWO_PI) + above * ndtr(above))
    share = math.sqrt(0.5 * math.pi) * erfcx(-below / math.sqrt(2.0))
    low = -0.5 * below**2 - LOG_ROOT_TWO_PI + np.log1p(below * share)
    return np.asarray(np.log(sd) + np.where(z > 0.0, high, low))
