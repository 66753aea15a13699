"""Gaussian posteriors q(θ) that maximise the bound, started from the curvature at the mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Mask, Rows
from vbks.inference.approximations.laplace import Laplace
from vbks.inference.optim.quasi_newton import minimise

NARROWINGS = 5
"""Up to this many times a Gaussian is narrowed before the bound is maximised: a numerical constant,
as five times ten are more than the widths of any density differ by."""

MOST_NARROWING, LEAST_NARROWING = 0.1, 0.7
"""A direction in which the density falls too quickly is narrowed by a factor between these, each
time: a numerical constant."""

LogDensity = Callable[[Rows, Array], tuple[Array, Array]]
"""``log_density(rows, theta)`` gives log p(y, θ) [r] and gradients [r, H] at θ [r, H] of rows in
ascending order, which may repeat."""


@dataclass(frozen=True)
class Gaussians:
    """q(θ) = N(mean, factor factorᵀ) for every row, [R, H] and [R, H, H], and the bound with it."""

    mean: Array
    factor: Array
    elbo: Array
    standard_error: Array


def maximise_bound(
    log_density: LogDensity,
    laplace: Laplace,
    rng: np.random.Generator,
    *,
    diagonal: bool,
    evaluations: int = 16,
    num_pairs: int = 32,
) -> Gaussians:
    """Maximise E_q[log p(y, θ)] + H(q) over Gaussians, with full or diagonal covariances.

    The expectation is a sum over the sigma points ±√h eᵢ, which is exact for cubics and, unlike a
    few random samples, sees every direction. The bound that is returned is by fresh samples, which
    come as ``num_pairs`` pairs θ̂ ± Cη. A row
    that gains nothing keeps Laplace's Gaussian. Where the density is flat at its top but falls off
    a cliff, as between two rows where a change may be, Laplace's is far too wide, and is narrowed
    first.
    """
    search = _Search(log_density, laplace, diagonal)
    found = minimise(search.loss, search.narrowed(laplace.value), evaluations, tolerance=1e-2)
    # Entry by entry, so that longer candidates of the chunk change nothing for shorter ones.
    eta = rng.normal(size=(laplace.mean.shape[1], num_pairs)).T
    before, after = (
        _fresh_bound(log_density, laplace, *search.gaussians(np.arange(len(x)), x), eta)
        for x in (search.start, found.x)
    )
    better = after.elbo > before.elbo
    return Gaussians(
        *(
            np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)
            for new, old in zip(_fields(after), _fields(before), strict=True)
        )
    )


def _fields(q: Gaussians) -> tuple[Array, ...]:
    return q.mean, q.factor, q.elbo, q.standard_error


class _Search:
    """Coordinates (ν, log diagonal of D, D below it) of q(θ) = N(μ + Fν, F D Dᵀ Fᵀ).

    F is Laplace's factor, in whose coordinates the posterior is about N(0, I).
    """

    def __init__(self, log_density: LogDensity, laplace: Laplace, diagonal: bool) -> None:
        self.log_density = log_density
        self.base = diagonal_factor(laplace) if diagonal else laplace.factor
        self.mean = laplace.mean
        self.used = laplace.used
        H = self.mean.shape[1]
        below = np.tril_indices(H, -1) if not diagonal else (np.zeros(0, int),) * 2
        self.below = (slice(None), *below)
        self.start = np.zeros((len(self.mean), 2 * H + len(below[0])))

    def gaussians(self, rows: Rows, x: Array) -> tuple[Array, Array]:
        """Means [r, H] and factors [r, H, H]."""
        nu, D = self._unpack(rows, x)
        mean = self.mean[rows] + np.einsum("rhj,rj->rh", self.base[rows], nu)
        return mean, self.base[rows] @ D

    def narrowed(self, highest: Array) -> Array:
        """Coordinates of Gaussians on whose sigma points the density falls as that of a normal one.

        That is by h/2 below the ``highest`` value of the row, for h entries that are used.
        """
        x = self.start.copy()
        H = self.mean.shape[1]
        left = np.arange(len(x))
        for _ in range(NARROWINGS):
            factors = self._narrowing(left, x[left], highest[left])
            x[left, H : 2 * H] += np.log(factors)
            left = left[(factors < 1.0).any(axis=1)]
            if not len(left):
                break
        return x

    def _narrowing(self, rows: Rows, x: Array, highest: Array) -> Array:
        """Factors on the width of each direction, one where it is about right: [r, H]."""
        used = self.used[rows]
        owners, eta, value, _ = self._at_sigma_points(rows, x)
        falls = np.zeros(used.shape)
        fall = np.where(np.isfinite(value), highest[owners] - value, np.inf)
        np.add.at(falls, (owners, np.abs(eta).argmax(axis=1)), 0.5 * fall)
        expected = 0.5 * np.maximum(used.sum(axis=1), 1)[:, None]
        factors = np.sqrt(expected / np.maximum(falls, expected))
        too_wide = (factors < LEAST_NARROWING) & used
        return np.where(too_wide, np.maximum(factors, MOST_NARROWING), 1.0)

    def loss(self, rows: Rows, x: Array) -> tuple[Array, Array]:
        """Minus the bound, up to a constant, and its gradient."""
        nu, D = self._unpack(rows, x)
        owners, eta, value, slope = self._at_sigma_points(rows, x)
        counts = np.bincount(owners, minlength=len(rows))
        pulled = np.einsum("phj,ph->pj", self.base[rows][owners], slope) / counts[owners, None]
        by_nu, by_D = np.zeros_like(nu), np.zeros_like(D)
        np.add.at(by_nu, owners, pulled)
        np.add.at(by_D, owners, pulled[:, :, None] * eta[:, None, :])
        mean_value = np.bincount(owners, value / counts[owners], minlength=len(rows))
        diagonal = np.einsum("rhh->rh", D)
        by_log_diagonal = np.einsum("rhh->rh", by_D) * diagonal + self.used[rows]
        bound = mean_value + (np.log(diagonal) * self.used[rows]).sum(axis=1)
        gradient = [by_nu * self.used[rows], by_log_diagonal * self.used[rows]]
        return -bound, -np.concatenate([*gradient, by_D[self.below]], axis=1)

    def _at_sigma_points(self, rows: Rows, x: Array) -> tuple[Rows, Array, Array, Array]:
        """Sigma points η [P, H] with the rows they belong to, log densities and slopes there."""
        mean, factor = self.gaussians(rows, x)
        owners, eta = _sigma_points(self.used[rows])
        theta = mean[owners] + np.einsum("phj,pj->ph", factor[owners], eta)
        return owners, eta, *self.log_density(rows[owners], theta)

    def _unpack(self, rows: Rows, x: Array) -> tuple[Array, Array]:
        H = self.mean.shape[1]
        D = np.zeros((len(rows), H, H))
        D[:, np.arange(H), np.arange(H)] = np.exp(x[:, H : 2 * H])
        D[self.below] = x[:, 2 * H :]
        return x[:, :H], D


def diagonal_factor(laplace: Laplace) -> Array:
    """Standard deviations of θ with all others held, on the diagonal."""
    scale = np.where(laplace.used, 1.0 / np.sqrt(np.einsum("rhh->rh", laplace.precision)), 0.0)
    return np.asarray(scale[:, :, None] * np.eye(scale.shape[1]))


def _sigma_points(used: Mask) -> tuple[Rows, Array]:
    """Points ±√h eᵢ for the h used entries of every row: the row of each, and η [P, H].

    A row that uses none has its centre.
    """
    owners, entries = np.nonzero(used)
    eta = np.zeros((len(owners), used.shape[1]))
    eta[np.arange(len(owners)), entries] = np.sqrt(used.sum(axis=1))[owners]
    idle = np.flatnonzero(~used.any(axis=1))
    points = np.concatenate([eta, -eta, np.zeros((len(idle), used.shape[1]))])
    rows = np.concatenate([owners, owners, idle])
    order = np.argsort(rows, kind="stable")
    return rows[order], points[order]


def _fresh_bound(
    log_density: LogDensity, laplace: Laplace, mean: Array, factor: Array, eta: Array
) -> Gaussians:
    """The bound, the part of Laplace's parabola known, the rest by antithetic samples."""
    R, H = mean.shape
    signs = np.concatenate([eta, -eta])
    theta = mean[:, None] + np.einsum("rhj,sj->rsh", factor, signs)
    owners = np.repeat(np.arange(R), len(signs))
    value, _ = log_density(owners, theta.reshape(-1, H))
    pairs = _pair_means(value.reshape(R, -1))
    known = _pair_means(_parabola(laplace, theta))
    covariance = factor @ np.swapaxes(factor, 1, 2)
    expected = _parabola(laplace, mean[:, None])[:, 0]
    expected -= 0.5 * np.einsum("rhj,rhj->r", laplace.precision, covariance)
    share = _regression(pairs, known)
    rest = pairs - share[:, None] * known
    elbo = rest.mean(axis=1) + share * expected + entropy(factor, laplace.used)
    return Gaussians(mean, factor, elbo, rest.std(axis=1, ddof=1) / np.sqrt(len(eta)))


def _pair_means(values: Array) -> Array:
    """Means over the pairs ±η, which are the two halves of a row: [R, S] to [R, S/2]."""
    half = values.shape[1] // 2
    return np.asarray(0.5 * (values[:, :half] + values[:, half:]))


def _regression(values: Array, known: Array) -> Array:
    """How much of what is known to take off so that the rest varies least: [R]."""
    from_mean = known - known.mean(axis=1, keepdims=True)
    squares = (from_mean**2).sum(axis=1)
    products = (from_mean * values).sum(axis=1)
    return np.asarray(np.divide(products, squares, out=np.ones_like(squares), where=squares > 0))


def _parabola(laplace: Laplace, theta: Array) -> Array:
    """−½(θ−θ̂)ᵀΛ(θ−θ̂) over used entries: [R, S]."""
    distance = (theta - laplace.mean[:, None]) * laplace.used[:, None]
    return np.asarray(-0.5 * np.einsum("rsh,rhj,rsj->rs", distance, laplace.precision, distance))


def entropy(factor: Array, used: Mask) -> Array:
    """½ log|2πe CCᵀ| over used entries: [R]."""
    eye = np.eye(factor.shape[1])
    squares = np.where(used[:, :, None] & used[:, None, :], factor @ factor.swapaxes(1, 2), eye)
    log_det = np.linalg.slogdet(squares)[1]
    return np.asarray(0.5 * (used.sum(axis=1) * np.log(2 * np.pi * np.e) + log_det))
