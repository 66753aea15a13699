"""Residuals of rows under a Gaussian process that is known, without any fit."""

import numpy as np
from scipy.linalg import solve_triangular

from vbks.criticism.sequence import RowSequence
from vbks.criticism.whitening import Residuals
from vbks.data.units import Units
from vbks.words import Axes, Axis

NOISE = 0.1


def smooth_covariance(X, lengthscale=15.0):
    """SE of variance one, with noise."""
    X = np.asarray(X, float).reshape(len(X), -1)
    squares = np.sum((X[:, np.newaxis] - X) ** 2, axis=-1)
    return np.exp(-0.5 * squares / lengthscale**2) + NOISE * np.eye(len(X))


def make_sequence(X, y, along=0, names=("month",), unit="months"):
    X = np.asarray(X, float).reshape(len(y), -1)
    inputs = tuple(
        Axis(name, unit if d == 0 else None, d == along, low=X[:, d].min(), high=X[:, d].max())
        for d, name in enumerate(names)
    )
    return RowSequence(X, y, np.arange(len(y)), along, Axes(inputs), len(y))


def make_residuals(X, y, C, num=199, seed=0, **axes):
    """Residuals of targets with covariance C, and of replicates of it."""
    rows = make_sequence(X, y, **axes)
    L = np.linalg.cholesky(C)
    drawn = np.random.default_rng(seed).standard_normal((num, len(y)))
    z = np.vstack([solve_triangular(L, y, lower=True), drawn])
    units = Units(np.zeros(rows.X.shape[1]), np.ones(rows.X.shape[1]), 0.0, 1.0)
    return Residuals(rows, L, z, z @ L.T, units)


def draw(C, seed=1):
    return np.linalg.cholesky(C) @ np.random.default_rng(seed).standard_normal(len(C))


def share_above(measured):
    """The share of replicates with at least the statistic of the data."""
    return np.mean(measured.values[1:] >= measured.values[0])
