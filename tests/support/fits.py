"""Fits made by hand, at a θ of no particular meaning, and their twins."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import gpflow
import numpy as np

from support.reference import kernel_matrix
from support.rows import make_rows
from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Log
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.inference.result import InducingPosterior, LocalFit, Mode
from vbks.kernels.layout import lay_out
from vbks.predict.posteriors.samples import Component

NUM_ROWS = 30
NUM_INDUCING = 8
JITTER = gpflow.config.default_jitter()
BOUNDS = ("exact", "collapsed", "stochastic")


@cache
def make_data() -> TrainingData:
    """Rows with one input and targets above zero."""
    X, logs = make_rows(
        NUM_ROWS,
        signal=lambda x: 1.0 + 0.5 * np.sin(2 * x),
        ends=(3.0, 9.0),
        noise=0.2,
        is_even=False,
    )
    return prepare((X, np.exp(logs)))


@cache
def make_logs() -> TrainingData:
    """The same rows under the logarithm."""
    return make_data().warped(Log())


def new_inputs(num: int = 7) -> Array:
    """Inputs in the user's units, inside the data and beyond."""
    return np.linspace(2.0, 10.0, num)[:, None]


def make_fit(
    text: str, bound: str = "exact", spread: float = 0.0, seed: int = 1, **changes: Any
) -> LocalFit:
    """A fit of `make_data` with one mode, of which q(θ) has about the spread given."""
    layout, rng = lay_out(text), np.random.default_rng(seed)
    H = len(layout)
    theta = 0.3 * rng.normal(size=H)
    theta[0] = np.log(0.3)
    factor = spread * (np.eye(H) + 0.3 * np.tril(rng.normal(size=(H, H)), -1))
    root = np.tril(0.1 * rng.normal(size=(NUM_INDUCING, NUM_INDUCING))) + 0.3 * np.eye(NUM_INDUCING)
    settings: dict[str, Any] = {
        "expression": parse(text),
        "num_inputs": 1,
        "num_rows": NUM_ROWS,
        "bound": bound,
        "posterior": "full" if spread else "point",
        "num_free": H,
        "modes": (Mode(theta, factor, 1.0, 0.0, 0.0, 0.0),),
        "inducing": None if bound == "exact" else make_data().arrays()[0][::4],
        "q_u": None,
        "jitter": 0.0 if bound == "exact" else JITTER,
    }
    if bound == "stochastic":
        settings["q_u"] = InducingPosterior(rng.normal(size=NUM_INDUCING), root @ root.T)
    return LocalFit(**settings | changes)


def with_modes(fit: LocalFit, *weights: float) -> LocalFit:
    """The fit with several modes, a little apart."""
    (mode,) = fit.modes
    modes = (replace(mode, mean=mode.mean + 0.2 * i, weight=w) for i, w in enumerate(weights))
    return replace(fit, modes=tuple(modes))


def at_theta(component: Component) -> LocalFit:
    """The fit of a component as a point estimate at its θ, to which its q(u) goes along."""
    H, fit = len(component.theta), component.fit
    mode = Mode(component.theta, np.zeros((H, H)), 1.0, 0.0, 0.0, 0.0)
    return replace(fit, modes=(mode,), posterior="point", q_u=moved_q_u(fit, component.theta))


def inducing_factor(fit: LocalFit, theta: Array) -> Array:
    """L of Kuu at θ, from the twin of the kernel."""
    K = kernel_matrix(lay_out(fit.expression), theta, fit.inducing, fit.inducing)
    return np.linalg.cholesky(K + fit.jitter * np.eye(len(K)))


def moved_q_u(fit: LocalFit, theta: Array) -> InducingPosterior | None:
    """The whitened posterior at another θ for the same q(u)."""
    if fit.q_u is None:
        return None
    change = np.linalg.solve(inducing_factor(fit, theta), inducing_factor(fit, fit.theta))
    return InducingPosterior(change @ fit.q_u.mean, change @ fit.q_u.covariance @ change.T)


def covariances(fit: LocalFit, X: Array) -> tuple[Array, Array]:
    """Of the function [N, N] and of the noise [N] at θ, from the twin of the kernel."""
    layout = lay_out(fit.expression)
    K = kernel_matrix(layout, fit.theta, X, X)
    white = np.diag(kernel_matrix(layout, fit.theta, X)) - np.diag(K)
    merged = str(fit.expression) in ("SE + WN", "LIN + WN")
    return K, white + (0.0 if merged else np.exp(fit.theta[0])) + fit.jitter


def made_up_fit(proposal: Proposal, elbo: float, status: str = "fitted") -> LocalFit:
    """A fit of a proposal with this bound, for what reads fits and makes none."""
    mode = Mode(np.zeros(3), np.zeros((3, 3)), 1.0, elbo, 0.0, 0.0, elbo)
    return LocalFit(
        proposal.expression, 1, 100, "exact", "full", 3, status, elbo=elbo, modes=(mode,),
        warp=proposal.warp,
    )  # fmt: skip
