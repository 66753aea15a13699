"""Targets that likelihoods take, and links from the means of targets to the function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from gpflow.likelihoods.utils import inv_probit
from scipy.special import logit, ndtri

from vbks.arrays import Array, Mask

SHARE_EDGE = 1e-3
"""GPflow's inverse probit stays this far from 0 and 1, so shares beyond say no more about f."""

ONE_AGAINST_THE_REST = (
    "Fit each of C classes against the others, vbks.fit(X, np.eye(C)[y], likelihood='bernoulli'), "
    "and divide the means of predict_y by their sum over the classes."
)
"""What to do with more than two classes."""

Link = Callable[[Array], Array]
"""The function at which targets have given means, element by element."""


@dataclass(frozen=True)
class Domain:
    """The targets that a likelihood takes, as a test and in words, and what to do with others."""

    contains: Callable[[Array], Mask]
    words: str
    """What follows "the likelihood takes", such as "numbers above 0"."""
    advice: str
    """A sentence on what to do with other targets."""


def _are_classes(y: Array) -> Mask:
    return np.isin(y, (0.0, 1.0))


def _are_counts(y: Array) -> Mask:
    return np.asarray((y >= 0) & (y < np.inf) & (y == np.floor(y)))


def _are_positive(y: Array) -> Mask:
    return np.asarray((y > 0) & (y < np.inf))


def _are_shares(y: Array) -> Mask:
    return np.asarray((y > 0) & (y < 1))


CLASSES = Domain(
    _are_classes, "0 or 1", f"Write the two classes as 0 and 1. {ONE_AGAINST_THE_REST}"
)
COUNTS = Domain(
    _are_counts,
    "whole numbers from 0 on",
    "Give counts, or choose another likelihood for measurements.",
)
POSITIVE_NUMBERS = Domain(
    _are_positive,
    "numbers above 0",
    "Drop such rows, or choose another likelihood, such as 'gaussian'.",
)
SHARES = Domain(
    _are_shares,
    "numbers between 0 and 1, both excluded",
    "Divide by the largest possible value, and move 0 and 1 a little inside.",
)


def link_of(inverse: object) -> Link | None:
    """The link of an inverse link that a likelihood of GPflow holds, if it is known."""
    return next((link for known, link in _LINKS if known is inverse), None)


def _log(mean: Array) -> Array:
    return np.asarray(np.log(np.maximum(mean, np.finfo(np.float64).tiny)))


def _probit(share: Array) -> Array:
    return np.asarray(ndtri(np.clip(share, SHARE_EDGE, 1.0 - SHARE_EDGE)))


def _logit(share: Array) -> Array:
    return np.asarray(logit(np.clip(share, SHARE_EDGE, 1.0 - SHARE_EDGE)))


_LINKS: tuple[tuple[Any, Link], ...] = ((tf.exp, _log), (inv_probit, _probit), (tf.sigmoid, _logit))
