"""Ascents on the bound of the VBKS layer, and the samples that they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import qmc

from vbks.arrays import Array
from vbks.weights.layer_objective import Objective

Ascent = Literal["quasi-newton", "stochastic"]
"""Ascents on q(g): on samples that stay the same, or with fresh ones in each step as in the
paper."""


def samples(objective: Objective, seed: int, purpose: str) -> Array:
    """Standard normal samples [S, K] of mean zero and covariance I, exactly.

    They are Sobol's points, whose first columns fill space best, made orthogonal and taken with
    both signs.
    """
    K, policy = objective.size, objective.policy
    width = min(objective.widest, policy.widest_sd) / policy.resolved_sd
    pairs = max(policy.pairs, K, min(policy.pairs * width**2, policy.max_numbers / K))
    rng = np.random.default_rng([seed, *purpose.encode()])
    points = qmc.Sobol(K, seed=rng).random_base2(int(np.ceil(np.log2(pairs))))
    Q, _ = np.linalg.qr(ndtri(points + 2.0**-31))  # half of Sobol's last digit keeps off zero
    eta = np.sqrt(len(points)) * Q
    return np.concatenate([eta, -eta])


Climb = Callable[[Array], Array]
"""``climb(x)`` is where an ascent from x ends."""


def _quasi_newton(objective: Objective, seed: int) -> Climb:
    """L-BFGS on samples that stay the same."""
    eta = samples(objective, seed, "ascent")

    def climb(x: Array) -> Array:
        def loss(x: Array) -> tuple[float, Array]:
            value, gradient = objective(x, eta)
            return -value, -gradient

        policy = objective.policy
        options = {
            "maxcor": policy.memory, "ftol": policy.tolerance, "gtol": 1e-6, "maxiter": 1000
        }  # fmt: skip
        found = minimize(loss, x, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(found.x)

    return climb


def _stochastic(objective: Objective, seed: int) -> Climb:
    """Adam with fresh samples in each step."""

    def climb(x: Array) -> Array:
        rng, policy = np.random.default_rng(seed), objective.policy
        first, second = np.zeros_like(x), np.zeros_like(x)
        for step in range(1, policy.steps + 1):
            eta = rng.normal(size=(policy.step_pairs, objective.size))
            _, gradient = objective(x, np.concatenate([eta, -eta]))
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            rate = 0.5 * policy.rate * (1 + np.cos(np.pi * step / policy.steps))
            x = x + rate * first / (1 - 0.9**step) / scale
        return x

    return climb


ASCENTS: dict[str, Callable[[Objective, int], Climb]] = {
    "quasi-newton": _quasi_newton,
    "stochastic": _stochastic,
}
"""Ascents by their names: where they begin is up to whoever calls them."""
