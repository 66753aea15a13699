import numpy as np
import pytest
from scipy.special import ive
from scipy.stats import norm

import vbks
from vbks.errors import DataError, GrammarError
from vbks.inference.bounds.covariance import ExpressionCovariance
from vbks.inference.bounds.fourier_features import (
    FeatureSampler,
    fourier_features,
    stochastic_log_det,
)
from vbks.kernels.layout import lay_out

NUM_DRAWS = 10_000
LEVEL = 0.01
"""Chance that a correct sampler fails a comparison with a kernel, over all of its entries."""

EXPRESSIONS = (
    ("SE", 2),
    ("RQ", 2),
    ("M32", 2),
    ("M52[1] * SE + M32[2]", 2),
    ("PER", 2),
    ("SE + RQ + LIN", 1),
    ("OU * SE[1] + OU[2]", 2),
    ("SE * PER", 1),
    ("SE[1] * RQ[2] + PER[2]", 2),
    ("(RQ + LIN) * (SE + PER)", 1),
    ("SE * (C + PER) + WN", 1),
    ("CP[1](SE, LIN * PER)", 1),
    ("SE * LIN", 5),
)


def draw_case(expression, num_inputs, num_rows, ard=True):
    rng = np.random.default_rng(len(expression) + num_inputs)
    X = rng.uniform(-1.5, 1.5, size=(num_rows, num_inputs))
    layout = lay_out(expression, num_inputs, ard)
    return layout.prior_mean + 0.3 * rng.normal(size=len(layout)), X, rng


def assert_unbiased(expression, num_inputs, ard=True):
    theta, X, rng = draw_case(expression, num_inputs, num_rows=5, ard=ard)
    sampler = FeatureSampler(expression, theta, X, ard=ard)
    draws = (sampler.draw(12, rng) for _ in range(NUM_DRAWS))
    products = np.array([features @ features.T for features in draws])
    K = ExpressionCovariance(expression, theta, num_inputs, ard=ard).matrix(X, X).numpy()
    error = products.std(axis=0, ddof=1) / np.sqrt(NUM_DRAWS)
    num_entries = len(X) * (len(X) + 1) // 2
    limit = norm.isf(LEVEL / (2 * num_entries))
    assert np.all(np.abs(products.mean(axis=0) - K) <= limit * error + 1e-12)


@pytest.mark.parametrize(("expression", "num_inputs"), EXPRESSIONS)
def test_features__have_the_kernel_as_their_mean(expression, num_inputs):
    assert_unbiased(expression, num_inputs)


def test_features__share_a_lengthscale_without_ard():
    assert_unbiased("SE * PER", 2, ard=False)


def test_many_features__come_close_to_the_kernel():
    theta, X, rng = draw_case("SE * PER + LIN", 1, num_rows=20)
    features = fourier_features("SE * PER + LIN", theta, X, 40_000, rng)
    assert features.shape == (20, 40_000)
    K = ExpressionCovariance("SE * PER + LIN", theta).matrix(X, X).numpy()
    np.testing.assert_allclose(features @ features.T, K, atol=0.05)


def test_frequencies_of_a_wave__have_the_weights_of_bessel_functions():
    theta = np.array([0.0, 0.0, -0.5, 0.3])
    X = np.linspace(0.0, np.exp(0.3), 64, endpoint=False)[:, None]
    rng = np.random.default_rng(0)
    features = fourier_features("PER", theta, X, NUM_DRAWS, rng)
    powers = np.abs(np.fft.rfft(features, axis=0)) ** 2
    lines = np.argmax(powers, axis=0)
    sharpness = np.exp(1.0)
    for n in range(5):
        share = ive(n, sharpness) * (1 if n == 0 else 2)
        error = np.sqrt(share * (1 - share) / NUM_DRAWS)
        assert abs(np.mean(lines == n) - share) < 4 * error


@pytest.mark.parametrize(
    ("expression", "num_inputs", "num_terms"),
    [("LIN", 1, 1), ("LIN + C", 3, 4), ("LIN * LIN", 5, 25), ("CW[1](LIN, C)", 1, 2)],
)
def test_lines_and_constants__are_exact(expression, num_inputs, num_terms):
    theta, X, rng = draw_case(expression, num_inputs, num_rows=8)
    features = fourier_features(expression, theta, X, 100, rng)
    assert features.shape == (8, num_terms)
    K = ExpressionCovariance(expression, theta, num_inputs).matrix(X, X).numpy()
    np.testing.assert_allclose(features @ features.T, K, atol=1e-10)


def test_noise_alone__has_no_features():
    theta, X, rng = draw_case("WN", 1, num_rows=8)
    assert fourier_features("WN", theta, X, 10, rng).shape == (8, 0)


@pytest.mark.parametrize("num_features", [4, 5, 17, 100])
def test_terms__share_all_features_and_have_one_at_least(num_features):
    theta, X, rng = draw_case("(RQ + LIN) * (SE + PER)", 1, num_rows=6)
    theta[:] = -5.0
    features = fourier_features("(RQ + LIN) * (SE + PER)", theta, X, num_features, rng)
    assert features.shape == (6, num_features)
    assert np.all(np.any(features != 0.0, axis=0))


def test_same_seed__gives_the_same_features():
    theta, X, _ = draw_case("SE * PER", 1, num_rows=6)
    one, two = (
        fourier_features("SE * PER", theta, X, 10, np.random.default_rng(4)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("expression", ["SE * PER + LIN", "RQ", "SE + WN * LIN"])
@pytest.mark.parametrize("num_features", [10, 60])
def test_stochastic_log_det__is_a_bound_in_expectation(expression, num_features):
    theta, X, rng = draw_case(expression, 1, num_rows=30)
    covariance = ExpressionCovariance(expression, theta)
    C = covariance.matrix(X, X).numpy() + np.diag(covariance.noise(X).numpy())
    exact = -0.5 * np.linalg.slogdet(C)[1]
    estimate = stochastic_log_det(expression, theta, X, num_features, rng, num_draws=50)
    assert estimate.standard_error > 0.0
    assert estimate.mean >= exact - 3 * estimate.standard_error


def test_stochastic_log_det__comes_closer_with_more_features():
    theta, X, rng = draw_case("SE * PER", 1, num_rows=20)
    covariance = ExpressionCovariance("SE * PER", theta)
    C = covariance.matrix(X, X).numpy() + np.diag(covariance.noise(X).numpy())
    exact = -0.5 * np.linalg.slogdet(C)[1]
    slacks = [
        stochastic_log_det("SE * PER", theta, X, num, rng).mean - exact for num in (5, 50, 20_000)
    ]
    assert slacks[0] > slacks[1] > slacks[2]
    assert abs(slacks[2]) < 0.05


def test_stochastic_log_det__equals_the_exact_one_for_lines():
    theta, X, rng = draw_case("LIN", 1, num_rows=9)
    covariance = ExpressionCovariance("LIN", theta)
    C = covariance.matrix(X, X).numpy() + np.diag(covariance.noise(X).numpy())
    estimate = stochastic_log_det("LIN", theta, X, 3, rng, num_draws=2)
    np.testing.assert_allclose(estimate.mean, -0.5 * np.linalg.slogdet(C)[1], rtol=1e-10)
    np.testing.assert_allclose(estimate.standard_error, 0.0, atol=1e-12)


def test_family_without_features__is_named():
    theta, X, rng = draw_case("SE * PER0", 1, num_rows=4)
    with pytest.raises(GrammarError, match=r"'PER0' in 'SE \* PER0' has no random Fourier"):
        fourier_features("SE * PER0", theta, X, 10, rng)


def test_too_few_features_or_numbers__are_refused():
    theta, X, rng = draw_case("SE + PER", 1, num_rows=4)
    with pytest.raises(DataError, match=r"'SE \+ PER' has 2 terms .* 1 given"):
        fourier_features("SE + PER", theta, X, 1, rng)
    with pytest.raises(DataError, match=r"has shape \(6,\), got \(5,\)"):
        fourier_features("SE + PER", theta[1:], X, 10, rng)
    with pytest.raises(DataError, match="at least 2 draws, 1 given"):
        stochastic_log_det("SE + PER", theta, X, 10, rng, num_draws=1)


def test_features__are_reached_from_the_package_and_repeat_with_a_seed():
    theta, X, _ = draw_case("SE + LIN", 1, num_rows=6)
    first, again = (
        vbks.inference.fourier_features("SE + LIN", theta, X, 8, seed=3) for _ in range(2)
    )
    assert first.shape == (6, 8)
    np.testing.assert_array_equal(first, again)
    assert (first != vbks.inference.fourier_features("SE + LIN", theta, X, 8)).any()
    estimate = vbks.inference.stochastic_log_det("SE + LIN", theta, X, 8, seed=3)
    assert estimate.standard_error > 0.0
