"""Tests of evidences by importance sampling, against integrals that are known."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from vbks.arrays import Array, Rows
from vbks.data.training import prepare
from vbks.inference.approximations.importance import (
    Optimise,
    StudentMixture,
    Target,
    estimate_evidences,
)
from vbks.inference.choices import make_context
from vbks.inference.evaluator import fit_candidates
from vbks.inference.settings import FitSettings

RNG = np.random.default_rng(0)


def target(
    means: Array, sd: float = 1.0, used: list[bool] | None = None, prior_sd: float = 3.0
) -> Target:
    num, H = means.shape
    return Target(
        means,
        np.repeat(sd * np.eye(H)[np.newaxis], num, axis=0),
        0.0,
        np.array(used or [True] * H),
        np.zeros(H),
        np.full(H, prior_sd),
        np.arange(H),
    )


def test_mixture__density_integrates_to_one_and_agrees_with_its_samples() -> None:
    mixture = StudentMixture(
        np.array([0.3, 0.7]), np.array([[-2.0], [1.0]]), np.array([[[0.5]], [[1.5]]])
    )
    total, _ = quad(lambda x: float(np.exp(mixture.log_density(np.array([[x]]))[0])), -200, 200)
    assert total == pytest.approx(1.0, abs=1e-4)
    draws = mixture.draw(20_000, np.random.default_rng(1))[:, 0]
    below, _ = quad(lambda x: float(np.exp(mixture.log_density(np.array([[x]]))[0])), -200, 0)
    assert np.mean(draws < 0.0) == pytest.approx(below, abs=0.012)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_gaussian__has_its_integral(shift: float) -> None:
    covariance = np.array([[1.0, 0.6, 0.0], [0.6, 2.0, 0.3], [0.0, 0.3, 0.5]])
    exact = multivariate_normal(np.full(3, shift), covariance)

    def log_densities(rows: Rows, theta: Array) -> Array:
        return 5.0 + np.asarray(exact.logpdf(theta))

    (found,) = estimate_evidences(
        [target(np.zeros((1, 3)))], log_densities, [np.random.default_rng(2)], 1024
    )
    assert found is not None
    assert found.log_evidence == pytest.approx(5.0, abs=4 * found.standard_error + 1e-3)
    assert found.standard_error < 0.1
    assert found.effective_samples > 50


def test_modes_that_q_has_missed__are_found_by_the_prior() -> None:
    def log_densities(rows: Rows, theta: Array) -> Array:
        x = theta[:, 0]
        return np.logaddexp(norm.logpdf(x, -3.0, 0.5), norm.logpdf(x, 3.0, 0.5)) - np.log(2)

    (found,) = estimate_evidences(
        [target(np.array([[-3.0]]), sd=0.5)], log_densities, [np.random.default_rng(3)], 1024
    )
    assert found is not None
    assert found.log_evidence == pytest.approx(0.0, abs=0.1)


def test_narrow_mode__is_found_by_optimising_from_the_sample_of_the_largest_weight() -> None:
    heights, places, sds = np.log([0.5, 0.5]), np.array([-3.0, 2.0]), np.array([0.5, 0.02])
    asked = []

    def log_densities(rows: Rows, theta: Array) -> Array:
        return np.asarray(np.logaddexp(*(heights + norm.logpdf(theta, places, sds)).T))

    def optimise(rows: Rows, theta: Array) -> tuple[Array, Array, Array]:
        asked.append(theta)
        return np.full(1, 3.0), np.full((1, 1), places[1]), np.full((1, 1, 1), sds[1])

    def errors(own: Optimise | None) -> Array:
        found = [
            estimate_evidences(
                [target(np.array([[-3.0]]), sd=0.5)], log_densities, [rng], 1024, own
            )[0]
            for rng in map(np.random.default_rng, range(12))
        ]
        return np.array([np.nan if one is None else one.log_evidence for one in found])

    with_optimum = errors(optimise)
    assert np.abs(np.array(asked)[:, 0, 0] - places[1]).min() < 0.1
    np.testing.assert_allclose(with_optimum, 0.0, atol=0.1)
    assert np.sqrt(np.mean(errors(None) ** 2)) > 2.0 * np.sqrt(np.mean(with_optimum**2))


def test_optimum_that_is_far_too_low__is_no_part_of_the_proposal() -> None:
    def log_densities(rows: Rows, theta: Array) -> Array:
        return np.asarray(norm.logpdf(theta[:, 0], 0.0, 1.0))

    def optimise(rows: Rows, theta: Array) -> tuple[Array, Array, Array]:
        return np.full(len(rows), -50.0), 100.0 + theta, np.ones((len(rows), 1, 1))

    found = [
        estimate_evidences(
            [target(np.zeros((1, 1)))], log_densities, [np.random.default_rng(6)], 1024, own
        )
        for own in (None, optimise)
    ]
    assert found[0] == found[1]


def test_entries_that_are_not_used__stay_where_they_are() -> None:
    seen = []

    def log_densities(rows: Rows, theta: Array) -> Array:
        seen.append(theta[:, 1])
        return np.asarray(norm.logpdf(theta[:, 0]))

    (found,) = estimate_evidences(
        [target(np.array([[0.0, 7.0]]), used=[True, False])],
        log_densities,
        [np.random.default_rng(4)],
        256,
    )
    assert found is not None
    assert set(np.concatenate(seen)) == {7.0}
    assert found.log_evidence == pytest.approx(0.0, abs=0.1)


def test_what_cannot_be_integrated__has_no_estimate() -> None:
    nothing_to_learn = target(np.zeros((1, 1)), used=[False])
    singular = target(np.zeros((1, 1)), sd=0.0)
    for own in (target(np.zeros((1, 1))), nothing_to_learn, singular):
        found = estimate_evidences(
            [own],
            lambda rows, theta: np.full(len(rows), np.nan),
            [np.random.default_rng(5)],
            128,
        )
        assert found == [None]


def test_fits__have_evidences_that_agree_with_brute_force() -> None:
    x = np.linspace(0, 1, 12)
    data = prepare((x, np.sin(5 * x) + 0.1 * np.cos(40 * x)))
    comparison, _ = make_context(data, 1, FitSettings(inference="exact", posterior="full"))
    texts = ("SE", "LIN")
    fits = fit_candidates(
        texts, data, inference="exact", posterior="full", importance=True, prune=False
    )
    for fit in fits:
        posterior = comparison.log_posterior([fit.expression], comparison.final_evidence(1e-8))
        priors = posterior.priors
        num, H = 40_000, len(fit.theta)
        sd = 1.0 / np.sqrt(priors.precision[0])
        theta = priors.mean[0] + sd * np.random.default_rng(6).standard_normal((num, H))
        rows = np.zeros(num, np.intp)
        likelihood = posterior.values(rows, theta) - priors.log_density(rows, theta)[0]
        weights = np.exp(likelihood - likelihood.max())
        exact = likelihood.max() + np.log(weights.mean())
        error = weights.std() / weights.mean() / np.sqrt(num)
        assert fit.evidence == pytest.approx(exact, abs=4 * (error + fit.evidence_error) + 0.02)
        assert fit.evidence_source == "importance"
        assert fit.log_evidence() == fit.evidence + fit.log_jacobian
        assert fit.evidence >= fit.elbo - 3 * fit.evidence_error - 0.1


def test_evidences__do_not_depend_on_others_in_the_list() -> None:
    x = np.linspace(0, 1, 15)
    data = prepare((x, np.sin(5 * x)))
    settings = {"inference": "exact", "posterior": "laplace", "importance": True, "prune": False}
    (alone,) = fit_candidates(["SE"], data, **settings)
    together = fit_candidates(["LIN * PER", "SE"], data, **settings)[1]
    assert together.evidence == pytest.approx(alone.evidence, abs=1e-4)


def test_values__are_those_of_the_log_posterior() -> None:
    data = prepare((np.linspace(0, 1, 10), RNG.normal(size=10)))
    comparison, _ = make_context(data, 2, FitSettings(inference="exact"))
    expressions = [fit.expression for fit in fit_candidates(["SE", "LIN + PER"], data)]
    posterior = comparison.log_posterior(expressions, comparison.final_evidence(1e-8))
    rows = np.array([0, 0, 1, 1, 1])
    theta = posterior.priors.mean[rows] + 0.1 * RNG.normal(size=(5, posterior.num_slots))
    expected, _ = posterior(rows, theta)
    np.testing.assert_allclose(posterior.values(rows, theta), expected, rtol=1e-10)
    posterior.elements = 150
    np.testing.assert_allclose(posterior.values(rows, theta), expected, rtol=1e-10)
