"""Bounds of the log evidence from both sides, for one kernel at one θ (SKC, section 3).

Of log p(y) = −½ log det(K + noise) − ½ yᵀ(K + noise)⁻¹y − N/2 log 2π, the determinant is bounded
from above by that of the Nyström approximation, and the quadratic form by its dual at any α, which
conjugate gradients bring close to the best. Memory is O(N·block) and time O(N²) for each step. The
bounds hold at that θ: they do not say that another would not do better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gpflow.kernels import Kernel

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.grammar.expression import Expression
from vbks.inference.bounds.conjugate_gradients import conjugate_gradients
from vbks.inference.bounds.covariance import (
    Covariance,
    ExpressionCovariance,
    KernelCovariance,
    as_array,
    as_inputs,
)
from vbks.inference.bounds.kernel_products import BYTES, MEMORY, KernelMatrix
from vbks.inference.bounds.preconditioners import (
    JITTER,
    InducingPart,
    Preconditioner,
    inducing_part,
    preconditioner_of,
)
from vbks.inference.objectives.evidence import LOG_TWO_PI

MAX_STEPS = 100
"""Steps of conjugate gradients at most. With enough inducing inputs a few are taken; where there
are too few, more steps help the quadratic form but not the determinant."""

TOLERANCE = 0.05
"""Nats that further steps could gain when they end: no comparison of kernels hangs on a twentieth
of a nat."""

FACTORS = 5
"""Arrays of M × N numbers that inducing inputs take at once, with the copies that solvers make, and
which leave less memory for blocks of K."""

LEAST_SHARE = 0.25
"""Share of the memory that blocks of K have, however many inducing inputs there are."""


@dataclass(frozen=True)
class Bounds:
    """An interval that holds the log evidence, in nats, and how it came about.

    Slacks are upper limits: the evidence itself is not known, but what each part can be off is.
    """

    lower: float
    """Titsias' collapsed bound."""
    upper: float
    log_det: float
    """An upper bound of −½ log det(K + noise)."""
    quadratic: float
    """An upper bound of −½ yᵀ(K + noise)⁻¹y."""
    log_det_slack: float
    """How far ``log_det`` is too high at most: ½ tr((K − Q)/noise)."""
    quadratic_slack: float
    """How far ``quadratic`` is too high at most: ½ rᵀ(Q + noise)⁻¹r for the residual r."""
    num_steps: int
    """Steps of conjugate gradients."""
    converged: bool
    """Whether further steps would gain no more than the tolerance."""

    @property
    def gap(self) -> float:
        """The length of the interval."""
        return self.upper - self.lower

    @property
    def lower_slack(self) -> float:
        """How far the lower bound is below the log evidence at most."""
        return self.gap

    @property
    def upper_slack(self) -> float:
        """How far the upper bound is above the log evidence at most.

        After some steps this is often less than the gap, and ``upper - upper_slack`` is then a
        better lower bound than the collapsed one.
        """
        return min(self.gap, self.log_det_slack + self.quadratic_slack)


def sandwich(
    kernel: Kernel | Covariance,
    X: Array,
    y: Array,
    noise_variance: float | Array,
    Z: Array,
    *,
    preconditioner: Preconditioner | None = "nystrom",
    max_steps: int = MAX_STEPS,
    tolerance: float = TOLERANCE,
    share: float = 0.0,
    jitter: float = JITTER,
    memory: int = MEMORY,
    devices: Sequence[str] | None = None,
) -> Bounds:
    """Bounds of log N(y | 0, K + noise) for rows X [N, D], y [N], with inducing inputs Z [M, D].

    The noise variance is one number or one for each row, to which white noise of the kernel is
    added. The bounds hold for any inducing inputs, jitter and number of steps, and meet when Z is X
    and steps have converged. Steps end when they could gain no more than the tolerance, or than a
    ``share`` of what the determinant may be off, which they do not help. ``memory`` is in bytes, as
    much as blocks of K may take; blocks are shared by ``devices``, such as "/GPU:0".
    """
    covariance = KernelCovariance(kernel) if isinstance(kernel, Kernel) else kernel
    X, y, Z = (np.asarray(a, np.float64) for a in (X, y, Z))
    _check_data(X, y, Z)
    noise = _total_noise(covariance, X, np.asarray(noise_variance, np.float64))
    part = inducing_part(covariance, X, noise, Z, jitter)
    tolerance = max(tolerance, share * part.log_det_slack)
    K = KernelMatrix(covariance, X, _memory_for_blocks(memory, part), devices)
    alpha, num_steps = conjugate_gradients(
        lambda v: K @ v + noise * v,
        y,
        preconditioner_of(part, preconditioner),
        lambda residual: 0.5 * part.nystrom.quadratic(residual),
        tolerance,
        max_steps,
    )
    turned = K @ alpha + noise * alpha if num_steps else np.zeros_like(y)
    return _bounds(part, y, alpha, turned, num_steps, tolerance)


def sandwich_of(
    expression: Expression | str,
    theta: Array,
    X: Array,
    y: Array,
    Z: Array,
    *,
    ard: bool = True,
    **settings: Any,
) -> Bounds:
    """Bounds for an expression at θ [H], which holds the noise; settings as for `sandwich`."""
    covariance = ExpressionCovariance(expression, theta, np.shape(X)[1], ard=ard)
    return sandwich(covariance, X, y, 0.0, Z, **settings)


def quadratic_bound(product: Callable[[Array], Array], y: Array, alpha: Array) -> float:
    """½ αᵀCα − αᵀy, which is at least −½ yᵀC⁻¹y for any α (SKC eq. 4)."""
    return float(alpha @ (0.5 * product(alpha) - y))


def _bounds(
    part: InducingPart, y: Array, alpha: Array, turned: Array, num_steps: int, tolerance: float
) -> Bounds:
    """Bounds from α and from (K + noise)α, computed afresh where steps have added up rounding."""
    constant = -0.5 * len(y) * LOG_TWO_PI
    log_det = -0.5 * part.nystrom.log_det
    quadratic = quadratic_bound(lambda _: turned, y, alpha)
    quadratic_slack = 0.5 * part.nystrom.quadratic(y - turned)
    return Bounds(
        lower=constant + log_det - part.log_det_slack - 0.5 * part.nystrom.quadratic(y),
        upper=constant + log_det + quadratic,
        log_det=log_det,
        quadratic=quadratic,
        log_det_slack=part.log_det_slack,
        quadratic_slack=quadratic_slack,
        num_steps=num_steps,
        converged=quadratic_slack <= tolerance,
    )


def _memory_for_blocks(memory: int, part: InducingPart) -> int:
    return int(max(memory - FACTORS * BYTES * part.A.size, LEAST_SHARE * memory))


def _total_noise(covariance: Covariance, X: Array, given: Array) -> Array:
    """Noise variances with the white noise of the kernel: [N]."""
    if given.shape not in ((), (len(X),)):
        raise DataError(
            f"the noise variance must be one number or one for each of {len(X)} rows, got shape "
            f"{given.shape}."
        )
    noise = given + as_array(covariance.noise(as_inputs(X)))
    if not np.all((noise > 0.0) & np.isfinite(noise)):
        raise DataError(
            f"noise variances must be positive and finite, the least is {noise.min():.3g}. Give "
            "every row some noise."
        )
    return np.asarray(noise)


def _check_data(X: Array, y: Array, Z: Array) -> None:
    if X.ndim != 2 or Z.ndim != 2 or X.shape[1] != Z.shape[1] or y.shape != X.shape[:1]:
        raise DataError(
            "X must be [N, D], y [N] and Z [M, D], "
            f"got {X.shape}, {y.shape} and {Z.shape}. Give one target for each row."
        )
    if not (len(X) and len(Z)):
        raise DataError(f"there are {len(X)} rows and {len(Z)} inducing inputs. Give one at least.")
    for name, values in (("X", X), ("y", y), ("Z", Z)):
        if not np.all(np.isfinite(values)):
            raise DataError(f"{name} has values that are not finite. Drop or fill them first.")
