"""Tests of the Gaussian process over candidates, on points of a line."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from vbks.arrays import Array
from vbks.search.strategies.acquisition import UpperConfidenceBound, log_expected_improvement
from vbks.search.strategies.surrogate import (
    PRIOR,
    Prediction,
    Surrogate,
    SurrogatePrior,
    choose_batch,
    fit_surrogate,
    normal_scores,
    surrogate_loss,
)

MODEL = Surrogate(mean=0.3, scale=1.2, lengthscale=0.4, noise=0.1)
SEEN = np.array([0.0, 0.3, 0.35, 1.0])
VALUES = np.array([-1.0, 0.4, 0.5, -0.7])
UNSEEN = np.linspace(-0.5, 2.0, 9)


def squared(a: Array, b: Array) -> Array:
    return np.asarray((a[:, None] - b[None, :]) ** 2)


def predict(seen: Array = SEEN, values: Array = VALUES) -> Prediction:
    return Prediction(MODEL, squared(seen, seen), values, squared(seen, UNSEEN))


def test_loss__has_the_slope_of_differences() -> None:
    at = np.array(PRIOR.means) + np.array([0.2, -0.3, 0.4, 0.5])
    _, slope = surrogate_loss(at, squared(SEEN, SEEN), VALUES)
    expected = approx_fprime(at, lambda x: surrogate_loss(x, squared(SEEN, SEEN), VALUES)[0], 1e-7)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-5)


def test_fit__finds_the_process_that_values_are_from() -> None:
    rng = np.random.default_rng(0)
    at = rng.uniform(0, 6, 150)
    truth = Surrogate(0.5, 1.3, 0.5, 0.1)
    K = truth.covariance(squared(at, at)) + truth.noise**2 * np.eye(150)
    found = fit_surrogate(squared(at, at), rng.multivariate_normal(np.full(150, 0.5), K))
    assert found.lengthscale == pytest.approx(0.5, rel=0.2)
    assert found.noise == pytest.approx(0.1, rel=0.2)
    assert found.scale == pytest.approx(1.3, rel=0.4)


def test_fit__of_a_single_value_is_the_prior() -> None:
    found = fit_surrogate(np.zeros((1, 1)), np.zeros(1))
    assert abs(np.log(found.lengthscale) - PRIOR.means[2]) < 1e-3
    assert abs(np.log(found.scale) - PRIOR.means[1]) < PRIOR.spreads[1]


def test_scores__are_normal_in_the_order_of_values() -> None:
    values = np.array([-1e5, 3.0, 4.0, 3.5, -20.0])
    scores = normal_scores(values)
    np.testing.assert_array_equal(np.argsort(scores), np.argsort(values))
    np.testing.assert_allclose(scores, -normal_scores(-values), atol=1e-12)
    assert normal_scores(np.arange(1000.0)).std() == pytest.approx(1.0, abs=0.01)


def test_scores__of_equal_values_are_equal() -> None:
    np.testing.assert_array_equal(normal_scores(np.full(3, -1e5)), np.zeros(3))


def test_prediction__is_that_of_a_twin() -> None:
    K = MODEL.covariance(squared(SEEN, SEEN)) + MODEL.noise**2 * np.eye(4)
    cross = MODEL.covariance(squared(SEEN, UNSEEN))
    mean = MODEL.mean + cross.T @ np.linalg.inv(K) @ (VALUES - MODEL.mean)
    variance = MODEL.scale**2 - np.diag(cross.T @ np.linalg.inv(K) @ cross)
    np.testing.assert_allclose(predict().mean, mean, atol=1e-10)
    np.testing.assert_allclose(predict().variance, variance, atol=1e-10)


def test_believing__is_seeing_what_was_expected() -> None:
    believing = predict()
    for place in (2, 5):
        believing.believe(place, squared(UNSEEN[[place]], UNSEEN)[0])
    more = np.append(SEEN, UNSEEN[[2, 5]])
    seeing = predict(more, np.append(VALUES, believing.mean[[2, 5]]))
    np.testing.assert_allclose(believing.mean, seeing.mean, atol=1e-10)
    np.testing.assert_allclose(believing.variance, seeing.variance, atol=1e-10)


def test_batch__begins_with_the_highest_gain_and_has_nothing_twice() -> None:
    prediction = predict()
    gain = log_expected_improvement(prediction.mean, np.sqrt(prediction.variance), 0.5)
    chosen = choose_batch(
        prediction, 0.5, lambda place: squared(UNSEEN[[place]], UNSEEN)[0], num=20
    )
    assert chosen[0] == np.argmax(gain)
    assert sorted(chosen) == list(range(len(UNSEEN)))


def test_batch__keeps_its_members_apart() -> None:
    crowd = np.array([2.0, 2.001, 2.002, -1.5])
    cross = squared(SEEN, crowd)
    prediction = Prediction(MODEL, squared(SEEN, SEEN), VALUES, cross)
    chosen = choose_batch(prediction, 0.5, lambda place: squared(crowd[[place]], crowd)[0], num=2)
    assert 3 in chosen


def test_batch__goes_by_the_acquisition() -> None:
    prediction, bound = predict(), UpperConfidenceBound(50.0)
    scores = bound(prediction.mean, np.sqrt(prediction.variance), 0.5)
    farthest = np.argmax(prediction.variance)
    chosen = choose_batch(
        prediction, 0.5, lambda place: squared(UNSEEN[[place]], UNSEEN)[0], 1, bound
    )
    assert chosen == [np.argmax(scores)] == [farthest]


def test_fit__follows_its_prior_where_it_is_sharp() -> None:
    sharp = SurrogatePrior(means=(0.3, 0.1, -0.2, -1.0), spreads=(1e-4,) * 4)
    found = fit_surrogate(squared(SEEN, SEEN), VALUES, sharp)
    expected = Surrogate(0.3, np.exp(0.1), np.exp(-0.2), np.exp(-1.0))
    for name in ("mean", "scale", "lengthscale", "noise"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-2)
