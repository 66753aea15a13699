"""Residuals that are independent under a model, of the data and of data drawn from the model.

At one θ, targets are N(0, C) with C = LLᵀ. Then z = L⁻¹y are errors of predictions one row ahead,
over their standard deviations, and independent N(0, 1). That θ was learned from the same rows makes
them a little smaller and less related than this; data drawn from the model are treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from vbks.arrays import Array, Rows
from vbks.criticism.sequence import RowSequence
from vbks.data.signals.summaries import measure_inputs
from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.inference.result import LocalFit
from vbks.kernels.layout import lay_out
from vbks.kernels.priors import slot_priors
from vbks.predict.posteriors.posteriors import ELEMENTS_AT_ONCE, ComponentKernels
from vbks.predict.posteriors.samples import Component

STEP = 1e-4
"""Slopes of covariances are central differences over steps of θ of this size."""

ROUNDING = 1e-6
"""Targets whose mean and variance are nearer than this to 0 and 1 were standardised."""

NUM_STEPS, STEP_SHARE = 14, 0.25
"""Replicates take this many steps of this share of a Fisher scoring step: less than a fiftieth of
the way is left after the last."""

LONGEST = 0.5
"""No step changes a logarithm of a variance by more than this."""

JITTERS = (0.0, 1e-10, 1e-8, 1e-6)
"""What is added to the diagonal of a covariance, relative to its mean, until it has a factor."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """Standardised residuals z [S, n] and targets [S, n]: those of the data, then of replicates.

    ``root`` [n, n] is L; it is the identity where residuals are those given a function. Targets are
    standardised, in the ``units`` of the warp of the model.
    """

    rows: RowSequence
    root: Array
    z: Array
    targets: Array
    units: Units
    is_gaussian: bool = True

    @cached_property
    def inverse(self) -> Array:
        """L⁻¹: [n, n]."""
        return np.asarray(solve_triangular(self.root, np.eye(len(self.root)), lower=True))

    def whitened(self, regressors: Array) -> Array:
        """L⁻¹H for regressors H [n, F]: what they look like among the residuals."""
        return np.asarray(self.inverse @ regressors)

    @property
    def spreads(self) -> Array:
        """Standard deviations of predictions one row ahead: [n]."""
        return np.diagonal(self.root)

    @cached_property
    def predicted(self) -> Array:
        """Means of predictions one row ahead: [S, n]."""
        return np.asarray(self.targets - self.spreads * self.z)

    @cached_property
    def left_out(self) -> Array:
        """Errors of each row given all others, over their standard deviations: [S, n]."""
        return np.asarray(self.z @ self.inverse / np.linalg.norm(self.inverse, axis=0))


def whiten(
    fit: LocalFit,
    mode: int,
    data: TrainingData,
    rows: RowSequence,
    num_replicates: int,
    rng: np.random.Generator,
) -> Residuals:
    """Residuals of rows, which ``data`` has in their order, under a fit at one of its modes."""
    X, y = data.arrays()
    theta = fit.modes[mode].mean
    (C,) = _covariances(fit, theta[np.newaxis], data)
    L = _cholesky(C)
    drawn = rng.standard_normal((num_replicates, len(y)))
    if abs(np.mean(y)) < ROUNDING and abs(np.std(y) - 1.0) < ROUNDING:
        drawn = standardised(drawn, L)
    free = np.array([slot for slot in range(len(theta)) if slot not in fit.fixed], np.intp)
    slopes = _slopes(fit, theta, free, data, L)
    pull, precision = _prior(fit, theta, X)
    corrected = as_if_fitted(drawn, slopes, pull[free], precision[free])
    z = solve_triangular(L, y, lower=True)
    return Residuals(rows, L, np.vstack([z, corrected]), np.vstack([y, drawn @ L.T]), data.units)


def as_if_fitted(z: Array, slopes: Array, pull: Array, precision: Array) -> Array:
    """Residuals [S, n] of replicates as they are at the θ that each would have had fitted.

    With A = L⁻¹ C' L⁻ᵀ [H, n, n], the slope of z is −Φ(A)z, where Φ takes the lower triangle and
    half of the diagonal; the score is ½(zᵀAz − tr A), and its covariance ½ tr(AA'). Short steps of
    Fisher scoring lead from θ to the highest posterior, the prior's own slope and precision
    included. A stays what it is at θ, as if logarithms of covariances were linear in θ: so nothing
    is factorised again.
    """
    if not len(slopes):
        return z
    lower = np.tril(slopes)
    places = np.arange(slopes.shape[-1])
    lower[:, places, places] *= 0.5
    traces = 0.5 * np.trace(slopes, axis1=1, axis2=2)
    flat = slopes.reshape(len(slopes), -1)
    inverse = np.linalg.pinv(0.5 * flat @ flat.T + np.diag(precision), hermitian=True)
    sizes = np.array([np.abs(np.linalg.eigvalsh(own)).max() for own in slopes])
    moved = np.zeros((len(z), len(slopes)))
    for _ in range(NUM_STEPS):
        moves = np.stack([z @ own.T for own in lower])
        scores = np.einsum("sn,hsn->sh", z, moves) - traces + pull - precision * moved
        steps = STEP_SHARE * scores @ inverse
        lengths = np.abs(steps) @ sizes
        steps *= np.minimum(1.0, LONGEST / np.maximum(lengths, LONGEST))[:, np.newaxis]
        z = z - np.einsum("sh,hsn->sn", steps, moves)
        moved = moved + steps
    return z


def standardised(z: Array, L: Array) -> Array:
    """Residuals of targets that have mean 0 and variance 1, as those of the data have."""
    targets = z @ L.T
    means = np.mean(targets, axis=1, keepdims=True)
    level = solve_triangular(L, np.ones(len(L)), lower=True)
    return np.asarray((z - means * level) / np.std(targets, axis=1, keepdims=True))


def _covariances(fit: LocalFit, theta: Array, data: TrainingData) -> Array:
    """Covariances of targets at several θ [R, H]: [R, n, n]."""
    X, _ = data.arrays()
    kernels = ComponentKernels([Component(fit, row, 1.0, 0) for row in theta])
    K = np.array(kernels(X))
    noise = np.asarray(kernels.noise(X)) + np.asarray(kernels.jitter)
    if data.known_noise is not None:
        noise = noise + data.known_noise
    places = np.arange(len(X))
    K[:, places, places] += noise
    return K


def _slopes(fit: LocalFit, theta: Array, free: Rows, data: TrainingData, L: Array) -> Array:
    """L⁻¹ ∂C/∂θ L⁻ᵀ for each free slot of θ: [H, n, n]."""
    size = max(1, ELEMENTS_AT_ONCE // (2 * len(L) ** 2))
    found = []
    for start in range(0, len(free), size):
        steps = STEP * np.eye(len(theta))[free[start : start + size]]
        ends = _covariances(fit, np.concatenate([theta + steps, theta - steps]), data)
        found += [*(ends[: len(steps)] - ends[len(steps) :]) / (2.0 * STEP)]
    return np.stack([_both_sides(L, slope) for slope in found]) if found else np.zeros((0, 0, 0))


def _both_sides(L: Array, slope: Array) -> Array:
    half = solve_triangular(L, slope, lower=True)
    return np.asarray(solve_triangular(L, half.T, lower=True))


def _prior(fit: LocalFit, theta: Array, X: Array) -> tuple[Array, Array]:
    """Slope and precision of the log prior at θ: [H] each."""
    layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
    priors = slot_priors(layout, summaries=measure_inputs(X))
    precision = np.array([prior.precision for prior in priors])
    return precision * (np.array([prior.centre for prior in priors]) - theta), precision


def _cholesky(C: Array) -> Array:
    scale = np.trace(C) / len(C)
    for jitter in JITTERS[:-1]:
        try:
            return np.linalg.cholesky(C + jitter * scale * np.eye(len(C)))
        except np.linalg.LinAlgError:
            continue
    return np.linalg.cholesky(C + JITTERS[-1] * scale * np.eye(len(C)))
