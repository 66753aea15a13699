"""The bound of the VBKS layer and its gradient, for a Gaussian q(g)."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array
from vbks.weights.free_form import lift
from vbks.weights.policy import LayerPolicy


class Objective:
    """E[softmax(g)·ℓ] − KL(q(g)‖p(g)) in coordinates x = (ν, log diagonal of D, D below it).

    With p(g) = N(μ, FFᵀ) and g = μ + F(ν + Dη), η ~ N(0, I), the prior is at ν = 0, D = I. D is
    lower triangular, with candidates in the order of their strength, and has entries below its
    diagonal in the columns of the `LayerPolicy.coupled` first ones. F is a matrix or the diagonal
    of one.
    """

    def __init__(
        self,
        gains: Array,
        prior_mean: Array,
        prior_root: Array,
        policy: LayerPolicy | None = None,
    ) -> None:
        self.gains, self.prior_mean, self.prior_root = gains, prior_mean, prior_root
        self.policy = policy = policy or LayerPolicy()
        self.size = len(gains)
        self.num_columns = min(self.size, policy.coupled)
        sd = prior_root if prior_root.ndim == 1 else np.linalg.norm(prior_root, axis=1)
        self.widest = float(sd.max())
        self.sharpness = min(1.0, policy.widest_sd / self.widest)

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
