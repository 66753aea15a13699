"""Rows left out, against posteriors that are formed again without them."""

import numpy as np
import pytest
import tensorflow as tf
from support.fits import make_data, make_fit
from support.reference import kernel_matrix

from vbks.inference.likelihoods.likelihood import Gaussian
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.result import InducingPosterior
from vbks.kernels.layout import lay_out
from vbks.parts.averaging import matched
from vbks.parts.held_out import NUM_FOLDS, held_out_means
from vbks.parts.sources import sources_of
from vbks.predict.mixture import KernelMixture
from vbks.words import Axes, Axis

AXES = Axes((Axis("x", low=3.0, high=9.0),))
X, Y = make_data().arrays()


def parts_of_fit(fit, **settings):
    mixture = KernelMixture([fit], [1.0], make_data(), **settings)
    return matched(next(iter(sources_of(mixture.average, AXES).values())))


def pieces(fit):
    """Texts and θ of the curve and the cycle of SE + LIN * PER0."""
    return {"curve": ("SE", fit.theta[:3]), "cycle": ("LIN * PER0", np.r_[0.0, fit.theta[3:]])}


def cross(fit, kind, rows, others):
    text, theta = pieces(fit)[kind]
    return kernel_matrix(lay_out(text), theta, rows, others)


def blocks():
    return np.array_split(np.argsort(X[:, 0], kind="stable"), NUM_FOLDS)


def test_rows_left_out_of_an_exact_fit__are_predicted_from_the_others():
    fit = make_fit("SE + LIN * PER0")
    parts = parts_of_fit(fit)
    found = held_out_means(parts, make_data(), Gaussian())
    C = kernel_matrix(lay_out(fit.expression), fit.theta, X, X) + np.exp(fit.theta[0]) * np.eye(30)
    for place, kind in enumerate(parts.kinds[1:], start=1):
        expected = np.empty(len(X))
        for block in blocks():
            rest = np.setdiff1d(np.arange(len(X)), block)
            alpha = np.linalg.solve(C[np.ix_(rest, rest)], Y[rest])
            expected[block] = cross(fit, kind.head, X[block], X[rest]) @ alpha
        np.testing.assert_allclose(found[place], parts.units.y_scale * expected, atol=1e-9)
    np.testing.assert_allclose(found[0], parts.units.y_mean)


@pytest.mark.parametrize("bound", ["collapsed", "stochastic"])
def test_rows_left_out_of_a_sparse_fit__leave_the_best_q_of_the_others(bound):
    fit = make_fit("SE + LIN * PER0", "collapsed")
    Z, noise = fit.inducing, np.exp(fit.theta[0])
    K = lambda A, B: kernel_matrix(lay_out(fit.expression), fit.theta, A, B)  # noqa: E731
    L = np.linalg.cholesky(K(Z, Z) + fit.jitter * np.eye(len(Z)))

    def best(rows):
        A = np.linalg.solve(L, K(Z, X[rows]))
        S = np.linalg.inv(np.eye(len(Z)) + A @ A.T / noise)
        return S @ A @ Y[rows] / noise, S

    if bound == "stochastic":
        q = InducingPosterior(*best(np.arange(len(X))))
        fit = make_fit("SE + LIN * PER0", "stochastic", q_u=q)
    parts = parts_of_fit(fit)
    found = held_out_means(parts, make_data(), Gaussian())
    for place, kind in enumerate(parts.kinds[1:], start=1):
        expected = np.empty(len(X))
        for block in blocks():
            m, _ = best(np.setdiff1d(np.arange(len(X)), block))
            expected[block] = cross(fit, kind.head, X[block], Z) @ np.linalg.solve(L.T, m)
        np.testing.assert_allclose(found[place], parts.units.y_scale * expected, atol=1e-8)


def test_rows_left_out_under_another_likelihood__change_predictions_where_they_are():
    likelihood = make_likelihood("student_t")
    parts = parts_of_fit(make_fit("SE", "stochastic"), likelihood=likelihood)
    found = held_out_means(parts, make_data(), likelihood)
    within = parts.means(X)
    assert np.all(np.isfinite(found)) and not np.allclose(found[1], within[1], atol=1e-3)
    assert tf.executing_eagerly()
