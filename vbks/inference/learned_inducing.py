"""Learning the inducing inputs of a few fits that remain: a tighter bound at a higher cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Rows
from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity
from vbks.errors import DataError
from vbks.inference.candidate import given_by, make_candidate
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.finalise import finalise
from vbks.inference.objectives.evidence import CollapsedEvidence
from vbks.inference.optim.quasi_newton import minimise
from vbks.inference.result import LocalFit
from vbks.inference.rungs import optimise
from vbks.inference.settings import FitSettings
from vbks.kernels.gpflow.bank import KernelBank, bank_of

EVALUATIONS = 60
"""Most evaluations of the bound while inducing inputs are optimised."""


def learn_inducing(fit: LocalFit, data: Any, *, seed: int = 0) -> LocalFit:
    """A collapsed fit with inducing inputs of its own, moved to where its bound is highest.

    ``data`` are the rows that it was fitted to, such as a pair (X, y). Its bound is tighter than
    those of fits that share inducing inputs, so it is not comparable with theirs.
    """
    if fit.bound != "collapsed" or fit.inducing is None:
        raise DataError(
            f"'{fit.expression}' is a {fit.bound} fit. Only collapsed fits learn inducing inputs."
        )
    settings = FitSettings(
        inference="collapsed",
        posterior=fit.posterior,
        num_inducing=len(fit.inducing),
        ard=fit.ard,
        jitter=fit.jitter,
        given=given_by([fit]),
        seed=seed,
    )
    context, _ = make_context(_under_warp(data, fit), 1, settings)
    moved = replace(context, inducing=_best_inputs(fit, context))
    candidate = make_candidate(fit.expression, moved, None)
    candidate = replace(candidate, thetas=fit.theta[np.newaxis], values=np.zeros(1))
    (learned,) = finalise(optimise([candidate], moved), moved)
    return replace(learned, restarts=fit.restarts, pruning=fit.pruning)


def _under_warp(data: Any, fit: LocalFit) -> TrainingData:
    """The rows with the warp of the fit, if they have none yet."""
    rows = prepare(data)
    if rows.units.warp == Identity():
        return rows.warped(fit.warp)
    if rows.units.warp != fit.warp:
        raise DataError(
            f"the fit of '{fit.expression}' is under the warp '{fit.warp.name}', the rows are "
            f"under '{rows.units.warp.name}'. Give the rows that it was fitted to."
        )
    return rows


def _best_inputs(fit: LocalFit, context: FitContext) -> Array:
    """Inducing inputs that maximise the bound at the fit's θ: [M, D]."""
    assert fit.inducing is not None
    bank = bank_of([fit.expression], fit.num_inputs, ard=fit.ard, differentiable_inputs=True)
    X, y = context.data.arrays()
    known = context.data.known_noise
    theta = tf.constant(fit.theta[np.newaxis, np.newaxis], gpflow.default_float())

    def loss(rows: Rows, flat: Array) -> tuple[Array, Array]:
        Z = tf.constant(flat.reshape(len(context.Z), -1), theta.dtype)
        value, gradient = _bound(
            bank, theta, Z, lambda Z: CollapsedEvidence(X, y, Z, fit.jitter, known)
        )
        return -value, -gradient.reshape(1, -1)

    found = minimise(loss, fit.inducing.reshape(1, -1), EVALUATIONS)
    return found.x.reshape(fit.inducing.shape)


def _bound(
    bank: KernelBank,
    theta: tf.Tensor,
    Z: tf.Tensor,
    evidence: Callable[[tf.Tensor], CollapsedEvidence],
) -> tuple[Array, Array]:
    with tf.GradientTape() as tape:
        tape.watch(Z)
        value = evidence(Z)(bank, theta)
    return value.numpy()[0], tape.gradient(value, Z).numpy()
