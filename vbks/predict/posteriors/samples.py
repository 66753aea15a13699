"""What a mixture is made of: samples of θ from the posterior of each of its members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from vbks.arrays import Array, Mask, Rows
from vbks.inference.approximations.base_samples import base_samples
from vbks.inference.result import ConditionalPosteriors, LocalFit, Mode

Member: TypeAlias = tuple[LocalFit, float]
"""A fit and its weight."""

NEGLIGIBLE = 1e-6
"""Members with at most this weight together are left out. Whatever they predict, however far away,
the mean of the mixture moves by less than the root of this in its standard deviations: a
thousandth."""

NUM_SAMPLES = 64
"""A mixture has about this many samples of θ, given to members by their weights."""

LEAST_SAMPLES = 4
"""Every mode whose q(θ) has a spread gets at least this many samples of θ."""

CACHE_BYTES = 2**30
"""The factors of all components take at most this many bytes; there are fewer samples where rows
are many, down to one for each mode."""


ROUNDING = 1e-9
"""Numbers of samples may differ by this rounding error, so that equal weights get equal shares."""


@dataclass(frozen=True, eq=False)
class Component:
    """A fit at one θ [H], with its share of the mixture."""

    fit: LocalFit
    theta: Array
    weight: float
    member: int
    """The place of the fit among the members."""
    sample: int | None = None
    """The place of θ among the samples that the fit has a q(v|θ) of its own for."""
    mode: int = 0
    """The place of the mode of q(θ) among those of the fit."""


def without_negligible(weights: Array, negligible: float) -> Rows:
    """Places of the weights that stay when the smallest are left out, as many as possible.

    What is left out adds up to at most ``negligible`` of the total.
    """
    order = np.argsort(weights, kind="stable")
    is_kept = np.cumsum(weights[order]) > negligible * np.sum(weights)
    return np.sort(order[is_kept])


def draw_components(
    members: Sequence[Member], num_samples: int = NUM_SAMPLES, seed: int = 0
) -> list[Component]:
    """About ``num_samples`` components, in the order of the members, the same each time.

    Modes share them by weight. A mode without spread is one component, at its mean.
    """
    modes = [part for place, member in enumerate(members) for part in _modes(place, *member)]
    weights = np.array([weight for _, _, _, weight in modes])
    has_spread = np.array([_is_drawn(fit, fit.modes[number]) for _, fit, number, _ in modes])
    counts = _counts(weights, has_spread, num_samples, _most_components(members))
    return [
        component
        for (place, fit, number, weight), count in zip(modes, counts, strict=True)
        for component in _components(place, fit, number, weight, count, seed)
    ]


def _is_drawn(fit: LocalFit, mode: Mode) -> bool:
    """Whether samples of θ are drawn here: q(θ) has a spread, and the fit has no samples."""
    return bool(np.any(mode.factor)) and _stored(fit) is None


def _stored(fit: LocalFit) -> ConditionalPosteriors | None:
    return None if fit.q_u is None else fit.q_u.samples


def _components(
    place: int, fit: LocalFit, number: int, weight: float, count: int, seed: int
) -> Iterator[Component]:
    """The samples of θ that the fit has a posterior for, or new ones of a mode of its."""
    stored, mode = _stored(fit), fit.modes[number]
    if stored is not None and np.any(mode.factor):
        for sample, theta in enumerate(stored.theta):
            yield Component(fit, theta, weight / len(stored.theta), place, sample, number)
        return
    for theta in mode.mean + base_samples(count, len(mode.mean), seed) @ mode.factor.T:
        yield Component(fit, theta, weight / count, place, None, number)


def at_means(fit: LocalFit) -> LocalFit:
    """The fit with every mode of q(θ) shrunk to its mean."""
    modes = (replace(mode, factor=np.zeros_like(mode.factor)) for mode in fit.modes)
    return replace(fit, modes=tuple(modes))


def at_mode(component: Component) -> Component:
    """The component with θ at the mean of the first mode, to which the q(v) of its fit belongs."""
    return replace(component, theta=component.fit.theta)


def matrix_bytes(fit: LocalFit) -> int:
    """Memory that one component of a fit keeps."""
    if fit.inducing is None:
        return 8 * fit.num_rows**2
    return 2 * 8 * len(fit.inducing) ** 2


def _modes(place: int, fit: LocalFit, weight: float) -> Iterator[tuple[int, LocalFit, int, float]]:
    """Places of the modes that count, with their weights in the mixture.

    q(u) belongs to the first mode alone.
    """
    modes = fit.modes[:1] if fit.bound == "stochastic" else fit.modes
    shares = np.array([mode.weight for mode in modes])
    kept = without_negligible(shares, NEGLIGIBLE)
    for number in kept:
        share = float(shares[number] / np.sum(shares[kept]))
        yield place, fit, int(number), weight * share


def _most_components(members: Sequence[Member]) -> int:
    return max(1, CACHE_BYTES // max(matrix_bytes(fit) for fit, _ in members))


def _counts(weights: Array, has_spread: Mask, num_samples: int, most: int) -> list[int]:
    """Components of each mode: pairs of samples by weight, or one at the mean."""
    by_weight = 2 * np.floor(0.5 * min(num_samples, most) * weights + ROUNDING)
    for least in (LEAST_SAMPLES, 2, 1):
        counts = np.where(has_spread, np.maximum(by_weight, least), 1)
        if counts.sum() <= most:
            break
    return [int(count) for count in counts]
