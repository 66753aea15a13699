"""Log evidences by adaptive importance sampling, with q(θ) as the first proposal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import gammaln, logsumexp

from vbks.arrays import Array, Mask, Rows


@dataclass(frozen=True)
class ImportancePolicy:
    """What trades time for quality in evidences by importance sampling."""

    min_iterations: int = 2
    """Samples are drawn at least this many times; after each, the proposal is fitted to all samples
    so far."""

    max_iterations: int = 4
    """Samples are drawn at most this many times: more and smaller iterations fit the proposal to
    too few samples, and lose what these have missed."""

    enough: float = 0.05
    """Sampling ends at this standard error in nats: evidences that differ by less are alike."""

    min_at_once: int = 64
    """At least this many samples are drawn at once; with fewer in all there are fewer
    iterations."""

    widths: tuple[tuple[float, float], ...] = ((1.0, 0.3), (2.0, 0.15))
    """Pairs (factor, share): the first proposal has q(θ) wider by a factor with this share."""

    prior_share: float = 0.15
    """The prior has this share of the first proposal: it finds modes that no start has found. What
    this and `widths` leave is shared by q(θ) with all entries of one leaf from the prior: where
    data say little about a leaf, the posterior is as wide as the prior in it, and a Gaussian around
    a mode is not."""

    wider: float = 1.5
    """q(θ) is wider by this factor in components that have one leaf from the prior: the other
    entries have to take its place."""

    freedom: float = 5.0
    """Student-t components have this many degrees of freedom: their tails are wider than the
    posterior's."""

    min_share: float = 0.01
    """Components with a smaller share of the weights are dropped after each iteration, but for the
    prior, which keeps this share."""

    caution: float = 10.0
    """A component moves half of the way to samples that are effectively this many for each
    dimension."""

    found_share: float = 0.3
    """An optimum that the first samples have led to has this share of the second proposal."""

    found_margin: float = 6.0
    """An optimum that samples have led to is used within this many nats of the highest known
    one."""

    kept: int = 256
    """This many samples of θ are kept beside an evidence, all of one weight: the ends of an
    interval are known to a tenth of its width by them."""


DEFAULT = ImportancePolicy()
"""The policy where none is given."""

LogDensities = Callable[[Rows, Array], Array]
"""``log_densities(rows, theta)`` is log p(y, θ) [r] at θ [r, H] of rows in ascending order."""


Optimise = Callable[[Rows, Array], tuple[Array, Array, Array]]
"""``optimise(rows, theta)`` maximises log p(y, θ) from θ [r, H] of some rows: values [r], optima
[r, H] and factors [r, H, H] of the covariances there."""


@dataclass(frozen=True)
class Estimate:
    """A log evidence, its standard error, and how many independent samples it is worth.

    ``theta`` [P, H] are samples of the posterior, each as probable as the others, of which some may
    be equal.
    """

    log_evidence: float
    standard_error: float
    effective_samples: float
    theta: Array = field(default_factory=lambda: np.zeros((0, 0)), compare=False)


@dataclass(frozen=True, eq=False)
class StudentMixture:
    """A mixture of Student-t distributions: shares [R], means [R, d], lower factors [R, d, d].

    The last component is the widest and stays when it is fitted to samples.
    """

    shares: Array
    means: Array
    factors: Array
    policy: ImportancePolicy = DEFAULT

    def draw(self, num: int, rng: np.random.Generator) -> Array:
        """Samples [n, d], as many of each component as its share says."""
        strata = (np.arange(num) + rng.random()) / num
        places = np.searchsorted(np.cumsum(self.shares)[:-1], strata)
        scale = np.sqrt(self.policy.freedom / rng.chisquare(self.policy.freedom, size=num))
        steps = rng.standard_normal((num, self.means.shape[1])) * scale[:, np.newaxis]
        return np.asarray(self.means[places] + np.einsum("nij,nj->ni", self.factors[places], steps))

    def log_density(self, x: Array) -> Array:
        """log q(x) at [n, d]: [n]."""
        return np.asarray(logsumexp(self._log_parts(x)[0], axis=0))

    def fitted_to(self, x: Array, weights: Array) -> StudentMixture:
        """One step of EM to samples [n, d] of weights [n], as far as there are enough of them."""
        log_parts, squares = self._log_parts(x)
        owners = np.exp(log_parts - logsumexp(log_parts, axis=0)) * weights
        d, freedom = x.shape[1], self.policy.freedom
        means, factors = self.means.copy(), self.factors.copy()
        for k, own in enumerate(owners):
            total = own.sum()
            if not total > 0.0:
                continue
            effective = total**2 / (own**2).sum()
            trust = effective / (effective + self.policy.caution * d)
            pulls = own * (freedom + d) / (freedom + squares[k])
            mean = trust * (pulls @ x) / pulls.sum() + (1.0 - trust) * self.means[k]
            steps = x - mean
            old = self.factors[k] @ self.factors[k].T
            covariance = trust * (steps.T * pulls) @ steps / total + (1.0 - trust) * old
            means[k], factors[k] = mean, np.linalg.cholesky(covariance)
        shares = owners.sum(axis=1) / weights.sum()
        shares[-1] = max(shares[-1], self.policy.min_share)
        kept = shares >= self.policy.min_share
        shares = shares[kept] / shares[kept].sum()
        return StudentMixture(shares, means[kept], factors[kept], self.policy)

    def joined(self, other: StudentMixture, share: float) -> StudentMixture:
        """A mixture of both, this one with a share; the widest component is that of the other."""
        return StudentMixture(
            np.concatenate([share * self.shares, (1.0 - share) * other.shares]),
            np.concatenate([self.means, other.means]),
            np.concatenate([self.factors, other.factors]),
            self.policy,
        )

    def _log_parts(self, x: Array) -> tuple[Array, Array]:
        """Log densities of the components with their shares, and squared distances: [R, n]."""
        d, freedom = x.shape[1], self.policy.freedom
        steps = x - self.means[:, np.newaxis]
        whitened = np.linalg.solve(self.factors, np.swapaxes(steps, 1, 2))
        squares = np.einsum("rdn,rdn->rn", whitened, whitened)
        log_scale = np.log(np.einsum("rdd->rd", self.factors)).sum(axis=1)
        norm = gammaln(0.5 * (freedom + d)) - gammaln(0.5 * freedom)
        norm = norm - 0.5 * d * np.log(freedom * np.pi) - log_scale + np.log(self.shares)
        tails = 0.5 * (freedom + d) * np.log1p(squares / freedom)
        return norm[:, np.newaxis] - tails, squares


@dataclass(frozen=True, eq=False)
class Target:
    """The posterior of one candidate: its q(θ) as a first guess, and its prior.

    Means [R, H] and factors [R, H, H] are those of the modes, and ``height`` is log p(y, θ) at the
    highest; ``used`` [H] are the entries of θ that are to be learned, ``centre`` [H] and ``sd`` [H]
    those of the prior. Entries that belong together have the same number in ``groups`` [H].
    """

    means: Array
    factors: Array
    height: float
    used: Mask
    centre: Array
    sd: Array
    groups: Rows

    def proposal(self, policy: ImportancePolicy = DEFAULT) -> StudentMixture:
        """q(θ) as it is and wider, with one leaf from the prior, and the prior itself."""
        used, num = self.used, len(self.means)
        means, centre, sd = self.means[:, used], self.centre[used], self.sd[used]
        square = np.ix_(np.arange(num), used, used)
        covariances = self.factors[square] @ np.swapaxes(self.factors[square], 1, 2)
        roots = np.linalg.cholesky(covariances)
        groups = [self.groups[used] == group for group in np.unique(self.groups[used])]
        rest = 1.0 - sum(share for _, share in policy.widths) - policy.prior_share
        parts = [(share, means, factor * roots) for factor, share in policy.widths]
        for own in groups:
            mixed = policy.wider**2 * np.where(own | own[:, np.newaxis], 0.0, covariances)
            mixed[:, own, own] = sd[own] ** 2
            from_prior = np.where(own, centre, means)
            parts.append((rest / len(groups), from_prior, np.linalg.cholesky(mixed)))
        parts.append((policy.prior_share, centre[np.newaxis], np.diag(sd)[np.newaxis]))
        shares = [np.full(len(own), share / len(own)) for share, own, _ in parts]
        return StudentMixture(
            np.concatenate(shares),
            np.concatenate([own for _, own, _ in parts]),
            np.concatenate([factors for _, _, factors in parts]),
            policy,
        )


def estimate_evidences(
    targets: Sequence[Target],
    log_densities: LogDensities,
    rngs: Sequence[np.random.Generator],
    num_samples: int,
    optimise: Optimise | None = None,
    policy: ImportancePolicy = DEFAULT,
) -> list[Estimate | None]:
    """log ∫ p(y, θ) dθ of every target, from ``num_samples`` of θ for each at most.

    With ``optimise``, it begins from the one of the first samples with the largest weight, and the
    optimum that it leads to is part of the second proposal.

    Samples of all iterations count together, each weighted by the mean of all proposals (AMIS,
    Cornuet et al., 2012). A target whose covariance is singular, or of which nothing is to be
    learned, has no estimate.
    """
    runs = [_begin(target, rng, policy) for target, rng in zip(targets, rngs, strict=True)]
    going = {k: run for k, run in enumerate(runs) if run is not None}
    least, most = policy.min_iterations, policy.max_iterations
    num = max(policy.min_at_once, num_samples // most)
    for iteration in range(1, min(most, max(1, num_samples // num)) + 1):
        if not going:
            break
        theta = np.concatenate([run.draw(num) for run in going.values()])
        values = log_densities(np.repeat(list(going), num), theta).reshape(len(going), num)
        for run, own in zip(going.values(), values, strict=True):
            run.values = np.concatenate([run.values, own])
        if iteration == 1 and optimise is not None:
            _find_modes(going, optimise, policy)
        if iteration >= least:
            going = {k: run for k, run in going.items() if not _is_known(run, policy)}
    return [None if run is None else run.finished() for run in runs]


@dataclass(eq=False)
class _Run:
    """The samples of one target so far, and the proposals that they came from."""

    target: Target
    rng: np.random.Generator
    policy: ImportancePolicy
    proposals: list[StudentMixture]
    x: Array
    values: Array
    log_q: Array
    """The log of the sum of all proposals at the samples: [n]."""
    found: StudentMixture | None = None
    """Components around an optimum that samples have led to, for the next proposal."""

    def draw(self, num: int) -> Array:
        """New samples of θ [n, H] from a proposal that is fitted to those before."""
        if len(self.values):
            new = _next_proposal(self)
            if self.found is not None:
                new, self.found = self.found.joined(new, self.policy.found_share), None
            self.proposals.append(new)
            self.log_q = np.logaddexp(self.log_q, new.log_density(self.x))
        x = self.proposals[-1].draw(num, self.rng)
        log_q = logsumexp([q.log_density(x) for q in self.proposals], axis=0)
        self.x = np.concatenate([self.x, x])
        self.log_q = np.concatenate([self.log_q, log_q])
        return self._whole(x)

    def _whole(self, x: Array) -> Array:
        """θ [n, H] of samples [n, d] of what is to be learned of it."""
        theta = np.repeat(self.target.means[:1], len(x), axis=0)
        theta[:, self.target.used] = x
        return theta

    def log_weights(self) -> Array:
        """log p(y, θ) − log q(θ) of all samples, q being the mean of all proposals: [n]."""
        found = self.values - self.log_q + np.log(len(self.proposals))
        return np.where(np.isfinite(found), found, -np.inf)

    def finished(self) -> Estimate | None:
        """The estimate with samples of the posterior, which are drawn again by their weights."""
        found = self.estimate()
        if found is None:
            return None
        log_weights = self.log_weights()
        shares = np.cumsum(np.exp(log_weights - logsumexp(log_weights)))
        levels = (np.arange(self.policy.kept) + 0.5) / self.policy.kept
        return replace(found, theta=self._whole(self.x[np.searchsorted(shares[:-1], levels)]))

    def estimate(self) -> Estimate | None:
        """The log of the mean weight, and its error from how weights vary."""
        log_weights = self.log_weights()
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


def _begin(target: Target, rng: np.random.Generator, policy: ImportancePolicy) -> _Run | None:
    if not target.used.any():
        return None
    try:
        first = target.proposal(policy)
    except np.linalg.LinAlgError:
        return None
    nothing, num_used = np.zeros(0), int(target.used.sum())
    return _Run(target, rng, policy, [first], np.zeros((0, num_used)), nothing, nothing)


def _find_modes(runs: Mapping[int, _Run], optimise: Optimise, policy: ImportancePolicy) -> None:
    """Optimise from the sample that each proposal misses most, and keep where it leads."""
    starts = {k: start for k, run in runs.items() if (start := _missed_most(run)) is not None}
    if not starts:
        return
    values, means, factors = optimise(np.array(list(starts)), np.stack(list(starts.values())))
    for k, value, mean, factor in zip(starts, values, means, factors, strict=True):
        target, used = runs[k].target, runs[k].target.used
        own = factor[np.ix_(used, used)]
        is_high = np.isfinite(value) and value > target.height - policy.found_margin
        if is_high and np.isfinite(own).all() and np.all(np.diag(own) > 0.0):
            widths, shares = np.array(policy.widths).T
            shares = shares / sum(shares)
            centres = np.repeat(mean[np.newaxis, used], len(widths), axis=0)
            wide = widths[:, np.newaxis, np.newaxis] * own
            runs[k].found = StudentMixture(shares, centres, wide, policy)


def _missed_most(run: _Run) -> Array | None:
    """The sample of the largest weight, as θ [H]; None if no weight is finite."""
    log_weights = run.log_weights()
    if not np.isfinite(log_weights.max()):
        return None
    theta: Array = run.target.means[0].copy()
    theta[run.target.used] = run.x[np.argmax(log_weights)]
    return theta


def _next_proposal(run: _Run) -> StudentMixture:
    """The last proposal, fitted to all samples so far."""
    last, log_weights = run.proposals[-1], run.log_weights()
    if not np.isfinite(log_weights.max()):
        return last
    weights = np.exp(log_weights - log_weights.max())
    # Without a limit a single lucky sample would draw all components to itself.
    weights = np.minimum(weights, weights.mean() * np.sqrt(len(weights)))
    try:
        return last.fitted_to(run.x, weights / weights.sum())
    except np.linalg.LinAlgError:
        return last


def _is_known(run: _Run, policy: ImportancePolicy) -> bool:
    estimate = run.estimate()
    return estimate is not None and estimate.standard_error < policy.enough
