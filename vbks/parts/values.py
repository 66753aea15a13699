"""What q(θ) says of the leaves and changes of a kernel, in the units of the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import i0e

from vbks.arrays import Array
from vbks.data.units import Units
from vbks.grammar.expression import ChangePoint, ChangeWindow, Leaf
from vbks.inference.approximations.base_samples import base_samples
from vbks.inference.result import LocalFit
from vbks.kernels.family import LONGEST_CENTRED
from vbks.kernels.layout import Layout, Node
from vbks.kernels.parameters import Role
from vbks.kernels.parts import parts_of
from vbks.kernels.registry import family_of
from vbks.parts.long_waves import typical_lengthscales
from vbks.parts.terms import TermLeaf
from vbks.words import Estimate, Known, Values

INTERVAL = (0.05, 0.95)
"""An interval holds 90 % of the belief."""

NUM_SAMPLES = 256
"""Samples of θ from each mode of q(θ), from which the ends of an interval are known to a tenth of
its width."""

PASSAGE = 2.0 * math.log(9.0)
"""A change of steepness s takes PASSAGE/s: its sigmoid goes from 10 % to 90 %."""


@dataclass(frozen=True, eq=False)
class Samples:
    """θ [S, H] with weights [S] that add up to one."""

    theta: Array
    weights: Array


def samples_of(fit: LocalFit, num_samples: int = NUM_SAMPLES, seed: int = 0) -> Samples:
    """Samples of the posterior of θ that an evidence has led to, or else of each mode of q(θ).

    A mode without a spread has its mean. Samples are the same each time.
    """
    if fit.theta_samples is not None and len(fit.theta_samples):
        count = len(fit.theta_samples)
        return Samples(fit.theta_samples, np.full(count, 1.0 / count))
    modes = fit.modes[:1] if fit.bound == "stochastic" else fit.modes
    counts = [num_samples if np.any(mode.factor) else 1 for mode in modes]
    parts = [
        mode.mean + base_samples(count, len(mode.mean), seed) @ mode.factor.T
        for mode, count in zip(modes, counts, strict=True)
    ]
    shares = np.array([mode.weight for mode in modes]) / sum(mode.weight for mode in modes)
    sizes = [len(part) for part in parts]
    return Samples(np.concatenate(parts), np.repeat(shares / sizes, sizes))


def known_values(layout: Layout, samples: Samples, units: Units) -> Known:
    """The values of each leaf and change from left to right, a change before its sides.

    Leaves on several inputs have values for each of them. Standardised lengths and locations are
    told in the units of the data.
    """
    of_node = partial(_values_of, layout=layout, samples=samples, units=units)
    return tuple(of_node(part.node) for part in parts_of(layout.root))


def known_waves(
    leaf: TermLeaf, samples: Samples, limit: float, scale: float
) -> tuple[Values, Values]:
    """The lengthscales of the long waves of a leaf and of the short ones, in units of the data."""
    values = leaf.values(samples.theta)
    long, short = typical_lengthscales(leaf.leaf.family, values, limit)
    medians = (weighted_quantiles(own * scale, samples.weights, (0.5,))[0] for own in (long, short))
    first, second = (Values(lengthscale=Estimate(median)) for median in medians)
    return first, second


def estimate(values: Array, weights: Array) -> Estimate:
    """The median of weighted values [S], and the ends of the interval that holds 90 %."""
    if len(values) == 1 or np.ptp(values) == 0.0:
        return Estimate(float(values[0]))
    low, middle, high = weighted_quantiles(values, weights, (INTERVAL[0], 0.5, INTERVAL[1]))
    return Estimate(middle, low, high)


def weighted_quantiles(values: Array, weights: Array, levels: Sequence[float]) -> list[float]:
    """Quantiles of weighted values [S], between the two that are next to each level."""
    order = np.argsort(values, kind="stable")
    shares = weights[order] / np.sum(weights)
    middles = np.cumsum(shares) - 0.5 * shares
    return [float(level) for level in np.interp(levels, middles, values[order])]


def period_of(layout: Layout, node: Node, samples: Samples, units: Units, dim: int) -> Array | None:
    """The period [S] of a leaf on an input, counted from 0, in the unit of that input."""
    slot = _slot(layout, node, "period", dim)
    if slot is None:
        return None
    return np.asarray(np.exp(samples.theta[:, slot]) * units.x_scale[dim])


def lengthscale_of(
    layout: Layout, node: Node, samples: Samples, units: Units, dim: int
) -> Array | None:
    """The lengthscale [S] of a leaf on an input, counted from 0, in the unit of that input."""
    slot = _slot(layout, node, "lengthscale", dim)
    if slot is None:
        return None
    return np.asarray(np.exp(samples.theta[:, slot]) * units.x_scale[dim])


def places_of(node: Node, samples: Samples, units: Units, dim: int) -> tuple[Array, ...]:
    """Where a change is [S], or from where to where a window goes, in the unit of the input."""
    location, _, *width = (samples.theta[:, slots[0]] for slots in node.slots.values())
    places = _ends(location, 0.5 * np.exp(width[0])) if width else (location,)
    return tuple(place * units.x_scale[dim] + units.x_mean[dim] for place in places)


def _values_of(
    node: Node, layout: Layout, samples: Samples, units: Units
) -> Values | tuple[Values, ...]:
    match node.expression:
        case ChangePoint(dim=dim) | ChangeWindow(dim=dim):
            return _change(node, dim - 1, samples, units)
        case Leaf(family, dim):
            if not family_of(family).uses_input:
                return Values()
            dims = range(layout.num_inputs) if dim is None else (dim - 1,)
            return tuple(_leaf(layout, node, family, samples, units, d) for d in dims)
    raise TypeError(f"expected a leaf or a change, got {node.expression!r}.")


def _change(node: Node, dim: int, samples: Samples, units: Units) -> Values:
    """Where a change is, or from where to where a window goes, and how long each change takes."""
    _, steepness, *_ = (samples.theta[:, slots[0]] for slots in node.slots.values())
    passage = estimate(PASSAGE * np.exp(-steepness) * units.x_scale[dim], samples.weights)
    start, *end = (estimate(own, samples.weights) for own in places_of(node, samples, units, dim))
    return Values(start=start, end=end[0] if end else None, transition=passage)


def _ends(location: Array, half: Array) -> tuple[Array, Array]:
    return location - half, location + half


def _leaf(
    layout: Layout, node: Node, family: str, samples: Samples, units: Units, dim: int
) -> Values:
    """What is known of a leaf on one input, counted from 0."""
    scale, weights = units.x_scale[dim], samples.weights
    location = _slot(layout, node, "location", dim)
    period = period_of(layout, node, samples, units, dim)
    length = (
        lengthscale_of(layout, node, samples, units, dim)
        if period is None
        else _within_period(layout, node, family, samples, period, dim)
    )
    zero = None if location is None else samples.theta[:, location] * scale + units.x_mean[dim]
    return Values(
        lengthscale=None if length is None else estimate(length, weights),
        period=None if period is None else estimate(period, weights),
        zero=None if zero is None else estimate(zero, weights),
    )


def _within_period(
    layout: Layout, node: Node, family: str, samples: Samples, period: Array, dim: int
) -> Array | None:
    """The lengthscale [S] within a period p: pℓ/2π for PER, and that of the wave for PER0."""
    slots = node.slots.get("lengthscales")
    if slots is None or family not in ("PER", "PER0"):
        return None
    phase = np.exp(samples.theta[:, _at(layout, slots, dim)])
    if family == "PER0":
        phase = phase * np.sqrt(wave_share(phase))
    return np.asarray(period * phase / (2.0 * math.pi))


def wave_share(phase_lengthscale: Array) -> Array:
    """The share 1 − e^(−1/ℓ²) I₀(1/ℓ²) of the variance of PER that is a wave and no constant."""
    sharpness = np.minimum(phase_lengthscale, LONGEST_CENTRED) ** -2.0
    return np.asarray(1.0 - i0e(sharpness))


def _slot(layout: Layout, node: Node, role: Role, dim: int) -> int | None:
    """The slot of a parameter with a role on an input, None if the leaf has none."""
    for slots in node.slots.values():
        if slots and layout.slots[slots[0]].parameter.role == role:
            return _at(layout, slots, dim)
    return None


def _at(layout: Layout, slots: tuple[int, ...], dim: int) -> int:
    """The slot for an input: its own, or the one that all inputs share."""
    own = [slot for slot in slots if layout.slots[slot].dim == dim]
    return own[0] if own else slots[0]
