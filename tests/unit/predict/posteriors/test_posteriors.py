from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.fits import BOUNDS, at_theta, make_data, make_fit

from vbks.arrays import Array
from vbks.data.warps import Identity
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.predict.posteriors import posteriors
from vbks.predict.posteriors.conditioning import condition
from vbks.predict.posteriors.posteriors import Posteriors
from vbks.predict.posteriors.samples import draw_components

TEXTS = ("SE", "SE * PER + LIN", "SE + WN", "(SE + WN) * LIN")
DATA = {Identity(): make_data()}


def inputs(num: int = 9) -> Array:
    return np.linspace(-2.5, 2.5, num)[:, None]


def make_posteriors(bound: str, num_samples: int = 8) -> Posteriors:
    members = [(make_fit("SE", bound, spread=0.1), 0.5), (make_fit("SE + LIN", bound), 0.5)]
    (part,) = condition(draw_components(members, num_samples), DATA)
    return part


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_one_component__has_the_posterior_of_gpflow(bound: str, text: str) -> None:
    fit = make_fit(text, bound)
    (part,) = condition(draw_components([(fit, 1.0)]), DATA)
    model = gpflow_model(fit, make_data())
    expected_mean, expected_covariance = model.predict_f(inputs(), full_cov=True)
    mean, covariance = part.joint(inputs())
    np.testing.assert_allclose(mean[0], expected_mean[:, 0], atol=1e-8)
    np.testing.assert_allclose(covariance, expected_covariance, atol=1e-8)
    mean, variance = part.marginals(inputs())
    np.testing.assert_allclose(mean[0], expected_mean[:, 0], atol=1e-8)
    np.testing.assert_allclose(variance[0], np.diag(expected_covariance[0]), atol=1e-8)
    noisy = variance + part.noise(inputs())
    np.testing.assert_allclose(noisy[0], model.predict_y(inputs())[1][:, 0], atol=1e-8)


def test_jitter_of_an_exact_fit__is_noise() -> None:
    fit = make_fit("SE", jitter=0.01)
    (part,) = condition(draw_components([(fit, 1.0)]), DATA)
    np.testing.assert_allclose(part.noise(inputs()), 0.31, rtol=1e-12)
    expected = gpflow_model(fit, make_data()).predict_f(inputs())
    for found, value in zip(part.marginals(inputs()), expected, strict=True):
        np.testing.assert_allclose(found[0], value[:, 0], atol=1e-8)


@pytest.mark.parametrize("bound", BOUNDS)
def test_many_components__have_the_posteriors_of_each(bound: str) -> None:
    part = make_posteriors(bound)
    assert len(part) == 5
    mean, variance = part.marginals(inputs())
    for r, component in enumerate(part.kernels.components):
        model = gpflow_model(at_theta(component), make_data())
        expected_mean, expected_variance = model.predict_f(inputs())
        np.testing.assert_allclose(mean[r], expected_mean[:, 0], atol=1e-8)
        np.testing.assert_allclose(variance[r], expected_variance[:, 0], atol=1e-8)
    np.testing.assert_allclose(
        part.kernels.parameters, np.exp([c.theta[0] for c in part.kernels.components])
    )


@pytest.mark.parametrize("bound", BOUNDS)
def test_pieces__say_the_same_as_the_whole(bound: str) -> None:
    part = make_posteriors(bound)
    for function in ("marginals", "joint"):
        whole = getattr(part, function)(inputs())
        for size in (1, 2, 9):
            pieces = [*part.in_pieces(size)]
            assert sum(len(piece) for piece in pieces) == len(part)
            assert max(len(piece) for piece in pieces) <= size
            found = [getattr(piece, function)(inputs()) for piece in pieces]
            for values, expected in zip(zip(*found, strict=True), whole, strict=True):
                np.testing.assert_allclose(np.concatenate(values), expected, atol=1e-12)
    np.testing.assert_array_equal(part.take(np.array([3, 1])).weights, part.weights[[3, 1]])
    np.testing.assert_array_equal(part.take(np.array([4, 1])).members, [1, 0])


def test_variance_of_a_function_that_is_known__is_not_negative() -> None:
    fit = make_fit("SE")
    theta = np.array([np.log(1e-14), 0.0, np.log(0.5)])
    fit = replace(fit, modes=(replace(fit.modes[0], mean=theta),), jitter=1e-13)
    (part,) = condition(draw_components([(fit, 1.0)]), DATA)
    _, variance = part.marginals(make_data().arrays()[0])
    assert np.all(variance >= 0.0)
    assert np.all(variance < 1e-6)


def test_graphs__serve_all_sizes() -> None:
    for num_samples, rows in ((4, 3), (6, 4), (8, 5)):
        make_posteriors("collapsed", num_samples).marginals(inputs(rows))
    before = posteriors._marginals.experimental_get_tracing_count()
    for num_samples, rows in ((10, 6), (14, 11)):
        make_posteriors("collapsed", num_samples).marginals(inputs(rows))
    assert posteriors._marginals.experimental_get_tracing_count() == before
