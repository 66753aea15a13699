"""Targets of likelihoods: which they take, and where the function would be for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.likelihoods.utils import inv_probit
from scipy.special import logit, ndtri

from vbks.arrays import Array, Mask

SHARE_EDGE = 1e-3
"""GPflow's inverse probit stays this far from 0 and 1, so shares beyond say no more about f."""


@dataclass(frozen=True)
class Domain:
    """The targets that a likelihood takes, as a test and in words, and what to do with others."""

    contains: Callable[[Array], Mask]
    words: str
    advice: str


ONE_AGAINST_THE_REST = (
    "Fit each of C classes against the others, vbks.fit(X, np.eye(C)[y], likelihood='bernoulli'), "
    "and divide the means of predict_y by their sum over the classes."
)
"""What to do with more than two classes."""

_CLASSES = Domain(
    lambda y: np.isin(y, (0.0, 1.0)),
    "0 or 1",
    f"Write the two classes as 0 and 1. {ONE_AGAINST_THE_REST}",
)
_COUNTS = Domain(
    lambda y: (y >= 0) & (y < np.inf) & (y == np.floor(y)),
    "whole numbers from 0 on",
    "Give counts, or choose another likelihood for measurements.",
)
_POSITIVE = Domain(
    lambda y: (y > 0) & (y < np.inf),
    "numbers above 0",
    "Drop such rows, or choose another likelihood, such as 'gaussian'.",
)
_SHARES = Domain(
    lambda y: (y > 0) & (y < 1),
    "numbers between 0 and 1, both excluded",
    "Divide by the largest possible value, and move 0 and 1 a little inside.",
)


def domain_of(likelihood: gpflow.likelihoods.Likelihood) -> Domain | None:
    """None where any number may be a target, as far as is known here."""
    match likelihood:
        case gpflow.likelihoods.Bernoulli():
            return _CLASSES
        case gpflow.likelihoods.Poisson():
            return _COUNTS
        case gpflow.likelihoods.Exponential() | gpflow.likelihoods.Gamma():
            return _POSITIVE
        case gpflow.likelihoods.Beta():
            return _SHARES
        case gpflow.likelihoods.Ordinal():
            labels = np.arange(likelihood.num_bins)
            words = f"whole numbers from 0 to {labels[-1]}"
            return Domain(lambda y: np.isin(y, labels), words, "Number the classes so.")
    return None


def _log(mean: Array) -> Array:
    return np.asarray(np.log(np.maximum(mean, np.finfo(np.float64).tiny)))


def _probit(share: Array) -> Array:
    return np.asarray(ndtri(np.clip(share, SHARE_EDGE, 1.0 - SHARE_EDGE)))


def _logit(share: Array) -> Array:
    return np.asarray(logit(np.clip(share, SHARE_EDGE, 1.0 - SHARE_EDGE)))


LINKS: tuple[tuple[Any, Callable[[Array], Array]], ...] = (
    (tf.exp, _log),
    (inv_probit, _probit),
    (tf.sigmoid, _logit),
)
"""Inverse links, as likelihoods of GPflow hold them, and the links."""
