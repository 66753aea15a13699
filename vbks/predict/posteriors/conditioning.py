"""From members to the posteriors of their components: exact, collapsed or stochastic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Rows
from vbks.data.training import TrainingData
from vbks.errors import DataError
from vbks.inference.objectives.whitening import factorise, gaussian_sums
from vbks.inference.result import LocalFit
from vbks.predict.posteriors.posteriors import (
    BLOCK,
    ELEMENTS_AT_ONCE,
    ComponentKernels,
    Data,
    Posteriors,
    as_tensor,
    blocks_with_noise,
    compiled,
    with_known,
)
from vbks.predict.posteriors.samples import Component, Member, at_means, at_mode, draw_components


def posteriors_of(
    members: Sequence[Member], data: Data, num_samples: int, seed: int
) -> list[Posteriors]:
    """Posteriors at samples of θ from all members, without those that have none.

    A sample whose matrices cannot be factorised leaves its weight to the others of its member. If
    all samples of a member are so, its modes are taken at their means. A member that has no
    posterior even there is missing.
    """
    found = _surviving(condition(draw_components(members, num_samples, seed), data))
    lost = set(range(len(members))) - members_in(found)
    if lost:
        members = [
            (at_means(fit) if place in lost else fit, weight)
            for place, (fit, weight) in enumerate(members)
        ]
        found = _surviving(condition(draw_components(members, num_samples, seed), data))
    return found


def members_in(posteriors: Sequence[Posteriors]) -> set[int]:
    """Places of the members that have a component."""
    return {int(member) for part in posteriors for member in part.members}


def condition(components: Sequence[Component], data: Data) -> list[Posteriors]:
    """Posteriors of all components, grouped by what they share, in pieces of a good size."""
    groups: dict[Any, list[Component]] = {}
    for component in components:
        groups.setdefault(what_is_shared(component), []).append(component)
    return [part for group in groups.values() for part in _condition_group(group, data)]


def what_is_shared(component: Component) -> Any:
    """What components have in common that are worked on together."""
    fit = component.fit
    inducing = None if fit.inducing is None else fit.inducing.tobytes()
    return fit.bound, fit.warp, fit.ard, inducing


def data_by_warp(fits: Sequence[LocalFit], data: Data | TrainingData) -> Data:
    """The data of each fit, by its warp; data without a mapping is that of all fits."""
    given = {data.units.warp: data} if isinstance(data, TrainingData) else data
    for fit in fits:
        if fit.warp not in given:
            raise DataError(
                f"'{fit.expression}' was fitted with the warp '{fit.warp.name}', but there is no "
                "data with it. Give a mapping from each warp to the data under it, as "
                "`TrainingData.warped` makes them."
            )
        if fit.num_inputs != given[fit.warp].num_inputs:
            raise DataError(
                f"'{fit.expression}' was fitted to {fit.num_inputs} inputs, but the data has "
                f"{given[fit.warp].num_inputs}. Give the data of the fit."
            )
    return {fit.warp: given[fit.warp] for fit in fits}


def _condition_group(group: Sequence[Component], data: Data) -> list[Posteriors]:
    fit = group[0].fit
    rows = data[fit.warp]
    Z = rows.arrays()[0] if fit.inducing is None else fit.inducing
    size = max(1, ELEMENTS_AT_ONCE // (len(Z) * max(len(Z), BLOCK)))
    starts = range(0, len(group), size)
    pieces = [_Piece(group[start : start + size], rows, Z) for start in starts]
    match fit.bound:
        case "exact":
            return [_exact(piece) for piece in pieces]
        case "collapsed":
            return _collapsed(pieces)
    return [_stochastic(piece) for piece in pieces]


class _Piece:
    """Components on their way to a posterior."""

    def __init__(self, components: Sequence[Component], data: TrainingData, Z: Array) -> None:
        self.kernels, self.data, self.Z = ComponentKernels(components), data, as_tensor(Z)
        self.weights = np.array([component.weight for component in components])

    def factor(self) -> tf.Tensor:
        """L of Kuu."""
        return factorise(self.kernels(self.Z), self.kernels.jitter)

    def finish(self, L: tf.Tensor, m: tf.Tensor, W: tf.Tensor | None) -> Posteriors:
        return Posteriors(self.kernels, self.data, self.Z, L, m, W, self.weights)


def _exact(piece: _Piece) -> Posteriors:
    X, y = piece.data.arrays()
    noise = with_known(piece.kernels.noise(X), piece.data.known_noise) + piece.kernels.jitter
    L, m = _whitened(piece.kernels(piece.Z), noise, as_tensor(y))
    return piece.finish(L, m, None)


def _collapsed(pieces: Sequence[_Piece]) -> list[Posteriors]:
    """The best q(v) of each component, all in one pass over the data."""
    factors = [piece.factor() for piece in pieces]
    precisions = [tf.zeros_like(L) for L in factors]
    linears = [tf.zeros_like(L[..., 0]) for L in factors]
    for X, y, known in blocks_with_noise(pieces[0].data):
        targets = as_tensor(y)
        for place, piece in enumerate(pieces):
            noise, Kuf = with_known(piece.kernels.noise(X), known), piece.kernels(piece.Z, X)
            precision, linear, _ = gaussian_sums(
                factors[place], Kuf, tf.zeros_like(noise), noise, targets
            )
            precisions[place] += precision
            linears[place] += linear
    return [
        piece.finish(L, *_best_q(precision, linear))
        for piece, L, precision, linear in zip(pieces, factors, precisions, linears, strict=True)
    ]


def _stochastic(piece: _Piece) -> Posteriors:
    """q(v|θ) of each component, from the q(v) that its fit has at the mode or at samples of θ."""
    L = piece.factor()
    given = [_given_moments(component) for component in piece.kernels.components]
    m, W = (np.stack([moments[part] for moments in given]) for part in (0, 1))
    for places, move in (
        (_moved(piece, mean_field=True), _with_u_held),
        (_moved(piece, mean_field=False), _with_sites_held),
    ):
        if len(places):
            modes = [at_mode(piece.kernels.components[place]) for place in places]
            base = _Piece(modes, piece.data, piece.Z.numpy()).factor()
            m[places], W[places] = move(base, tf.gather(L, places), m[places], W[places])
    return piece.finish(L, as_tensor(m), as_tensor(W))


def _given_moments(component: Component) -> tuple[Array, Array]:
    """The mean and a root of the covariance of q(v) that the fit has for a component."""
    q_u = component.fit.q_u
    if q_u is None:
        raise DataError(f"'{component.fit.expression}' has no q(u), which predictions need.")
    if component.sample is None or q_u.samples is None:
        return q_u.mean, _root(q_u.covariance)
    return q_u.samples.mean[component.sample], _root(q_u.samples.covariance[component.sample])


def _moved(piece: _Piece, *, mean_field: bool) -> Rows:
    """Components whose θ is not the one that their q(v) is for, and whose q(u) stays or not."""
    return np.array(
        [
            place
            for place, c in enumerate(piece.kernels.components)
            if c.sample is None
            and (c.fit.posterior in ("full", "diagonal")) == mean_field
            and not np.array_equal(c.theta, c.fit.theta)
        ],
        np.intp,
    )


@compiled
def _with_u_held(
    base: tf.Tensor, L: tf.Tensor, m: tf.Tensor, W: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """q(v) at another θ for the same q(u): v = L⁻¹ L₀ v₀."""
    change = tf.linalg.triangular_solve(L, base)
    return tf.linalg.matvec(change, m), tf.linalg.matmul(W, change, transpose_b=True)


@compiled
def _with_sites_held(
    base: tf.Tensor, L: tf.Tensor, m: tf.Tensor, W: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """q(v) at another θ for the same likelihood of u and the prior p(u|θ).

    In coordinates v₀ = L₀⁻¹u rows add S₀⁻¹ − I to the precision and S₀⁻¹m₀ to the linear term;
    those are linear in u, so that with v₀ = T v they turn into Tᵀ(S₀⁻¹ − I)T and TᵀS₀⁻¹m₀.
    """
    S = tf.linalg.matmul(W, W, transpose_a=True)
    root = tf.linalg.cholesky(S)
    eye = tf.eye(tf.shape(S)[-1], batch_shape=tf.shape(S)[:-2], dtype=S.dtype)
    inverse = tf.linalg.triangular_solve(root, eye)
    change = tf.linalg.triangular_solve(base, L)
    turned = tf.linalg.matmul(inverse, change)
    precision = tf.linalg.matmul(turned, turned, transpose_a=True)
    precision -= tf.linalg.matmul(change, change, transpose_a=True)
    linear = tf.linalg.matvec(turned, tf.linalg.matvec(inverse, m), transpose_a=True)
    m, W = _best_q(precision, linear)
    return m, W


def _root(covariance: Array) -> Array:
    """W with WᵀW a covariance, also where rounding has made it indefinite."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T)


def _surviving(posteriors: Sequence[Posteriors]) -> list[Posteriors]:
    """Without components that have no posterior, whose weights go to others of their members."""
    if all(np.all(part.is_finite) for part in posteriors):
        return list(posteriors)
    finite = [np.flatnonzero(part.is_finite) for part in posteriors]
    kept = [
        part.take(places) for part, places in zip(posteriors, finite, strict=True) if len(places)
    ]
    before, after = _member_weights(posteriors), _member_weights(kept)
    return [
        part.reweighted(np.array([before[member] / after[member] for member in part.members]))
        for part in kept
    ]


def _member_weights(posteriors: Sequence[Posteriors]) -> dict[int, float]:
    weights: dict[int, float] = {}
    for part in posteriors:
        for member, weight in zip(part.members, part.weights, strict=True):
            weights[member] = weights.get(member, 0.0) + weight
    return weights


@compiled
def _whitened(K: tf.Tensor, noise: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """L of the covariance of y, and m = L⁻¹y."""
    L = tf.linalg.cholesky(tf.linalg.set_diag(K, tf.linalg.diag_part(K) + noise))
    targets = tf.broadcast_to(y[:, tf.newaxis], tf.concat([tf.shape(noise), [1]], axis=0))
    return L, tf.linalg.triangular_solve(L, targets)[..., 0]


@compiled
def _best_q(precision: tf.Tensor, linear: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """m = Sb for the linear term b, and a root of S = (I + precision)⁻¹."""
    P = tf.linalg.set_diag(precision, tf.linalg.diag_part(precision) + 1.0)
    root = tf.linalg.cholesky(P)
    eye = tf.eye(tf.shape(P)[-1], batch_shape=tf.shape(P)[:-2], dtype=P.dtype)
    W = tf.linalg.triangular_solve(root, eye)
    return tf.linalg.matvec(W, tf.linalg.matvec(W, linear), transpose_a=True), W
