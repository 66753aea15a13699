"""What is known of one candidate after fitting: plain values that cross processes and disks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from vbks.arrays import Array
from vbks.data.warps import Identity, Warp
from vbks.errors import DataError
from vbks.grammar.expression import Expression

Bound = Literal["exact", "collapsed", "stochastic"]
"""How the function is integrated out: exactly, by Titsias' bound, or by q(u) on minibatches."""

Posterior = Literal["full", "diagonal", "laplace", "point"]
"""The covariance of q(θ): that of the best bound, full or diagonal, Laplace's, or none."""

Ascent = Literal["natural", "plain"]
"""How stochastic fits go on: by natural gradients and Newton's steps, or plain gradient ascent."""

Status = Literal["fitted", "dropped", "failed"]
"""Dropped: pruned before it was fitted to the end, with the value it had then."""

Correction = Literal["laplace", "bic", "aic", "aicc", "held_out", "none"]
"""What turns the likelihood at a point into a score: an evidence by Laplace or −½ BIC, Akaike's
criterion, for few rows also, the log density of every row given the others, or nothing."""


EvidenceSource = Literal["importance", "bound", "laplace", "likelihood"]
"""Where a log evidence comes from: importance sampling, a bound with q(θ), Laplace's approximation,
or the likelihood at the best θ so far, of a candidate that was not fitted to the end."""


@dataclass(frozen=True, eq=False)
class Mode:
    """A Gaussian N(mean, factor factorᵀ) of q(θ), and what the data say there.

    ``log_likelihood`` and ``log_prior`` are at the mean, ``log_volume`` is Laplace's ½ log|2πΣ|;
    ``elbo`` is the bound with this Gaussian alone, and NaN for a point.
    """

    mean: Array
    factor: Array
    weight: float
    log_likelihood: float
    log_prior: float
    log_volume: float
    elbo: float = math.nan


@dataclass(frozen=True, eq=False)
class InducingPosterior:
    """q(v) = N(mean, covariance) of whitened values v = L⁻¹u at inducing inputs, L at the mode.

    It goes with the mean of q(θ). At another θ, q(u) stays the same where the bound is over a full
    or diagonal q(θ), which is then independent of it. Otherwise what the rows say about u stays,
    and the prior p(u|θ) changes; or ``samples`` have q(v|θ).
    """

    mean: Array
    covariance: Array
    samples: ConditionalPosteriors | None = None


@dataclass(frozen=True, eq=False)
class ConditionalPosteriors:
    """The best q(v|θ) at samples of q(θ): θ [S, H], means [S, M] and covariances [S, M, M]."""

    theta: Array
    mean: Array
    covariance: Array


@dataclass(frozen=True)
class PruningStep:
    """One decision of pruning: a candidate's value beside the best, and whether it went on."""

    stage: str
    value: float
    best: float
    went_on: bool


@dataclass(frozen=True, eq=False)
class LocalFit:
    """One candidate's posterior of θ and its bound of the log evidence, in standardised units.

    ``elbo`` is the bound L_i with q(θ), KL included, of targets that are warped and standardised;
    of a point estimate, with or without Laplace's Gaussian around it, it is the likelihood there,
    without any correction. ``standard_error`` is what sampling leaves uncertain in it. ``evidence``
    and ``evidence_error`` are log ∫ p(y, θ) dθ by importance sampling, where that was asked for;
    ``theta_samples`` [P, H] are samples of θ from there, each as probable as the others, which are
    nearer to p(θ|y) than q(θ), a Gaussian around each of a few modes.
    ``most_probable`` is the largest share of the belief that a candidate of a search could have had
    if it had been fitted to the end, which it was not. ``upper`` is
    an upper bound of the log likelihood at θ, and ``held_out`` the log density of all rows, each
    given the others, in the user's units; NaN where nobody has asked for them. ``log_jacobian`` is
    what `TrainingData` says of the warp. ``fixed`` are the slots of θ that were held at values that
    the user gave.
    """

    expression: Expression
    num_inputs: int
    num_rows: int
    bound: Bound
    posterior: Posterior
    num_free: int
    status: Status = "fitted"
    reason: str = ""
    elbo: float = -math.inf
    standard_error: float = 0.0
    evidence: float = math.nan
    evidence_error: float = math.nan
    theta_samples: Array | None = None
    most_probable: float = math.nan
    upper: float = math.nan
    held_out: float = math.nan
    modes: tuple[Mode, ...] = ()
    inducing: Array | None = None
    q_u: InducingPosterior | None = None
    jitter: float = 0.0
    ard: bool = True
    converged: bool = False
    restarts: int = 0
    seconds: float = 0.0
    pruning: tuple[PruningStep, ...] = ()
    notices: tuple[str, ...] = ()
    warp: Warp = field(default_factory=Identity)
    log_jacobian: float = 0.0
    fixed: tuple[int, ...] = ()

    @property
    def theta(self) -> Array:
        """The mean of the highest mode of q(θ): [H]."""
        if not self.modes:
            raise DataError(f"'{self.expression}' has no θ: {self.status}, {self.reason}")
        return self.modes[0].mean

    @property
    def is_bounded(self) -> bool:
        """Whether ``elbo`` is a bound of the log evidence, with q(θ) and its KL.

        It is not where a candidate was pruned before it had q(θ).
        """
        return self.posterior in ("full", "diagonal") and self._has_volume

    @property
    def evidence_source(self) -> EvidenceSource:
        """How `log_evidence` was got."""
        if not math.isnan(self.evidence):
            return "importance"
        if self.is_bounded:
            return "bound"
        return "laplace" if self._has_volume else "likelihood"

    @property
    def log_evidence_error(self) -> float:
        """The standard error of `log_evidence` that sampling leaves; zero where nothing was."""
        return self.standard_error if math.isnan(self.evidence) else self.evidence_error

    @property
    def bic(self) -> float:
        """−2 log p(y|θ̂) + p log N, comparable between warps; lower is better."""
        if not self.modes:
            return math.nan
        best = self.modes[0].log_likelihood + self.log_jacobian
        return -2.0 * best + self.num_free * math.log(self.num_rows)

    def log_evidence(self, correction: Correction = "laplace") -> float:
        """log p(y|k) as well as it is known: by importance sampling, the bound, or Laplace.

        Another correction makes a score of a point estimate instead, of which higher is better.

        It is that of standardised targets without a warp, so that fits with different warps of
        the same data can be compared. Held-out densities are as they are.
        """
        if correction == "held_out":
            return self.held_out
        return self._bound(correction) + self.log_jacobian

    def _bound(self, correction: Correction) -> float:
        """The same of the targets that were fitted."""
        if correction == "laplace" and not math.isnan(self.evidence):
            return self.evidence
        if self.is_bounded or not self._has_volume or correction == "none":
            return self.elbo
        if correction in ("bic", "aic", "aicc"):
            return self.elbo - self.penalty(correction)
        terms = [mode.log_likelihood + mode.log_prior + mode.log_volume for mode in self.modes]
        return float(logsumexp(terms))

    def penalty(self, criterion: Literal["bic", "aic", "aicc"] = "bic") -> float:
        """What the free parameters cost by an information criterion, in nats."""
        p, n = self.num_free, self.num_rows
        if criterion == "bic":
            return 0.5 * p * math.log(n)
        if criterion == "aic":
            return float(p)
        return p * n / (n - p - 1) if n > p + 1 else math.inf

    @property
    def _has_volume(self) -> bool:
        """Whether the curvature at the modes is known, which it is not of pruned fits."""
        return bool(self.modes) and not math.isnan(self.modes[0].log_volume)


def weighted(modes: list[Mode], values: list[float]) -> tuple[Mode, ...]:
    """Modes, best first, with the weights that values on a logarithmic scale give them."""
    order = np.argsort(-np.asarray(values))
    total = logsumexp(values)
    return tuple(replace(modes[i], weight=math.exp(values[i] - total)) for i in order)
