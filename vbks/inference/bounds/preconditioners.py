"""Matrices close to K + noise that are cheap to solve: Nyström, FIC and PIC.

All are Q + Λ with Q = Kfu Kuu⁻¹ Kuf, where Λ holds the noise and what Q lacks of K on the diagonal
(FIC) or in blocks of it (PIC).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from vbks.arrays import Array, Rows
from vbks.errors import DataError
from vbks.inference.bounds.covariance import Covariance, as_array, as_inputs
from vbks.inference.bounds.kernel_products import cross_covariance

Preconditioner = Literal["nystrom", "fic", "pic"]
"""Which of the three. The paper prefers FIC and PIC; on 400 rows with SE, RQ and SE * PER + LIN, 9
or 20 inducing inputs and noise of 0.01 or 0.1, Nyström took the fewest steps in 11 of 12 cases."""

JITTER = 1e-8
"""What is added to the diagonal of Kuu, as by the collapsed bound that fits maximise."""

LEAST_JITTER = 1e-12
"""Jitter, as a share of the mean variance, from which it grows where none was given."""

MORE_JITTER = 10
"""How often jitter is made ten times larger before a matrix is given up."""

LEAST_CLUSTER = 32
"""Rows in a block of PIC at least: smaller ones cost more calls than they save steps."""


class Root(Protocol):
    """F with Λ = F Fᵀ, which is solved for vectors [N] and for columns [N, M]."""

    @property
    def log_det(self) -> float:
        """log det Λ."""
        ...

    def solve(self, v: Array) -> Array:
        """F⁻¹v."""
        ...

    def solve_transposed(self, v: Array) -> Array:
        """F⁻ᵀv."""
        ...


class DiagonalRoot:
    """The root of a diagonal Λ [N]."""

    def __init__(self, diagonal: Array) -> None:
        self._root = np.sqrt(diagonal)

    @property
    def log_det(self) -> float:
        """log det Λ."""
        return 2.0 * float(np.sum(np.log(self._root)))

    def solve(self, v: Array) -> Array:
        """F⁻¹v."""
        return np.asarray((v.T / self._root).T)

    solve_transposed = solve


class BlockRoot:
    """The root of a Λ that is zero but for the blocks of disjoint groups of rows."""

    def __init__(self, groups: Sequence[Rows], blocks: Sequence[Array]) -> None:
        self._groups = groups
        self._factors = [factorise(block, 0.0) for block in blocks]

    @property
    def log_det(self) -> float:
        """log det Λ."""
        return 2.0 * float(sum(np.sum(np.log(np.diag(factor))) for factor in self._factors))

    def solve(self, v: Array) -> Array:
        """F⁻¹v."""
        return self._solved(v, transposed=False)

    def solve_transposed(self, v: Array) -> Array:
        """F⁻ᵀv."""
        return self._solved(v, transposed=True)

    def _solved(self, v: Array, transposed: bool) -> Array:
        solved = np.empty_like(v)
        for rows, factor in zip(self._groups, self._factors, strict=True):
            solved[rows] = _solve_lower(factor, v[rows], transposed)
        return solved


class LowRankPlus:
    """AᵀA + Λ for A [M, N] and Λ = F Fᵀ, by (AᵀA + Λ)⁻¹ = F⁻ᵀ(I − WᵀW)F⁻¹.

    W = R⁻¹AF⁻ᵀ with RRᵀ = I + AΛ⁻¹Aᵀ, which is Woodbury's lemma.
    """

    def __init__(self, A: Array, root: Root) -> None:
        scaled = root.solve(A.T).T
        R = cholesky(np.eye(len(A)) + scaled @ scaled.T, lower=True, check_finite=False)
        self._root = root
        self._W = _solve_lower(R, scaled)
        self.log_det = root.log_det + 2.0 * float(np.sum(np.log(np.diag(R))))

    def solve(self, v: Array) -> Array:
        """(AᵀA + Λ)⁻¹v for a vector [N]."""
        u = self._root.solve(v)
        return self._root.solve_transposed(u - (self._W @ u) @ self._W)

    def quadratic(self, v: Array) -> float:
        """vᵀ(AᵀA + Λ)⁻¹v."""
        u = self._root.solve(v)
        return float(u @ u - np.sum(np.square(self._W @ u)))


@dataclass(frozen=True, eq=False)
class InducingPart:
    """What inducing inputs say of rows X [N, D] with noise [N]: Q = AᵀA, A = L⁻¹Kuf [M, N].

    Jitter makes Q smaller, never larger, so that Q ≤ K whatever it is.
    """

    covariance: Covariance
    X: Array
    noise: Array
    A: Array

    @cached_property
    def unexplained(self) -> Array:
        """The diagonal of K − Q, which is not negative: [N]."""
        diagonal = as_array(self.covariance.diagonal(as_inputs(self.X)))
        explained = np.einsum("mn,mn->n", self.A, self.A)
        return np.asarray(np.maximum(diagonal - explained, 0.0))

    @property
    def log_det_slack(self) -> float:
        """How far −½ log det(Q + noise) is above that of K at most: ½ tr((K − Q)/noise)."""
        return 0.5 * float(np.sum(self.unexplained / self.noise))

    @cached_property
    def nystrom(self) -> LowRankPlus:
        """Q + noise, at most K + noise."""
        return LowRankPlus(self.A, DiagonalRoot(self.noise))

    @cached_property
    def fic(self) -> LowRankPlus:
        """Q + noise with the diagonal of K."""
        return LowRankPlus(self.A, DiagonalRoot(self.noise + self.unexplained))

    @cached_property
    def pic(self) -> LowRankPlus:
        """Q + noise with K in blocks of about M rows that lie together."""
        groups = clusters(self.X, max(len(self.A), LEAST_CLUSTER))
        blocks = [self._unexplained_block(rows) for rows in groups]
        return LowRankPlus(self.A, BlockRoot(groups, blocks))

    def _unexplained_block(self, rows: Rows) -> Array:
        inputs = as_inputs(self.X[rows])
        block = as_array(self.covariance.matrix(inputs, inputs))
        explained = self.A[:, rows].T @ self.A[:, rows]
        return np.asarray(block - explained + np.diag(self.noise[rows]))


PRECONDITIONERS: dict[str, Callable[[InducingPart], LowRankPlus]] = {
    "nystrom": lambda part: part.nystrom,
    "fic": lambda part: part.fic,
    "pic": lambda part: part.pic,
}


def inducing_part(
    covariance: Covariance, X: Array, noise: Array, Z: Array, jitter: float = JITTER
) -> InducingPart:
    """What inducing inputs Z [M, D] say of rows, with jitter on the diagonal of Kuu."""
    L = factorise(cross_covariance(covariance, Z, Z), jitter)
    Kuf = cross_covariance(covariance, Z, X)
    _check_finite(Kuf)
    return InducingPart(covariance, X, noise, _solve_lower(L, Kuf))


def preconditioner_of(part: InducingPart, name: Preconditioner | None) -> Callable[[Array], Array]:
    """How residuals are turned into directions; without a name they are directions themselves."""
    if name is None:
        return np.copy
    if name not in PRECONDITIONERS:
        known = ", ".join(sorted(PRECONDITIONERS))
        raise DataError(f"unknown preconditioner {name!r}. Known: {known}; or None for none.")
    return PRECONDITIONERS[name](part).solve


def factorise(matrix: Array, jitter: float) -> Array:
    """The lower Cholesky factor with jitter on the diagonal, or with more where there is none."""
    _check_finite(matrix)
    more = max(jitter, LEAST_JITTER * float(np.mean(np.diag(matrix))))
    for extra in (jitter, *(more * 10.0**k for k in range(1, MORE_JITTER + 1))):
        try:
            return np.asarray(cholesky(matrix + extra * np.eye(len(matrix)), lower=True))
        except LinAlgError:
            continue
    raise DataError(
        f"a kernel matrix of {len(matrix)} rows is not positive definite even with {extra:.1g} on "
        "its diagonal. Check that the kernel is one."
    )


def _check_finite(matrix: Array) -> None:
    if not np.all(np.isfinite(matrix)):
        raise DataError("the kernel has values that are not finite. Check inputs and parameters.")


def clusters(X: Array, size: int) -> list[Rows]:
    """Rows that lie together, about ``size`` in each: halves along the widest input, repeatedly."""
    return _halved(X, np.arange(len(X)), max(1, round(len(X) / size)))


def _halved(X: Array, rows: Rows, num: int) -> list[Rows]:
    if num == 1:
        return [rows]
    widest = int(np.argmax(np.ptp(X[rows], axis=0)))
    ordered = rows[np.argsort(X[rows, widest], kind="stable")]
    half = num // 2
    cut = len(rows) * half // num
    return [*_halved(X, ordered[:cut], half), *_halved(X, ordered[cut:], num - half)]


def _solve_lower(factor: Array, v: Array, transposed: bool = False) -> Array:
    solved: Array = solve_triangular(
        factor, v, lower=True, trans="T" if transposed else "N", check_finite=False
    )
    return solved
