"""Steps of stochastic gradient ascent for many candidates, many of them in one call of a graph.

The graphs serve every list of candidates: their structure comes in as arrays. A step whose bound or
gradient is not finite for a candidate is not taken by it, and by all others as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import tensorflow as tf

from vbks.inference.paper.objective import (
    Earlier,
    Fixed,
    GivenTheta,
    Kind,
    Variables,
    divergence,
    samples_of_theta,
)
from vbks.inference.paper.settings import Optimiser

MOMENTUM, SQUARES, TINY = 0.9, 0.999, 1e-7
"""Adam's β₁, β₂ and ε, as Keras has them."""


class Progress(NamedTuple):
    """Variables on their way: with Adam's moments of their gradients, and the steps taken."""

    variables: Variables
    first: Variables
    second: Variables
    step: tf.Tensor


class Rows(NamedTuple):
    """Minibatches [T, B, D] and [T, B], one for each step."""

    X: tf.Tensor
    y: tf.Tensor


class BaseSamples(NamedTuple):
    """η of θ [T, S, H] and of u [T, S, M], standard normal, for each step."""

    theta: tf.Tensor
    inducing: tf.Tensor


Graph = Callable[..., Any]
"""A function of kernels and tensors that a bank compiles."""


@cache
def ascent(kind: Kind, optimiser: Optimiser) -> Graph:
    """Steps on minibatches, one after the other; also the bound that each began with [T, K]."""

    def run(
        kernels: Any,
        progress: Progress,
        fixed: Fixed,
        earlier: Earlier,
        rows: Rows,
        eta: BaseSamples,
        rate: tf.Tensor,
    ) -> tuple[Progress, tf.Tensor]:
        num_steps = tf.shape(rows.y)[0]
        values = tf.TensorArray(rows.y.dtype, num_steps)

        def step(t: tf.Tensor, now: Progress, values: tf.TensorArray) -> Any:
            batch = Rows(rows.X[t], rows.y[t])
            own = BaseSamples(eta.theta[t], eta.inducing[t])
            value, gradients = _gradients(kernels, kind, now.variables, fixed, earlier, batch, own)
            moved = _MOVES[optimiser](now, gradients, rate)
            is_finite = _are_finite(value, gradients)
            return t + 1, _chosen(is_finite, moved, now), values.write(t, value)

        _, progress, values = tf.while_loop(
            lambda t, *_: t < num_steps, step, (tf.constant(0), progress, values)
        )
        return progress, values.stack()

    return run


@cache
def evaluation(kind: Kind) -> Graph:
    """The bound on each minibatch [T, K], averaged over samples of θ, with u integrated out."""

    def run(
        kernels: Any,
        variables: Variables,
        fixed: Fixed,
        earlier: Earlier,
        rows: Rows,
        eta: tf.Tensor,
    ) -> tf.Tensor:
        theta = samples_of_theta(kind, variables, fixed, eta)
        here = GivenTheta(kernels, theta, variables, fixed)
        less = divergence(kind, here, variables, fixed, earlier)

        def of_batch(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
            return tf.reduce_mean(here.log_likelihood(*batch, None) - less, axis=1)

        return tf.map_fn(of_batch, (rows.X, rows.y), fn_output_signature=rows.y.dtype)

    return run


def prior_factor(kernels: Any, theta: tf.Tensor, fixed: Fixed) -> tf.Tensor:
    """L with L Lᵀ = Kuu at θ [K, S, H]: [K, S, M, M]."""
    Kuu = kernels(theta, fixed.Z)
    return tf.linalg.cholesky(tf.linalg.set_diag(Kuu, tf.linalg.diag_part(Kuu) + fixed.jitter))


def mean_precision(kernels: Any, theta: tf.Tensor, fixed: Fixed) -> tf.Tensor:
    """The mean of Kuu⁻¹ over samples of θ [K, S, H]: [K, M, M]."""
    L = prior_factor(kernels, theta, fixed)
    eye = tf.eye(tf.shape(L)[-1], batch_shape=tf.shape(L)[:-2], dtype=L.dtype)
    return tf.reduce_mean(tf.linalg.cholesky_solve(L, eye), axis=1)


def _gradients(
    kernels: Any,
    kind: Kind,
    variables: Variables,
    fixed: Fixed,
    earlier: Earlier,
    rows: Rows,
    eta: BaseSamples,
) -> tuple[tf.Tensor, Variables]:
    """The bound on a minibatch [K], and its gradients."""
    with tf.GradientTape() as tape:
        tape.watch(variables)
        theta = samples_of_theta(kind, variables, fixed, eta.theta)
        here = GivenTheta(kernels, theta, variables, fixed)
        sampled = eta.inducing if kind.sample_inducing else None
        value = tf.reduce_mean(here.log_likelihood(rows.X, rows.y, sampled), axis=1)
        value -= tf.reduce_mean(divergence(kind, here, variables, fixed, earlier), axis=1)
    gradients = tape.gradient(value, variables, unconnected_gradients="zero")
    return value, gradients._replace(theta=gradients.theta * fixed.used)


def _adam(now: Progress, gradients: Variables, rate: tf.Tensor) -> Progress:
    step = now.step + 1.0
    scale = rate * tf.sqrt(1.0 - SQUARES**step) / (1.0 - MOMENTUM**step)
    first = _each(lambda m, g: m + (1.0 - MOMENTUM) * (g - m), now.first, gradients)
    second = _each(lambda v, g: v + (1.0 - SQUARES) * (tf.square(g) - v), now.second, gradients)
    moves = _each(lambda m, v: scale * m / (tf.sqrt(v) + TINY), first, second)
    return Progress(_each(tf.add, now.variables, moves), first, second, step)


def _plain(now: Progress, gradients: Variables, rate: tf.Tensor) -> Progress:
    variables = _each(lambda x, g: x + rate * g, now.variables, gradients)
    return now._replace(variables=variables, step=now.step + 1.0)


_MOVES: dict[str, Callable[[Progress, Variables, tf.Tensor], Progress]] = {
    "adam": _adam,
    "sga": _plain,
}


def _each(function: Callable[..., tf.Tensor], *parts: Variables) -> Variables:
    return Variables(*(function(*own) for own in zip(*parts, strict=True)))


def _are_finite(value: tf.Tensor, gradients: Variables) -> tf.Tensor:
    """Which candidates have a bound and a gradient: [K]."""
    finite = tf.math.is_finite(value)
    for gradient in gradients:
        axes = list(range(1, gradient.shape.rank))
        finite &= tf.reduce_all(tf.math.is_finite(gradient), axis=axes)
    return finite


def _chosen(is_finite: tf.Tensor, moved: Progress, now: Progress) -> Progress:
    """What candidates with a finite gradient have moved to, and where the others were."""

    def choose(new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
        shape = tf.concat([tf.shape(is_finite), tf.ones([new.shape.rank - 1], tf.int32)], axis=0)
        return tf.where(tf.reshape(is_finite, shape), new, old)

    return Progress(
        _each(choose, moved.variables, now.variables),
        _each(choose, moved.first, now.first),
        _each(choose, moved.second, now.second),
        moved.step,
    )
