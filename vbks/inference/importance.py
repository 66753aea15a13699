"""Log evidences by adaptive importance sampling, with q(θ) as the first proposal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from vbks.arrays import Array, Mask, Rows

ITERATIONS = (4, 8)
"""Times that samples are drawn, at least and at most; after each, the proposal is fitted to all
samples so far ..."""

ENOUGH = 0.1
"""... until the standard error is below this, in nats: evidences that differ by less are alike."""

SHARES = {1.0: 0.5, 2.0: 0.3}
"""Shares of the first proposal by the factor on the width of q(θ); what is left is the prior's,
which finds modes that no start has found."""

FREEDOM = 5.0
"""Degrees of freedom of the Student-t components: their tails are wider than the posterior's."""

LEAST_SHARE = 0.02
"""Every component keeps this share, so that none is lost by chance."""

CAUTION = 2.0
"""Effective samples for each dimension at which a component moves half of the way to them."""

LogDensities = Callable[[Rows, Array], Array]
"""``log_densities(rows, theta)`` is log p(y, θ) [r] at θ [r, H] of rows in ascending order."""


@dataclass(frozen=True)
class Estimate:
    """A log evidence, its standard error, and how many independent samples it is worth."""

    log_evidence: float
    standard_error: float
    effective_samples: float


@dataclass(frozen=True, eq=False)
class StudentMixture:
    """A mixture of Student-t distributions: shares [R], means [R, d], lower factors [R, d, d]."""

    shares: Array
    means: Array
    factors: Array

    def draw(self, num: int, rng: np.random.Generator) -> Array:
        """Samples [n, d], as many of each component as its share says."""
        strata = (np.arange(num) + rng.random()) / num
        places = np.searchsorted(np.cumsum(self.shares)[:-1], strata)
        scale = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, size=num))
        steps = rng.standard_normal((num, self.means.shape[1])) * scale[:, np.newaxis]
        return np.asarray(self.means[places] + np.einsum("nij,nj->ni", self.factors[places], steps))

    def log_density(self, x: Array) -> Array:
        """log q(x) at [n, d]: [n]."""
        return np.asarray(logsumexp(self._log_parts(x)[0], axis=0))

    def fitted_to(self, x: Array, weights: Array) -> StudentMixture:
        """One step of EM to samples [n, d] of weights [n], as far as there are enough of them."""
        log_parts, squares = self._log_parts(x)
        owners = np.exp(log_parts - logsumexp(log_parts, axis=0)) * weights
        d = x.shape[1]
        means, factors = self.means.copy(), self.factors.copy()
        for k, own in enumerate(owners):
            total = own.sum()
            if not total > 0.0:
                continue
            effective = total**2 / (own**2).sum()
            trust = effective / (effective + CAUTION * d)
            pulls = own * (FREEDOM + d) / (FREEDOM + squares[k])
            mean = trust * (pulls @ x) / pulls.sum() + (1.0 - trust) * self.means[k]
            steps = x - mean
            old = self.factors[k] @ self.factors[k].T
            covariance = trust * (steps.T * pulls) @ steps / total + (1.0 - trust) * old
            means[k], factors[k] = mean, np.linalg.cholesky(covariance)
        shares = owners.sum(axis=1) + LEAST_SHARE * weights.sum()
        return StudentMixture(shares / shares.sum(), means, factors)

    def _log_parts(self, x: Array) -> tuple[Array, Array]:
        """Log densities of the components with their shares, and squared distances: [R, n]."""
        d = x.shape[1]
        steps = x - self.means[:, np.newaxis]
        whitened = np.linalg.solve(self.factors, np.swapaxes(steps, 1, 2))
        squares = np.einsum("rdn,rdn->rn", whitened, whitened)
        log_scale = np.log(np.einsum("rdd->rd", self.factors)).sum(axis=1)
        norm = gammaln(0.5 * (FREEDOM + d)) - gammaln(0.5 * FREEDOM)
        norm = norm - 0.5 * d * np.log(FREEDOM * np.pi) - log_scale + np.log(self.shares)
        tails = 0.5 * (FREEDOM + d) * np.log1p(squares / FREEDOM)
        return norm[:, np.newaxis] - tails, squares


@dataclass(frozen=True, eq=False)
class Target:
    """The posterior of one candidate: its q(θ) as a first guess, and its prior.

    Means [R, H] and factors [R, H, H] are those of the modes; ``used`` [H] are the entries of θ
    that are to be learned, ``centre`` [H] and ``sd`` [H] those of the prior.
    """

    means: Array
    factors: Array
    used: Mask
    centre: Array
    sd: Array

    def proposal(self) -> StudentMixture:
        """q(θ) as it is, q(θ) wider, and the prior, over the entries that are used."""
        used, num = self.used, len(self.means)
        square = np.ix_(np.arange(num), used, used)
        covariances = self.factors[square] @ np.swapaxes(self.factors[square], 1, 2)
        roots = np.linalg.cholesky(covariances)
        wide = [factor * roots for factor in SHARES]
        shares = [np.full(num, share / num) for share in SHARES.values()]
        return StudentMixture(
            np.concatenate([*shares, [1.0 - sum(SHARES.values())]]),
            np.concatenate([*[self.means[:, used]] * len(SHARES), self.centre[used][np.newaxis]]),
            np.concatenate([*wide, np.diag(self.sd[used])[np.newaxis]]),
        )


def estimate_evidences(
    targets: Sequence[Target],
    log_densities: LogDensities,
    rngs: Sequence[np.random.Generator],
    num_samples: int,
) -> list[Estimate | None]:
    """log ∫ p(y, θ) dθ of every target, from ``num_samples`` of θ for each at most.

    Samples of all iterations count together, each weighted by the mean of all proposals (AMIS,
    Cornuet et al., 2012). A target whose covariance is singular has no estimate.
    """
    runs = [_begin(target, rng) for target, rng in zip(targets, rngs, strict=True)]
    going = [k for k, run in enumerate(runs) if run is not None]
    least, most = ITERATIONS
    num = max(1, num_samples // most)
    for iteration in range(1, most + 1):
        if not going:
            break
        theta = np.concatenate([_drawn(runs[k], num) for k in going])
        values = log_densities(np.repeat(going, num), theta).reshape(len(going), num)
        for k, own in zip(going, values, strict=True):
            _absorb(runs[k], own)
        if iteration >= least:
            going = [k for k in going if not _is_known(runs[k])]
    return [None if run is None else run.estimate() for run in runs]


@dataclass(eq=False)
class _Run:
    """The samples of one target so far, and the proposals that they came from."""

    target: Target
    rng: np.random.Generator
    proposals: list[StudentMixture]
    samples: list[Array]
    values: list[Array]

    def log_weights(self) -> tuple[Array, Array]:
        """All samples [n, d] and log p(y, θ) − log q(θ), q being the mean of all proposals: [n]."""
        x = np.concatenate(self.samples)
        log_q = logsumexp([q.log_density(x) for q in self.proposals], axis=0)
        log_weights = np.concatenate(self.values) - log_q + np.log(len(self.proposals))
        return x, np.where(np.isfinite(log_weights), log_weights, -np.inf)

    def estimate(self) -> Estimate | None:
        """The log of the mean weight, and its error from how weights vary."""
        _, log_weights = self.log_weights()
        highest = log_weights.max()
        if not np.isfinite(highest):
            return None
        weights = np.exp(log_weights - highest)
        mean = weights.mean()
        return Estimate(
            float(highest + np.log(mean)),
            float(weights.std() / mean / np.sqrt(len(weights))),
            float(weights.sum() ** 2 / (weights**2).sum()),
        )


def _begin(target: Target, rng: np.random.Generator) -> _Run | None:
    try:
        return _Run(target, rng, [target.proposal()], [], [])
    except np.linalg.LinAlgError:
        return None


def _drawn(run: _Run | None, num: int) -> Array:
    """New samples of θ [n, H] from the last proposal."""
    assert run is not None
    if run.values:
        run.proposals.append(_next_proposal(run))
    x = run.proposals[-1].draw(num, run.rng)
    run.samples.append(x)
    theta = np.repeat(run.target.centre[np.newaxis], num, axis=0)
    theta[:, run.target.used] = x
    if not run.target.used.all():
        theta[:, ~run.target.used] = run.target.means[0, ~run.target.used]
    return theta


def _absorb(run: _Run | None, values: Array) -> None:
    """Take in the log densities of the samples."""
    assert run is not None
    run.values.append(values)


def _is_known(run: _Run | None) -> bool:
    assert run is not None
    estimate = run.estimate()
    return estimate is not None and estimate.standard_error < ENOUGH


def _next_proposal(run: _Run) -> StudentMixture:
    """The last proposal, fitted to all samples so far."""
    last = run.proposals[-1]
    x, log_weights = run.log_weights()
    if not np.isfinite(log_weights.max()):
        return last
    weights = np.exp(log_weights - log_weights.max())
    # Without a limit a single lucky sample would draw all components to itself.
    weights = np.minimum(weights, weights.mean() * np.sqrt(len(weights)))
    try:
        return last.fitted_to(x, weights / weights.sum())
    except np.linalg.LinAlgError:
        return last
