from __future__ import annotations

import gpflow
import numpy as np
import pytest
from scipy.stats import norm

from vbks.errors import DataError
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.predict.posteriors.observations import (
    draw_targets,
    observed_log_densities,
    observed_moments,
)

NAMES = ("bernoulli", "beta", "exponential", "gamma", "poisson", "student_t")
PARAMETERS = np.array([0.5, 2.0, 2.0])
MEANS = np.array([[0.1, -0.4], [0.3, 0.2], [0.0, 0.5]])
VARIANCES = np.array([[0.2, 0.0], [0.1, 0.3], [0.4, 0.2]])


@pytest.mark.parametrize("name", NAMES)
def test_moments_and_densities__are_those_of_gpflow(name: str) -> None:
    likelihood = make_likelihood(name)
    y = np.array([1.0, 0.0]) if name == "bernoulli" else np.array([0.7, 0.2])
    means, variances = observed_moments(likelihood, PARAMETERS, MEANS, VARIANCES)
    densities = observed_log_densities(likelihood, PARAMETERS, MEANS, VARIANCES, y)
    for r, parameter in enumerate(PARAMETERS):
        own = likelihood.to_gpflow(parameter)
        for n in range(2):
            moments = [np.full((1, 1), a[r, n]) for a in (MEANS, VARIANCES + 1e-12)]
            mean, variance = own.predict_mean_and_var(np.zeros((1, 0)), *moments)
            density = own.predict_log_density(np.zeros((1, 0)), *moments, np.full((1, 1), y[n]))
            np.testing.assert_allclose(means[r, n], mean[0, 0], rtol=1e-7)
            np.testing.assert_allclose(variances[r, n], variance[0, 0], rtol=1e-7)
            np.testing.assert_allclose(densities[r, n], density[0], rtol=1e-7)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_draws__have_the_moments_of_the_likelihood(name: str) -> None:
    check_draws(make_likelihood(name))


def test_draws__of_a_gaussian_with_fixed_variance_have_its_moments() -> None:
    fixed = gpflow.likelihoods.Gaussian(0.3)
    gpflow.set_trainable(fixed, False)
    check_draws(make_likelihood(fixed))


def check_draws(likelihood: object) -> None:
    rng, count = np.random.default_rng(0), 20_000
    parameters = np.repeat([0.7, 2.0], count)
    f = np.repeat([[0.1, -0.4], [0.3, 0.2]], count, axis=0)
    draws = draw_targets(likelihood, parameters, f, rng).reshape(2, count, 2)
    for place, parameter in enumerate((0.7, 2.0)):
        own = likelihood.to_gpflow(parameter)
        F = f[place * count][:, None]
        mean = own.conditional_mean(np.zeros((2, 0)), F)[:, 0]
        variance = own.conditional_variance(np.zeros((2, 0)), F)[:, 0]
        error = np.sqrt(variance / count)
        assert np.all(np.abs(draws[place].mean(axis=0) - mean) < 4.0 * error)
        np.testing.assert_allclose(draws[place].var(axis=0), variance, rtol=0.1)


def test_draws__of_student_t_have_its_quantiles() -> None:
    likelihood = make_likelihood("student_t")
    y = draw_targets(
        likelihood, np.full(50_000, 2.0), np.full((50_000, 1), 0.5), np.random.default_rng(0)
    )
    # The quartiles of Student's t with three degrees of freedom are at ±0.7649.
    assert np.quantile(y, [0.25, 0.5, 0.75]) == pytest.approx([-1.03, 0.5, 2.03], abs=0.06)


def test_draws__of_ordinal_classes_have_their_probabilities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vbks.inference.likelihoods.scalar_checks._erf_fails", lambda: False)
    likelihood = make_likelihood(gpflow.likelihoods.Ordinal(np.array([-0.5, 0.5])))
    y = draw_targets(
        likelihood, np.full(40_000, 0.8), np.full((40_000, 1), 0.2), np.random.default_rng(0)
    )
    edges = norm.cdf([-np.inf, -0.5, 0.5, np.inf], 0.2, 0.8)
    assert np.bincount(y[:, 0].astype(int)) / 40_000 == pytest.approx(np.diff(edges), abs=0.01)


def test_counts_beyond_all_bounds__are_drawn_all_the_same() -> None:
    y = draw_targets(
        make_likelihood("poisson"), np.ones(1), np.full((1, 1), 90.0), np.random.default_rng(0)
    )
    assert np.all(y > 1e17)


class Shifted(gpflow.likelihoods.Gaussian):
    """A likelihood of a user, with a density that only it knows."""


def test_draws__of_an_unknown_likelihood_are_refused() -> None:
    with pytest.raises(DataError, match=r"Shifted does not say how to draw .* Poisson, StudentT"):
        draw_targets(
            make_likelihood(Shifted()), np.ones(1), np.zeros((1, 1)), np.random.default_rng(0)
        )
