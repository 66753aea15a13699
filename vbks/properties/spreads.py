"""Whether swings and noise grow or shrink along an input, in the unit of the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Mask
from vbks.grammar.expression import Expression, dims_used, leaves
from vbks.kernels.gpflow.bank import bank_of
from vbks.kernels.registry import family_of
from vbks.parts.kernels import TermKernels
from vbks.parts.values import weighted_quantiles
from vbks.properties.members import Beliefs, Member, share_where
from vbks.properties.periods import cyclic_terms, periods_of
from vbks.properties.results import Spread
from vbks.properties.telling import told_spread
from vbks.properties.values import Weighted, log_density

LEAST_RATIO = 1.25
"""A size that is this many times larger at one end than at the other grows or shrinks."""

VARYING = 1.5
"""A size that is this many times larger somewhere than elsewhere varies, if it does neither."""

ENDS = 4
"""The size at an end is the mean over this many places of the grid."""

SMALLEST, LARGEST = 1e-3, 1e3
"""Ratios of sizes are told between these, since a line may pass zero at an end."""

STEP = 1e-4
"""The slope of a warp is taken over this much of a standard deviation."""

GAP = 1.0
"""Ratios further apart than a factor of e are peaks of their own."""

SizesOf = Callable[[Member, Array, int], tuple[Array, Mask] | None]
"""Standardised sizes [S, G] of a member at places [G, D] along an input, and in which samples there
is something that has one [S]; None if there is in none."""


@dataclass(frozen=True, eq=False)
class _Profiles:
    """Sizes along an input in the unit of the target, of all members: [S, G] with weights [S]."""

    sizes: Array
    weights: Array
    is_log: Mask

    @property
    def ratios(self) -> Array:
        """The size at the end in that at the beginning: [S]."""
        first, last = (self.sizes[:, own].mean(axis=1) for own in (slice(ENDS), slice(-ENDS, None)))
        return np.asarray(_limited(last, first))

    @property
    def grows(self) -> float:
        """The probability that it is larger at the end."""
        return share_where(self.ratios >= LEAST_RATIO, self.weights)

    @property
    def shrinks(self) -> float:
        """The probability that it is smaller at the end."""
        return share_where(self.ratios <= 1.0 / LEAST_RATIO, self.weights)

    @property
    def varies(self) -> float:
        """The probability that it does neither, and is larger somewhere than elsewhere."""
        is_same = (self.ratios < LEAST_RATIO) & (self.ratios > 1.0 / LEAST_RATIO)
        widest = _limited(self.sizes.max(axis=1), self.sizes.min(axis=1))
        return share_where(is_same & (widest >= VARYING), self.weights)

    @property
    def changes(self) -> float:
        """The probability of any of these."""
        return min(1.0, self.grows + self.shrinks + self.varies)


def swings_of(beliefs: Beliefs) -> Spread:
    """How large the swings of all cycles are along the main input."""
    return _spread("swings", beliefs, [beliefs.main], _swing_sizes(beliefs))


def noise_of(beliefs: Beliefs) -> Spread | None:
    """How large the noise is along the input that it changes most with."""
    if not beliefs.is_gaussian:
        return None
    found = {dim for member in beliefs for dim in _noise_dims(member.fit.expression)}
    dims = [beliefs.main, *sorted(found - {beliefs.main})]
    return _spread("noise", beliefs, dims, _noise_sizes)


def _spread(name: str, beliefs: Beliefs, dims: Sequence[int], sizes_of: SizesOf) -> Spread:
    """The size along the input with which it changes most probably, the main one if several do."""
    every = [_profiles(beliefs, dim, sizes_of) for dim in dims]
    place = int(np.argmax([own.changes for own in every]))
    own, dim = every[place], dims[place]
    ratios = Weighted.of([(own.ratios, own.weights)])
    is_log = share_where(own.is_log, own.weights)
    proportional = min(is_log, own.changes)
    profile, ways = _median_profile(own), (own.grows, own.shrinks, own.varies)
    estimate = ratios.estimate
    return Spread(
        name=name,
        probability=own.changes,
        sentence=told_spread(name, ways, proportional, estimate, beliefs.axes, dim + 1),
        estimate=estimate,
        density=log_density(ratios, GAP),
        input=beliefs.axes.name(dim + 1),
        grows=own.grows,
        shrinks=own.shrinks,
        varies=own.varies,
        proportional=proportional,
        places=None if profile is None else beliefs.along(dim)[:, dim],
        profile=profile,
    )


def _profiles(beliefs: Beliefs, dim: int, sizes_of: SizesOf) -> _Profiles:
    X, sizes, weights, is_log = beliefs.along(dim), [], [], []
    for member in beliefs:
        units = member.units
        found = sizes_of(member, units.standardise_inputs(X), dim)
        if found is not None:
            own, is_there = found
            sizes.append((own * _slope(member, units.standardise_inputs(X), dim))[is_there])
            weights.append(member.weights[is_there])
            is_log.append(np.full(int(is_there.sum()), member.scale.effect == "factor"))
    if not sizes:
        return _Profiles(np.ones((0, len(X))), np.zeros(0), np.zeros(0, bool))
    return _Profiles(np.concatenate(sizes), np.concatenate(weights), np.concatenate(is_log))


def _slope(member: Member, X: Array, dim: int) -> Array:
    """How much the target moves with the function, at its mean without cycles: [G]."""
    if member.scale.name == "identity":
        return np.ones(len(X))
    cyclic = set(cyclic_terms(member.layout, member.terms, dim))
    level = member.mean_of([n for n in range(len(member.terms)) if n not in cyclic], X)
    step = STEP * member.units.y_scale
    response = member.scale.response
    return np.asarray((response(level + step) - response(level - step)) / (2.0 * step))


def _swing_sizes(beliefs: Beliefs) -> SizesOf:
    def sizes_of(member: Member, X: Array, dim: int) -> tuple[Array, Mask] | None:
        group = cyclic_terms(member.layout, member.terms, dim)
        if not group:
            return None
        units = member.units
        periods = periods_of(member.layout, member.samples, units, dim, beliefs.summaries[dim])
        variances = TermKernels(member.layout, member.samples.theta, [group]).diag(X)[:, 0]
        return np.sqrt(np.maximum(variances, 0.0)), np.any(np.isfinite(periods), axis=1)

    return sizes_of


def _noise_sizes(member: Member, X: Array, dim: int) -> tuple[Array, Mask]:
    fit, theta = member.fit, member.samples.theta
    bank = bank_of([fit.expression], fit.num_inputs, ard=fit.ard)
    variances = np.asarray(bank.noise(theta[np.newaxis], X))[0]
    return np.sqrt(variances), np.ones(len(theta), bool)


def _noise_dims(expression: Expression) -> Iterator[int]:
    """The inputs that the noise of a kernel may change with, counted from 0."""
    if any(family_of(leaf.family).evaluation_path == "noise" for leaf in leaves(expression)):
        yield from (dim - 1 for dim in dims_used(expression))


def _median_profile(own: _Profiles) -> Array | None:
    """The median of the size at each place, in that at the first place."""
    if not len(own.weights):
        return None
    relative = _limited(own.sizes, own.sizes[:, :1])
    return np.array([weighted_quantiles(at, own.weights, (0.5,))[0] for at in relative.T])


def _limited(size: Array, other: Array) -> Array:
    """One size in another, within limits."""
    tiny = np.finfo(float).tiny
    ratio = np.maximum(size, tiny) / np.maximum(other, tiny)
    return np.asarray(np.clip(ratio, SMALLEST, LARGEST))
