import gpflow
import numpy as np
import pytest
import tensorflow as tf

from vbks.inference.objectives.natural_parameters import Moments, NaturalParameters, natural_ascent

N, M = 30, 6


def some_q(num_candidates, seed=2):
    """Gaussians that are neither the prior nor the best."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(num_candidates, M, M))
    precision = np.eye(M) + root @ root.swapaxes(1, 2)
    return NaturalParameters(
        tf.constant(precision), tf.constant(2.0 * rng.normal(size=(num_candidates, M)))
    )


def test_moments__of_natural_parameters_and_of_roots_agree():
    q = some_q(3)
    moments = q.moments()
    np.testing.assert_allclose(moments.covariance, np.linalg.inv(q.precision), atol=1e-10)
    np.testing.assert_allclose(
        moments.mean, np.linalg.solve(q.precision, q.linear[..., None])[..., 0]
    )
    roots = tf.linalg.cholesky(moments.covariance)
    expected = gpflow.kullback_leiblers.gauss_kl(tf.transpose(moments.mean), roots)
    np.testing.assert_allclose(tf.reduce_sum(moments.kl), expected, rtol=1e-10)
    for part, other in zip(moments, Moments.of_root(moments.mean, roots), strict=True):
        np.testing.assert_allclose(part, other, atol=1e-10)


def as_arrays(q):
    return q.precision.numpy(), q.linear.numpy()


def test_mixed__is_between_two_gaussians_in_natural_parameters():
    first, second = some_q(2), some_q(2, seed=3)
    shares = np.array([0.25, 1.0])
    found = as_arrays(first.mixed(second, shares))
    for part, one, other in zip(found, as_arrays(first), as_arrays(second), strict=True):
        share = shares.reshape(-1, *[1] * (one.ndim - 1))
        np.testing.assert_allclose(part, (1 - share) * one + share * other)


def test_where__takes_each_candidate_from_one_of_two():
    first, second = some_q(2), some_q(2, seed=3)
    found = as_arrays(first.where(tf.constant([True, False]), second))
    for part, one, other in zip(found, as_arrays(first), as_arrays(second), strict=True):
        np.testing.assert_array_equal(part, [one[0], other[1]])


def test_or_prior__replaces_gaussians_that_are_none():
    q = some_q(2)
    broken = NaturalParameters(q.precision * [[[1.0]], [[-1.0]]], q.linear)
    precision, linear = as_arrays(broken.or_prior())
    np.testing.assert_array_equal(precision, [q.precision[0], np.eye(M)])
    np.testing.assert_array_equal(linear, [q.linear[0], np.zeros(M)])


def test_repeated__keeps_the_order_of_candidates():
    q = some_q(2)
    np.testing.assert_array_equal(q.repeated(2).linear, np.array(q.linear)[[0, 0, 1, 1]])


def test_under_prior__keeps_what_rows_say_of_u():
    """With v₀ = T v the likelihood of u, N(v₀; ·) as a site, is the same function of v."""
    q, rng = some_q(1), np.random.default_rng(4)
    T = np.tril(rng.normal(size=(M, M))) + 2.0 * np.eye(M)
    found = q.under_prior(tf.constant(T[np.newaxis]))

    def log_site(own, v):
        precision, linear = (part[0] for part in as_arrays(own))
        return linear @ v - 0.5 * v @ (precision - np.eye(M)) @ v

    for v in rng.normal(size=(3, M)):
        assert log_site(found, v) == pytest.approx(log_site(q, T @ v), rel=1e-10)


def parabola(best, curvature):
    """A bound that falls from ``best``, with steps to where a curvature would have it."""

    def step_and_value(q):
        gap = best - q.linear
        target = NaturalParameters(q.precision, q.linear + gap / curvature)
        return target, -0.5 * tf.reduce_sum(tf.square(gap), axis=-1)

    return step_and_value


@pytest.mark.parametrize("curvature", [1.0, 0.2], ids=["right", "overshoots"])
def test_ascent__arrives_also_where_full_steps_lead_too_far(curvature):
    best = tf.constant(np.random.default_rng(5).normal(size=(2, M)))
    found = natural_ascent(parabola(best, curvature), NaturalParameters.prior(2, M), 80, 1e-8)
    assert found.converged.numpy().all()
    np.testing.assert_allclose(found.q.linear, best, atol=1e-3)
    np.testing.assert_allclose(found.value, 0.0, atol=1e-5)


def test_ascent__ends_after_its_steps_without_having_arrived():
    best = tf.constant(np.full((1, M), 100.0))
    found = natural_ascent(parabola(best, 50.0), NaturalParameters.prior(1, M), 3)
    assert not found.converged.numpy().any()


def test_ascent__gives_up_a_candidate_without_a_bound():
    def step_and_value(q):
        value = tf.constant([np.nan, 0.0], q.linear.dtype)
        return q, value

    found = natural_ascent(step_and_value, NaturalParameters.prior(2, M), 5)
    assert found.converged.numpy().tolist() == [False, True]
