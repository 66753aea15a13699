"""Whether the target goes up or down along an input, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import tensorflow as tf
from scipy.special import ndtr, ndtri

from vbks.arrays import Array, Rows
from vbks.kernels.layout import Layout
from vbks.parts.posteriors import pieces_of
from vbks.parts.sources import Source
from vbks.parts.terms import Term
from vbks.parts.values import Samples, lengthscale_of
from vbks.properties.members import Beliefs, Member
from vbks.properties.results import Trend
from vbks.properties.telling import told_trend
from vbks.properties.values import Weighted
from vbks.words.form import ROUGHNESS

LONG = 0.5
"""A smooth curve is part of the trend if its lengthscale is at least this share of the range."""

SMOOTH = 1
"""The roughest curves that are part of a trend are Matérn's of 5/2: rougher ones wander."""

LEAST_SHARE = 0.01
"""A straight line that makes up less than this share of the variance is no trend."""

LEVELS = (np.arange(20) + 0.5) / 20
"""A normal distribution is told by its quantiles at these levels."""


def trend_of(beliefs: Beliefs, spread: float) -> Trend:
    """The trend along the main input, ``spread`` being the standardised targets' deviation."""
    dim = beliefs.main
    X = beliefs.along(dim)
    least = math.sqrt(12.0 * LEAST_SHARE) * spread
    up = down = 0.0
    changes: list[tuple[Array, Array]] = []
    for member in beliefs:
        units = member.units
        first = _first_level(member, X)
        for mean, sd, weights in _slopes(member, units.standardise_inputs(X), beliefs, dim):
            up += float(weights @ _above(mean, sd, least))
            down += float(weights @ _above(-mean, sd, least))
            values, shares = _beyond(mean, sd, least, weights)
            totals = first + units.y_scale * np.append(values, 0.0)
            ends = member.scale.response(totals)
            changes.append((ends[:-1] - ends[-1], shares))
    found = Weighted.of(changes)
    estimate = found.estimate
    density = found.density(math.inf)
    target = beliefs.axes.target
    return Trend(
        name="trend",
        probability=min(1.0, up + down),
        sentence=told_trend(up, down, estimate, beliefs.axes),
        estimate=estimate,
        density=None if density is None else density.in_unit(1.0, target.unit),
        unit=target.unit,
        input=beliefs.axes.name(dim + 1),
        up=up,
        down=down,
    )


def _above(mean: Array, sd: Array, least: float) -> Array:
    """The probability that a change is more than the least one: [S]."""
    return np.asarray(ndtr((mean - least) / np.maximum(sd, 1e-12)))


def _beyond(mean: Array, sd: Array, least: float, weights: Array) -> tuple[Array, Array]:
    """Quantiles of changes that are larger than the least one, either way, with weights."""
    values = (mean[:, np.newaxis] + sd[:, np.newaxis] * ndtri(LEVELS)).ravel()
    shares = np.repeat(weights / len(LEVELS), len(LEVELS))
    is_beyond = np.abs(values) > least
    return values[is_beyond], shares[is_beyond]


def _first_level(member: Member, X: Array) -> float:
    """Where the straight line through the whole function begins, on the scale of the warp."""
    units = member.units
    own = member.mean_of(range(len(member.terms)), units.standardise_inputs(X))
    return float(own.mean() - 0.5 * _line(len(X)) @ own)


def _line(num: int) -> Array:
    """What makes of a function at even places the change of a straight line from end to end."""
    steps = np.linspace(-0.5, 0.5, num)
    return np.asarray(steps / np.sum(steps**2))


def _slopes(
    member: Member, X: Array, beliefs: Beliefs, dim: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Changes of the straight line through the trend: means [S], deviations and weights."""
    line = _line(len(X))
    for source in member.sources:
        samples = Samples(source.theta, source.weights)
        is_slow = _slow_terms(source.layout, member.terms, samples, beliefs, dim, source)
        for pattern in np.unique(is_slow, axis=0):
            own = np.flatnonzero(np.all(is_slow == pattern, axis=1))
            if pattern.any():
                group = np.flatnonzero(pattern).tolist()
                yield (*functional_moments(source, group, X, line, own), source.weights[own])


def functional_moments(
    source: Source, group: Sequence[int], X: Array, functional: Array, own: Rows
) -> tuple[Array, Array]:
    """Mean and standard deviation [S] of Σ cₙ g(xₙ), g being the sum of the terms of a group."""
    means, variances = [], []
    for piece in pieces_of(source, [group], len(X), own):
        cross = piece.cross(X)[:, 0] @ functional
        A = tf.linalg.triangular_solve(piece.L, cross[..., np.newaxis]).numpy()
        reduction = np.sum(A[..., 0] ** 2, axis=1)
        if piece.W is not None:
            reduction -= np.sum((piece.W.numpy() @ A)[..., 0] ** 2, axis=1)
        prior = np.einsum("n,snm,m->s", functional, piece.kernels(X, X)[:, 0], functional)
        means.append(np.sum(cross * piece.alpha, axis=1))
        variances.append(np.maximum(prior - reduction, 0.0))
    return np.concatenate(means), np.sqrt(np.concatenate(variances))


def _slow_terms(
    layout: Layout,
    terms: Sequence[Term],
    samples: Samples,
    beliefs: Beliefs,
    dim: int,
    source: Source,
) -> Array:
    """Which terms are a line or a long smooth curve of an input alone: [S, T]."""
    units, least = source.posteriors.units, LONG * beliefs.summaries[dim].range
    length_of = partial(lengthscale_of, layout, samples=samples, units=units, dim=dim)
    found = np.zeros((len(samples.theta), len(terms)), bool)
    for number, term in enumerate(terms):
        leaves = [own for own in term.leaves if own.aspect != "level" and own.family.uses_input]
        dims = {own.leaf.dim for own in leaves}
        is_alone = dims <= ({dim + 1, None} if layout.num_inputs == 1 else {dim + 1})
        # A function that begins or ends somewhere is told as a change.
        if not leaves or term.gates or not is_alone:
            continue
        is_slow = np.ones(len(samples.theta), bool)
        for own in leaves:
            name = own.leaf.family
            if name == "LIN":
                continue
            length = length_of(node=own.node) if ROUGHNESS.get(name, np.inf) <= SMOOTH else None
            is_slow &= False if length is None else length >= least
        found[:, number] = is_slow
    return found
