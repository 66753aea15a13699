"""Posteriors of the function for many components at once, a component being a fit at one θ.

All bounds have one form. With A = L⁻¹k(Z, x), the mean is Aᵀm and the covariance is
k(x, x') − Aᵀ(I − S)A'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Mask, Rows
from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.data.warps import Warp
from vbks.kernels.gpflow.bank import bank_of
from vbks.predict.posteriors.samples import Component

BLOCK = 512
"""This many rows, of data or new, are worked on together: enough that overheads are small."""

ELEMENTS_AT_ONCE = 2_000_000
"""Kernel matrices that are computed together have at most this many numbers. There are about six
arrays of this size at once, 100 MB; where one component alone is larger, components come one at a
time."""

Data: TypeAlias = Mapping[Warp, TrainingData]
"""The same rows under each warp of their targets."""


class ComponentKernels:
    """The kernels of R components, each at its θ, evaluated by a bank or what is like one."""

    def __init__(
        self, components: Sequence[Component], make_bank: Callable[..., Any] = bank_of
    ) -> None:
        fit = components[0].fit
        self.components = tuple(components)
        expressions = [component.fit.expression for component in components]
        self.bank = make_bank(expressions, fit.num_inputs, ard=fit.ard)
        self._theta = np.zeros((len(components), self.bank.num_slots))
        for row, component in zip(self._theta, components, strict=True):
            row[: len(component.theta)] = component.theta

    def __len__(self) -> int:
        return len(self.components)

    def __call__(self, X1: Array | tf.Tensor, X2: Array | tf.Tensor | None = None) -> tf.Tensor:
        """Kernel matrices without noise: [R, n1, n2]."""
        return self.bank(self._theta, X1, X2)

    def diag(self, X: Array | tf.Tensor) -> tf.Tensor:
        """Diagonals of the kernel matrices without noise: [R, N]."""
        return self.bank.diag(self._theta, X)

    def noise(self, X: Array | tf.Tensor) -> tf.Tensor:
        """Variances of Gaussian noise, from the likelihood and from white noise: [R, N]."""
        return self.bank.noise(self._theta, X)

    @property
    def jitter(self) -> tf.Tensor:
        """What fits have added to diagonals before these were factorised: [R, 1]."""
        return as_tensor(np.array([[component.fit.jitter] for component in self.components]))

    @property
    def parameters(self) -> Array:
        """The parameter of the likelihood, which is the variance of Gaussian noise: [R]."""
        return np.asarray(np.exp(self._theta[:, 0]))


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Posteriors of the function for R components with the same data, bound and inducing inputs.

    Exact fits have all rows as Z, the covariance of y as LLᵀ, and S = 0. Others have LLᵀ = Kuu
    and q(v) = N(m, S) for the whitened values v of the function at Z. Inputs are standardised, and
    so is what comes out.
    """

    kernels: ComponentKernels
    data: TrainingData
    Z: tf.Tensor
    """[M, D]."""
    L: tf.Tensor
    """[R, M, M]."""
    m: tf.Tensor
    """[R, M]."""
    W: tf.Tensor | None
    """A root of S = WᵀW: [R, M, M]."""
    weights: Array
    """Shares of the components in the mixture: [R]."""

    def __len__(self) -> int:
        return len(self.kernels)

    @property
    def units(self) -> Units:
        """The units of the data."""
        return self.data.units

    @property
    def members(self) -> Rows:
        """The place among the members that each component comes from: [R]."""
        return np.array([component.member for component in self.kernels.components])

    @property
    def is_finite(self) -> Mask:
        """Which components have a posterior: their matrices could be factorised."""
        sums = tf.reduce_sum(self.m, -1) + tf.linalg.trace(self.L)
        return np.asarray(np.isfinite(sums.numpy()))

    def marginals(self, X: Array) -> tuple[Array, Array]:
        """Means and variances of the function at a block of inputs [N, D]: [R, N] each."""
        mean, variance = self.marginal_tensors(X)
        return mean.numpy(), variance.numpy()

    def marginal_tensors(self, X: Array | tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The same as tensors, which may be those of a graph."""
        L, m, W, Z = self._tensors()
        mean, variance = _marginals(L, m, W, self.kernels(Z, X), self.kernels.diag(X))
        return mean, variance

    def joint(self, X: Array) -> tuple[Array, Array]:
        """Means [R, N] and covariances [R, N, N] of the function."""
        mean, covariance = self.joint_tensors(X)
        return mean.numpy(), covariance.numpy()

    def joint_tensors(self, X: Array | tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The same as tensors, which may be those of a graph."""
        L, m, W, Z = self._tensors()
        mean, covariance = _joint(L, m, W, self.kernels(Z, X), self.kernels(X))
        return mean, covariance

    def _tensors(self) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor | None, tf.Tensor]:
        """L, m, W and Z, which may be variables."""
        L, m, Z = (tf.convert_to_tensor(values) for values in (self.L, self.m, self.Z))
        return L, m, None if self.W is None else tf.convert_to_tensor(self.W), Z

    def noise(self, X: Array) -> Array:
        """Variances of Gaussian noise: [R, N].

        The jitter of an exact fit is on the diagonal of the covariance of y, so it is noise.
        """
        return np.asarray(self.noise_tensor(X))

    def noise_tensor(self, X: Array | tf.Tensor) -> tf.Tensor:
        """The same as a tensor, which may be one of a graph."""
        noise = self.kernels.noise(X)
        return noise + self.kernels.jitter if self.W is None else noise

    def take(self, places: Rows) -> Posteriors:
        """Some of the components."""
        kernels = ComponentKernels([self.kernels.components[place] for place in places])
        L, m = tf.gather(self.L, places), tf.gather(self.m, places)
        W = None if self.W is None else tf.gather(self.W, places)
        return Posteriors(kernels, self.data, self.Z, L, m, W, self.weights[places])

    def in_pieces(self, size: int) -> Iterator[Posteriors]:
        """The components, up to ``size`` at a time."""
        if len(self) <= size:
            yield self
            return
        for start in range(0, len(self), size):
            yield self.take(np.arange(start, min(start + size, len(self))))

    def reweighted(self, factors: Array) -> Posteriors:
        """The same with weights times factors [R]."""
        return replace(self, weights=self.weights * factors)


def blocks_with_noise(data: TrainingData) -> Iterator[tuple[Array, Array, Array | None]]:
    """All rows, a block at a time, with what is known of their noise: [N, D], [N] and [N]."""
    known, start = data.known_noise, 0
    for X, y in data.blocks(BLOCK):
        yield X, y, None if known is None else known[start : start + len(y)]
        start += len(y)


def with_known(noise: tf.Tensor, known: Array | None) -> tf.Tensor:
    """Learned noise [R, N] and what is known of it [N], if anything is."""
    return noise if known is None else noise + known


def as_tensor(values: Array) -> tf.Tensor:
    """The tensor of an array, in GPflow's precision."""
    return tf.constant(values, gpflow.default_float())


def compiled(function: Callable[..., Any]) -> Any:
    """A graph of a function, which serves arrays of any size once it has seen two."""
    return tf.function(function, autograph=False, reduce_retracing=True)


@compiled
def _marginals(
    L: tf.Tensor, m: tf.Tensor, W: tf.Tensor | None, cross: tf.Tensor, diagonal: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    A = tf.linalg.triangular_solve(L, cross)
    variance = diagonal - tf.reduce_sum(tf.square(A), axis=-2)
    if W is not None:
        variance += tf.reduce_sum(tf.square(tf.linalg.matmul(W, A)), axis=-2)
    return tf.linalg.matvec(A, m, transpose_a=True), tf.maximum(variance, 0.0)


@compiled
def _joint(
    L: tf.Tensor, m: tf.Tensor, W: tf.Tensor | None, cross: tf.Tensor, K: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    A = tf.linalg.triangular_solve(L, cross)
    covariance = K - tf.linalg.matmul(A, A, transpose_a=True)
    if W is not None:
        WA = tf.linalg.matmul(W, A)
        covariance += tf.linalg.matmul(WA, WA, transpose_a=True)
    return tf.linalg.matvec(A, m, transpose_a=True), covariance
