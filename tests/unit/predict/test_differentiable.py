from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from support.fits import make_data, make_fit, new_inputs, with_modes

from vbks.arrays import Array
from vbks.data.training import prepare
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit, Warp
from vbks.errors import DataError, GraphError
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out
from vbks.predict import differentiable
from vbks.predict.mixture import KernelMixture

SOFTPLUS, LOGIT = InverseSoftplus(2.5), Logit(0.0, 20.0)
DATA = {warp: make_data().warped(warp) for warp in (Identity(), Log(), SOFTPLUS, LOGIT)}
CASES = [("exact", Log()), ("collapsed", LOGIT), ("stochastic", SOFTPLUS)]


def make_mixture(bound: str, *warps: Warp) -> KernelMixture:
    """Waves, lines, roughness, changes and noise that depends on inputs, under two warps."""
    first, second = warps
    fits = [
        with_modes(make_fit("SE * PER + LIN", bound, spread=0.1, warp=first), 0.6, 0.4),
        make_fit("OU + WN * LIN", bound, warp=second),
        make_fit("CP(SE, RQ)", bound, warp=second),
    ]
    return KernelMixture(fits, [0.5, 0.2, 0.3], DATA, num_samples=4)


@pytest.fixture(scope="module")
def mixture() -> KernelMixture:
    return small_mixture()


def small_mixture() -> KernelMixture:
    return KernelMixture([make_fit("SE"), make_fit("LIN")], [0.7, 0.3], make_data())


def answers(mixture: KernelMixture, X: Any, Y: Any) -> tf.Tensor:
    """All that has a gradient and does not depend on other rows: [..., N, 5]."""
    moments = (*mixture.predict_f(X), *mixture.predict_y(X))
    density = mixture.predict_log_density((X, Y))[..., tf.newaxis]
    return tf.concat([*moments, density], axis=-1)


def differences(function: Callable[[Array], Any], X: Array, step: float = 1e-5) -> Array:
    """Central differences by one number that is added to all rows."""
    above, below = (np.asarray(function(X + sign * step)) for sign in (1.0, -1.0))
    return (above - below) / (2.0 * step)


def by_inputs(function: Callable[[tf.Tensor], tf.Tensor], X: Any) -> Array:
    """The derivative of every answer by the input of its own row: [N, 5]."""
    Xnew = tf.convert_to_tensor(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(Xnew)
        columns = tf.unstack(function(Xnew), axis=-1)
    return np.concatenate([tape.gradient(column, Xnew).numpy() for column in columns], axis=-1)


@pytest.mark.parametrize(("bound", "warp"), CASES)
def test_gradient__is_that_of_finite_differences(bound: str, warp: Warp) -> None:
    mixture, X = make_mixture(bound, Identity(), warp), new_inputs(5) + 0.1
    Y = np.linspace(1.0, 6.0, 5)[:, np.newaxis]
    expected = differences(lambda X: answers(mixture, X, Y), X)
    found = by_inputs(lambda X: answers(mixture, X, Y), X)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
    assert np.all(np.abs(expected).max(axis=0) > 0.01)


def test_gradient_for_targets__is_that_of_finite_differences() -> None:
    mixture = KernelMixture([make_fit("SE", warp=Log()), make_fit("SE")], [0.7, 0.3], DATA)
    X = new_inputs(4)
    Y = tf.constant([[-1.0], [0.7], [3.0], [8.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(Y)
        density = mixture.predict_log_density((X, Y))
    expected = differences(lambda Y: mixture.predict_log_density((X, Y)), Y.numpy())
    np.testing.assert_allclose(tape.gradient(density, Y)[:, 0], expected, rtol=1e-6)
    found = by_inputs(lambda X: mixture.predict_log_density((X, Y))[:, tf.newaxis], X)
    assert np.all(np.isfinite(found))


def test_covariance__has_the_gradient_of_finite_differences() -> None:
    fits = [make_fit("SE", warp=Log()), make_fit("PER + WN * LIN")]
    mixture, X = KernelMixture(fits, [0.7, 0.3], DATA), new_inputs(4) + 0.1
    weights = np.random.default_rng(0).normal(size=(1, 4, 4))

    def total(X: Any) -> tf.Tensor:
        return tf.reduce_sum(weights * mixture.predict_y(X, full_cov=True)[1])

    Xnew = tf.Variable(X)
    with tf.GradientTape() as tape:
        value = total(Xnew)
    expected = [differences(lambda x, row=row: total(moved(X, row, x)), 0.0) for row in range(4)]
    np.testing.assert_allclose(tape.gradient(value, Xnew)[:, 0], expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(tf.function(total)(X), value, rtol=1e-8)


def moved(X: Array, row: int, step: Any) -> Array:
    return X + np.asarray(step) * (np.arange(len(X)) == row)[:, np.newaxis]


def test_second_derivative__is_that_of_finite_differences(mixture: KernelMixture) -> None:
    X = tf.constant(new_inputs(3) + 0.1)

    def slope(X: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(X)
            mean, variance = mixture.predict_f(X)
            value = tf.reduce_sum(mean + tf.sqrt(variance))
        return tape.gradient(value, X)

    with tf.GradientTape() as tape:
        tape.watch(X)
        found = slope(X)
    expected = differences(lambda X: slope(tf.constant(X)), X.numpy())
    np.testing.assert_allclose(tape.gradient(found, X), expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(2, 3), (2, 1, 3), (1, 1)])
def test_batches__are_predicted_one_by_one(mixture: KernelMixture, shape: Any) -> None:
    X = np.random.default_rng(1).uniform(2.0, 10.0, (*shape, 1))
    batches, N = X.reshape(-1, *X.shape[-2:]), shape[-1]
    Y = X + 0.5
    for Xnew in (X, tf.constant(X)):
        expected = [answers(mixture, x, y) for x, y in zip(batches, batches + 0.5, strict=True)]
        found = answers(mixture, Xnew, Y)
        np.testing.assert_allclose(found, np.reshape(expected, (*shape, 5)), rtol=1e-12)
        expected = [mixture.predict_f(x, full_cov=True)[1] for x in batches]
        _, found = mixture.predict_f(Xnew, full_cov=True)
        np.testing.assert_allclose(found, np.reshape(expected, (*shape[:-1], 1, N, N)), rtol=1e-12)
        quantiles = mixture.predict_quantiles(Xnew)
        np.testing.assert_allclose(
            tf.reshape(quantiles, [-1, 3]), mixture.predict_quantiles(X.reshape(-1, 1)), rtol=1e-9
        )
        assert mixture.predict_f_samples(Xnew, 4).shape == (*shape[:-1], 4, N, 1)
        assert mixture.predict_y_samples(Xnew, full_cov=False).shape == (*shape, 1)


def test_batches_of_unknown_size__have_values_and_gradients_in_graphs(
    mixture: KernelMixture, monkeypatch: Any
) -> None:
    monkeypatch.setattr(differentiable, "ROWS_AT_ONCE", 4)
    spec = tf.TensorSpec([None, None, 1], tf.float64)
    predict = tf.function(lambda X: mixture.predict_f(X)[1], input_signature=[spec])
    joint = tf.function(lambda X: mixture.predict_f(X, full_cov=True)[1], input_signature=[spec])
    for shape in ((3, 3, 1), (1, 2, 1)):
        X = np.random.default_rng(2).uniform(2.0, 10.0, shape)
        np.testing.assert_allclose(predict(X), mixture.predict_f(X)[1], rtol=1e-8)
        expected = mixture.predict_f(X, full_cov=True)[1]
        np.testing.assert_allclose(joint(X), expected, rtol=1e-8, atol=1e-10)
        expected = by_inputs(lambda X: mixture.predict_f(X)[1], X)
        np.testing.assert_allclose(by_inputs(predict, X), expected, rtol=1e-8)


def test_compiled_function__has_the_values_and_gradients_of_the_mixture() -> None:
    mixture = small_mixture()  # which has predicted nothing yet
    X, Y = new_inputs(5), np.linspace(1.0, 6.0, 5)[:, np.newaxis]
    compiled = tf.function(lambda X: answers(mixture, X, Y))
    found = compiled(X)
    np.testing.assert_allclose(found, answers(mixture, X, Y), rtol=1e-8)
    expected = by_inputs(lambda X: answers(mixture, X, Y), X)
    np.testing.assert_allclose(by_inputs(compiled, X), expected, rtol=1e-8, atol=1e-10)


def test_tensors__may_be_of_32_bits_and_of_one_axis(mixture: KernelMixture) -> None:
    X = tf.Variable([3.5, 6.0], dtype=tf.float32)
    with tf.GradientTape() as tape:
        mean, _ = mixture.predict_f(X)
    slope = tape.gradient(mean, X)
    assert slope.dtype == tf.float32
    expected = by_inputs(lambda X: mixture.predict_f(X)[0], np.array([[3.5], [6.0]]))
    np.testing.assert_allclose(slope, expected[:, 0], rtol=1e-5)


def test_gradient_at_rows_of_the_data__is_finite() -> None:
    fit = make_fit("SE", jitter=0.0)
    fit.modes[0].mean[0] = np.log(1e-12)
    X, _ = next(make_data().source.blocks(100))
    fits = [replace(fit, warp=warp) for warp in DATA]
    mixture = KernelMixture(fits, [0.1, 0.2, 0.3, 0.4], DATA)
    found = by_inputs(lambda X: tf.concat(mixture.predict_f(X), axis=-1), X[:4])
    assert np.all(np.isfinite(found))


def test_likelihood_with_a_link__has_gradients() -> None:
    X, y = next(make_data().source.blocks(100))
    data = prepare((X, np.round(y)), standardise_targets=False)
    fits = [make_fit("SE", "stochastic", spread=0.2), make_fit("SE + LIN", "stochastic")]
    poisson = make_likelihood("poisson")
    mixture = KernelMixture(fits, [0.7, 0.3], data, likelihood=poisson, num_samples=6)
    Xnew, Y = new_inputs(4) + 0.1, np.array([[0.0], [2.0], [1.0], [5.0]])
    expected = differences(lambda X: answers(mixture, X, Y), Xnew)
    found = by_inputs(lambda X: answers(mixture, X, Y), Xnew)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


class Cubic(gpflow.kernels.Polynomial):
    """A kernel that is known as a GPflow object alone."""


def test_kernel_that_is_not_batched__has_gradients() -> None:
    expression = from_gpflow(Cubic(degree=3.0)).expression
    H = len(lay_out(expression))
    fit = make_fit("SE", expression=expression, num_free=H)
    mode = fit.modes[0].__class__(np.full(H, -1.0), np.zeros((H, H)), 1.0, 0.0, 0.0, 0.0)
    fit = make_fit("SE", expression=expression, num_free=H, modes=(mode,))
    mixture, X = KernelMixture([fit], [1.0], make_data()), new_inputs(4) + 0.1
    expected = differences(lambda X: answers(mixture, X, X), X)
    found = by_inputs(lambda X: answers(mixture, X, X.numpy()), X)
    np.testing.assert_allclose(found[:, :4], expected[:, :4], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["predict_quantiles", "predict_f_samples", "predict_y_samples"])
def test_what_has_no_gradient__says_so(mixture: KernelMixture, name: str) -> None:
    X = tf.constant(new_inputs())
    with tf.GradientTape() as tape:
        tape.watch(X)
        found = getattr(mixture, name)(X)
    with pytest.raises(GraphError, match=r"of a mixture have no gradient. Use predict_f, predict"):
        tape.gradient(found, X)
    with pytest.raises(GraphError, match=r"of a mixture cannot be part of a graph. Call it outs"):
        tf.function(getattr(mixture, name), autograph=False)(X)


def test_covariance_after_other_warps__is_refused_where_it_needs_a_graph() -> None:
    mixture = KernelMixture([make_fit("SE", warp=LOGIT)], [1.0], DATA)
    X = tf.constant(new_inputs(3))
    with tf.GradientTape() as tape:
        tape.watch(X)
        _, covariance = mixture.predict_f(X, full_cov=True)
    with pytest.raises(GraphError, match=r"after the warp 'logit' have no gradient and cannot be"):
        tape.gradient(covariance, X)


def test_wrong_inputs__are_refused(mixture: KernelMixture) -> None:
    for wrong in (np.zeros((2, 3, 2)), tf.zeros((4, 2), tf.float64), np.zeros((0, 1))):
        with pytest.raises(DataError, match=r"columns, expected at least one row and 1 columns"):
            mixture.predict_f(wrong)
    with pytest.raises(DataError, match=r"Xnew has 1 missing or infinite values, the first in row"):
        mixture.predict_f(tf.constant([[1.0], [np.nan]], tf.float64))
    with pytest.raises(DataError, match=r"Ynew has the shape \[2\], expected \[2, 3, 1\]"):
        mixture.predict_log_density((np.ones((2, 3, 1)), np.ones(2)))


def test_copy__predicts_the_same(mixture: KernelMixture) -> None:
    X = new_inputs(3)
    tf.function(mixture.predict_f)(tf.constant(X))
    copied = gpflow.utilities.deepcopy(mixture)
    np.testing.assert_allclose(copied.predict_f(X), mixture.predict_f(X), rtol=1e-12)


def test_jacobian__is_made_of_gradients(mixture: KernelMixture) -> None:
    X = tf.constant(new_inputs(3))
    with tf.GradientTape() as tape:
        tape.watch(X)
        mean, _ = mixture.predict_f(X)
    found = np.squeeze(tape.jacobian(mean, X))
    expected = by_inputs(lambda X: mixture.predict_f(X)[0], X)
    np.testing.assert_allclose(found, np.diag(expected[:, 0]), rtol=1e-9, atol=1e-12)
