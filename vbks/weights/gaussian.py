"""The belief of the VBKS paper: softmax(g), with a Gaussian q(g) that maximises a bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtri, softmax
from scipy.stats import qmc

from vbks.arrays import Array, Mask
from vbks.errors import DataError, check_one_of
from vbks.weights.belief import KernelBelief, as_vector, check_positive, participants
from vbks.weights.free_form import Layer, free_form, lift

PRIOR_VARIANCE = 10.0
"""Prior variance of each g: a weight may differ from its prior by factors of e^±3, so that gaps of
a few nats show. Beyond it little changes, and with the authors' 0.5 gaps of two nats hardly
count."""

PAIRS = 1024
"""Samples come as ±η, a power of two of them as Sobol's points ask for: with the paper's 2,000
samples, errors of probabilities stay below a hundredth."""

COUPLED = 16
"""Strongest candidates that all others may be correlated with. Given these, the weaker ones are as
under the prior: correlations among them would be fitted to the samples, and lower the bound on
fresh ones (by 0.4 nats with all of 144 candidates)."""

RESOLVED = 5.0
"""Standard deviation of g under the prior up to which `PAIRS` pairs resolve softmax. A wider one
takes more pairs, with its square."""

WIDEST = 20.0
"""Standard deviation from which on softmax is but a step, and made softer while q(g) is sought:
the belief has settled to two thousandths by then."""

MOST_NUMBERS = 2**18
"""Wide priors take more pairs only while pairs times candidates are up to this many numbers: a few
megabytes."""

MEMORY = 20
"""Pairs of steps and gradient changes that the quasi-Newton ascent keeps."""

TOLERANCE = 1e-9
"""Relative gain of a step at which it stops."""

STEPS = 2000
"""Steps of the stochastic ascent, each with fresh samples."""

STEP_PAIRS = 16
"""Pairs of samples in each step of the stochastic ascent."""

RATE = 0.05
"""Adam's first rate; it falls to zero as a cosine."""

OPTIMA_MARGIN = 7.0
"""A mixture has a Gaussian for candidates within this many nats of the best: weaker ones would
have less than a thousandth of the belief."""

MAX_OPTIMA = 12
"""Candidates for which an optimum is sought at most, each of which is an ascent."""

SAME_OPTIMUM = 0.02
"""Two ascents have ended in the same optimum if no probability differs by more."""

Form = Literal["gaussian", "mixture", "free"]
"""Forms of q(g): a single Gaussian as in the paper, one at each optimum, or whatever maximises."""

Ascent = Literal["quasi-newton", "stochastic"]
"""Ascents on q(g): on samples that stay the same, or with fresh ones in each step as in the
paper."""


def vbks_belief(
    log_evidences: npt.ArrayLike,
    log_prior: npt.ArrayLike,
    *,
    prior_variance: float = PRIOR_VARIANCE,
    prior_covariance: npt.ArrayLike | None = None,
    prior_mean: npt.ArrayLike | None = None,
    temperature: float = 1.0,
    form: Form = "gaussian",
    ascent: Ascent = "quasi-newton",
    seed: int = 0,
) -> KernelBelief:
    """E[softmax(g)] under the q(g) that maximises E[softmax(g)·L/T] − KL(q(g)‖p(g)) (eq. 8, 13).

    p(g) is N(log p(k), vI) with v the ``prior_variance``, unless another mean or covariance is
    given. A small v holds the belief at the prior. The ``form`` of q(g) decides what happens at
    ties. The paper's single "gaussian" is flatter than Bayes' posterior with few candidates, and
    above many that are far behind it lifts a single one, even if another is hardly worse. A
    "mixture" of such Gaussians has one at each optimum, weighted by their bounds, so that two near
    the top share the belief. The "free" form, q*(g) ∝ p(g) exp(softmax(g)·L/T) by importance
    sampling, has the highest bound and tends to Bayes' posterior as v grows. Candidates that are
    equal in every respect share what they have together.
    """
    check_positive(temperature=temperature, prior_variance=prior_variance)
    check_one_of("ascent", ascent, _ASCENTS)
    check_one_of("form", form, get_args(Form))
    evidences = as_vector("log_evidences", log_evidences)
    taking_part, log_p = participants(evidences, log_prior)
    mean0 = _prior_mean(log_p if prior_mean is None else prior_mean, taking_part)
    covariance0 = _prior_covariance(prior_variance, prior_covariance, taking_part)

    members = np.flatnonzero(taking_part)
    gains = evidences[members] / temperature
    order = np.lexsort((-gains, -(gains + mean0[members])))
    rows, gains = members[order], gains[order]
    if prior_covariance is None:
        root = np.full(len(rows), np.sqrt(prior_variance))
    else:
        root = _cholesky(covariance0[np.ix_(rows, rows)])
    best = gains.max()
    objective = Objective(gains - best, mean0[rows], root)
    match form:
        case "gaussian":
            found = _single_gaussian(objective, _ASCENTS[ascent], seed)
        case "mixture":
            found = _gaussian_mixture(objective, _ASCENTS[ascent], seed)
        case "free":
            found = free_form(objective.gains, objective.prior_mean, root, seed)

    p = found.probabilities
    if prior_covariance is None:
        p = _shared_among_equals(p, gains, mean0[rows])
    probabilities, mean = np.zeros((2, len(evidences)))
    probabilities[rows], mean[rows] = p, found.mean
    factor = np.zeros_like(covariance0)
    factor[np.ix_(members, members)] = _lower_triangular(found.factor[np.argsort(order)])
    return KernelBelief(
        kind="vbks",
        probabilities=probabilities,
        log_prior=log_p,
        temperature=temperature,
        bound=float(best + found.bound),
        mean=mean,
        factor=factor,
        prior_mean=mean0,
        prior_covariance=covariance0,
    )


class Objective:
    """E[softmax(g)·ℓ] − KL(q(g)‖p(g)) in coordinates x = (ν, log diagonal of D, D below it).

    With p(g) = N(μ, FFᵀ) and g = μ + F(ν + Dη), η ~ N(0, I), the prior is at ν = 0, D = I. D is
    lower triangular, with candidates in the order of their strength, and has entries below its
    diagonal in the columns of the COUPLED first ones. F is a matrix or the diagonal of one.
    """

    def __init__(self, gains: Array, prior_mean: Array, prior_root: Array) -> None:
        self.gains, self.prior_mean, self.prior_root = gains, prior_mean, prior_root
        self.size = len(gains)
        self.num_columns = min(self.size, COUPLED)
        sd = prior_root if prior_root.ndim == 1 else np.linalg.norm(prior_root, axis=1)
        self.widest = float(sd.max())
        self.sharpness = min(1.0, WIDEST / self.widest)

    @property
    def start(self) -> Array:
        """Where q(g) is the prior."""
        return np.zeros(self.size * (2 + self.num_columns))

    def lifted(self, k: int = 0) -> Array:
        """Where the prior of one candidate, k-th in strength, is lifted above all others."""
        sd = float(self.prior_root[k] if self.prior_root.ndim == 1 else self.prior_root[k, k])
        x = self.start
        x[k] = lift(self.gains, self.prior_mean, sd, k) / sd
        return x

    def __call__(self, x: Array, eta: Array) -> tuple[float, Array]:
        """The value and its gradient, the expectation over samples η [S, K]."""
        nu, sd, below = self._unpack(x)
        W = self.weights(x, eta, self.sharpness)
        gain = W @ self.gains
        W *= self.gains - gain[:, np.newaxis]
        pull = W * self.prior_root if self.prior_root.ndim == 1 else W @ self.prior_root
        pull *= self.sharpness / len(eta)
        by_below = pull.T @ eta[:, : self.num_columns]
        gradient = [
            pull.sum(axis=0) - nu,
            sd * np.einsum("sk,sk->k", pull, eta) - sd**2 + 1.0,
            (np.tril(by_below, -1) - below).ravel(),
        ]
        return float(gain.mean()) - self.kl(x), np.concatenate(gradient)

    def weights(self, x: Array, eta: Array, sharpness: float = 1.0) -> Array:
        """softmax(g), or of g times a sharpness, for samples η: [S, K]."""
        return self.softmax(self.coordinates(x, eta), sharpness)

    def kl(self, x: Array) -> float:
        """KL(q(g)‖p(g)) = ½(‖ν‖² + ‖D‖² − K) − Σ log Dₖₖ."""
        nu, sd, below = self._unpack(x)
        squares = nu @ nu + sd @ sd + np.sum(below**2) - self.size
        return float(0.5 * squares - np.log(sd).sum())

    def gaussian(self, x: Array) -> tuple[Array, Array]:
        """The mean [K] and factor [K, K] of q(g)."""
        nu, sd, below = self._unpack(x)
        D = np.diag(sd)
        D[:, : self.num_columns] += below
        return self.prior_mean + self._times_root(nu), self._times_root(D.T).T

    def log_density(self, x: Array, z: Array) -> Array:
        """log N(z | ν, DDᵀ) for coordinates z [S, K] of g = μ + Fz: [S]."""
        nu, sd, below = self._unpack(x)
        rest = z - nu
        for column in range(self.num_columns):
            rest[:, column] /= sd[column]
            rest -= rest[:, column, np.newaxis] * below[:, column]
        rest[:, self.num_columns :] /= sd[self.num_columns :]
        log_scale = np.log(sd).sum() + 0.5 * self.size * np.log(2.0 * np.pi)
        return np.asarray(-0.5 * np.einsum("sk,sk->s", rest, rest) - log_scale)

    def coordinates(self, x: Array, eta: Array) -> Array:
        """Samples z = ν + Dη [S, K], of which g = μ + Fz."""
        nu, sd, below = self._unpack(x)
        return np.asarray(nu + eta * sd + eta[:, : self.num_columns] @ below.T)

    def softmax(self, z: Array, sharpness: float = 1.0) -> Array:
        """softmax(g), or of g times a sharpness, for coordinates z [S, K] of g: [S, K]."""
        W = sharpness * (self.prior_mean + self._times_root(z))
        W -= W.max(axis=1, keepdims=True)
        np.exp(W, out=W)
        W /= W.sum(axis=1, keepdims=True)
        return np.asarray(W)

    def _unpack(self, x: Array) -> tuple[Array, Array, Array]:
        K = self.size
        return x[:K], np.exp(x[K : 2 * K]), np.tril(x[2 * K :].reshape(K, -1), -1)

    def _times_root(self, z: Array) -> Array:
        """F z of every row of z."""
        if self.prior_root.ndim == 1:
            return np.asarray(z * self.prior_root)
        return np.asarray(z @ self.prior_root.T)


def samples(objective: Objective, seed: int, purpose: str) -> Array:
    """Standard normal samples [S, K] of mean zero and covariance I, exactly.

    They are Sobol's points, whose first columns fill space best, made orthogonal and taken with
    both signs.
    """
    K = objective.size
    for_width = PAIRS * (min(objective.widest, WIDEST) / RESOLVED) ** 2
    pairs = max(PAIRS, K, min(for_width, MOST_NUMBERS / K))
    rng = np.random.default_rng([seed, *purpose.encode()])
    points = qmc.Sobol(K, seed=rng).random_base2(int(np.ceil(np.log2(pairs))))
    Q, _ = np.linalg.qr(ndtri(points + 2.0**-31))  # half of Sobol's last digit keeps off zero
    eta = np.sqrt(len(points)) * Q
    return np.concatenate([eta, -eta])


Climb = Callable[[Array], Array]
"""``climb(x)`` is where an ascent from x ends."""


def _quasi_newton(objective: Objective, seed: int) -> Climb:
    """L-BFGS on samples that stay the same."""
    eta = samples(objective, seed, "ascent")

    def climb(x: Array) -> Array:
        def loss(x: Array) -> tuple[float, Array]:
            value, gradient = objective(x, eta)
            return -value, -gradient

        options = {"maxcor": MEMORY, "ftol": TOLERANCE, "gtol": 1e-6, "maxiter": 1000}
        found = minimize(loss, x, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(found.x)

    return climb


def _stochastic(objective: Objective, seed: int) -> Climb:
    """Adam with fresh samples in each step."""

    def climb(x: Array) -> Array:
        rng = np.random.default_rng(seed)
        first, second = np.zeros_like(x), np.zeros_like(x)
        for step in range(1, STEPS + 1):
            eta = rng.normal(size=(STEP_PAIRS, objective.size))
            _, gradient = objective(x, np.concatenate([eta, -eta]))
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            rate = 0.5 * RATE * (1 + np.cos(np.pi * step / STEPS))
            x = x + rate * first / (1 - 0.9**step) / scale
        return x

    return climb


_ASCENTS: dict[str, Callable[[Objective, int], Climb]] = {
    "quasi-newton": _quasi_newton,
    "stochastic": _stochastic,
}


def _single_gaussian(
    objective: Objective, ascent: Callable[[Objective, int], Climb], seed: int
) -> Layer:
    """The higher of two maxima, and E[softmax(g)] there by fresh samples.

    Many weak candidates can hide the strongest one from an ascent that starts at the prior, and of
    two that are nearly alike it may lift either. Within the samples' error the strongest has it.
    """
    climb, eta = ascent(objective, seed), samples(objective, seed, "report")
    x = climb(objective.start)
    W = objective.weights(x, eta)
    if W[:, 0].mean() < 0.5:
        lifted = climb(objective.lifted())
        W_lifted = objective.weights(lifted, eta)
        gain = (W_lifted - W) @ objective.gains - objective.kl(lifted) + objective.kl(x)
        if gain.mean() > -gain.std() / np.sqrt(len(gain)):
            x, W = lifted, W_lifted
    p = W.mean(axis=0)
    return Layer(p, float(p @ objective.gains - objective.kl(x)), *objective.gaussian(x))


def _gaussian_mixture(
    objective: Objective, ascent: Callable[[Objective, int], Climb], seed: int
) -> Layer:
    """Gaussians at the optima that ascents from the prior and from lifted candidates reach.

    Their weights are in proportion to exp(bound), which is best where they do not overlap.
    """
    climb, eta = ascent(objective, seed), samples(objective, seed, "report")
    near = objective.prior_mean + objective.gains
    lifted = np.flatnonzero(near > near[0] - OPTIMA_MARGIN)[:MAX_OPTIMA]
    optima: list[Array] = []
    expected: list[Array] = []
    for start in (objective.start, *map(objective.lifted, lifted)):
        x = climb(start)
        p = objective.weights(x, eta).mean(axis=0)
        if all(np.abs(p - other).max() > SAME_OPTIMUM for other in expected):
            optima.append(x)
            expected.append(p)
    bounds = [p @ objective.gains - objective.kl(x) for p, x in zip(expected, optima, strict=True)]
    shares = softmax(np.array(bounds))
    mean, factor = _mixture_moments(shares, [objective.gaussian(x) for x in optima])
    bound = sum(
        share * _gain_in_mixture(objective, optima, shares, x, eta)
        for share, x in zip(shares, optima, strict=True)
    )
    return Layer(np.asarray(shares @ np.array(expected)), float(bound), mean, factor)


def _gain_in_mixture(
    objective: Objective, optima: list[Array], shares: Array, x: Array, eta: Array
) -> float:
    """E[softmax(g)·ℓ − log q(g)/p(g)] over one Gaussian of a mixture q(g)."""
    z = objective.coordinates(x, eta)
    log_parts = [objective.log_density(other, z) for other in optima]
    log_q = logsumexp(log_parts, axis=0, b=shares[:, np.newaxis])
    log_p = objective.log_density(objective.start, z)
    return float(np.mean(objective.softmax(z) @ objective.gains - log_q + log_p))


def _mixture_moments(shares: Array, parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The mean [K] of a mixture of Gaussians and a factor [K, J] of its covariance."""
    mean = np.asarray(sum(share * own for share, (own, _) in zip(shares, parts, strict=True)))
    columns = [
        np.sqrt(share) * np.column_stack([factor, own - mean])
        for share, (own, factor) in zip(shares, parts, strict=True)
    ]
    return mean, np.concatenate(columns, axis=1)


def _prior_mean(values: npt.ArrayLike, taking_part: Mask) -> Array:
    mean = as_vector("prior_mean", values)
    if mean.shape != taking_part.shape or not np.isfinite(mean[taking_part]).all():
        raise DataError(
            f"prior_mean has shape {mean.shape}, expected a finite number for each of the "
            f"{len(taking_part)} candidates."
        )
    return np.where(taking_part, mean, 0.0)


def _prior_covariance(
    variance: float, covariance: npt.ArrayLike | None, taking_part: Mask
) -> Array:
    K = len(taking_part)
    given = variance * np.eye(K) if covariance is None else np.asarray(covariance, dtype=float)
    if given.shape != (K, K):
        raise DataError(f"prior_covariance has shape {given.shape}, expected [K, K] = {(K, K)}.")
    both = taking_part[:, np.newaxis] & taking_part
    return np.where(both, given, 0.0)


def _cholesky(covariance: Array) -> Array:
    message = "prior_covariance must be symmetric and positive definite, and is not."
    if not np.allclose(covariance, covariance.T):
        raise DataError(message)
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as error:
        raise DataError(message) from error


def _shared_among_equals(p: Array, *properties: Array) -> Array:
    """Probabilities averaged over candidates that nothing tells apart but the samples."""
    _, group = np.unique(np.column_stack(properties), axis=0, return_inverse=True)
    group = group.ravel()
    return np.asarray((np.bincount(group, p) / np.bincount(group))[group])


def _lower_triangular(factor: Array) -> Array:
    """The lower triangular factor, of positive diagonal, of the same covariance."""
    R: Array = np.asarray(np.linalg.qr(factor.T, mode="r"))
    return np.asarray((R * np.where(np.diag(R) < 0, -1.0, 1.0)[:, np.newaxis]).T)
