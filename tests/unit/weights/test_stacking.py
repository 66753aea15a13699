import math

import numpy as np
import pytest
from scipy.stats import norm

from vbks.errors import DataError
from vbks.weights import stacking
from vbks.weights.stacking import LEAST_PULL, simplex_weights, stacking_belief


def uniform(size):
    return np.full(size, -math.log(size))


def penalised_score(w, log_densities, prior):
    """Σₙ log Σₖ wₖ pₙₖ + Σₖ p(k) log wₖ, row by row."""
    rows = [math.log(sum(w * np.exp(row))) for row in log_densities]
    return sum(rows) + sum(prior * np.log(w))


def normal_densities(num_rows, means, rng, sd=1.0):
    """Log densities of rows from N(0, 1) under candidates N(mean, sd²)."""
    return norm(loc=means, scale=sd).logpdf(rng.normal(size=(num_rows, 1)))


def test_three_candidates__have_the_best_weights_of_a_grid():
    rng = np.random.default_rng(0)
    log_densities = normal_densities(60, [-1.0, 0.3, 1.2], rng, sd=0.6)
    prior = np.array([0.2, 0.5, 0.3])
    steps = np.arange(1, 100)
    grid = np.array([(a, b, 100 - a - b) for a in steps for b in steps if a + b < 100]) / 100
    scores = np.log(np.exp(log_densities) @ grid.T).sum(axis=0) + np.log(grid) @ prior
    belief = stacking_belief(log_densities, np.log(prior))
    np.testing.assert_allclose(belief.probabilities, grid[np.argmax(scores)], atol=0.011)
    assert penalised_score(belief.probabilities, log_densities, prior) >= scores.max()
    assert belief.kind == "stacking"


@pytest.mark.parametrize(("num_rows", "size"), [(5, 40), (300, 12), (2000, 60)])
def test_weights__meet_the_conditions_of_an_optimum(num_rows, size):
    rng = np.random.default_rng(size)
    P = np.exp(3.0 * rng.normal(size=(num_rows, size)) - 2.0 * rng.gamma(1.0, size=size))
    prior = rng.dirichlet(np.ones(size))
    w = simplex_weights(P, prior)
    slope = (P / (P @ w)[:, np.newaxis]).sum(axis=0) + prior / w
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert (w > 0).all()
    np.testing.assert_allclose(slope.max(), num_rows + 1, rtol=1e-6)
    np.testing.assert_allclose(w @ slope, num_rows + 1, rtol=1e-9)


def test_weights__cannot_be_improved_by_expectation_maximisation():
    rng = np.random.default_rng(1)
    P, prior = np.exp(normal_densities(200, np.linspace(-2, 2, 9), rng)), np.full(9, 1 / 9)
    found = simplex_weights(P, prior)
    w = prior
    for _ in range(10_000):
        w = (w * (P / (P @ w)[:, np.newaxis]).sum(axis=0) + prior) / 201
    np.testing.assert_allclose(found, w, atol=1e-4)
    np.testing.assert_allclose(np.log(P @ found).mean(), np.log(P @ w).mean(), atol=1e-6)


def test_best_on_half_of_the_rows__gets_half():
    log_densities = np.where(np.arange(100)[:, np.newaxis] % 2 == [0, 1, 2], 0.0, -20.0)
    belief = stacking_belief(log_densities, uniform(3))
    np.testing.assert_allclose(belief.probabilities, [0.5, 0.5, 0.0], atol=0.01)
    assert belief.bound == pytest.approx(math.log(0.5), abs=0.01)


def test_bound__is_the_mean_log_score_of_the_mixture():
    log_densities = normal_densities(50, [-1.0, 0.0, 2.0], np.random.default_rng(2))
    belief = stacking_belief(log_densities, uniform(3))
    expected = np.mean([math.log(belief.probabilities @ np.exp(row)) for row in log_densities])
    assert belief.bound == pytest.approx(expected, abs=1e-10)
    assert belief.bound > log_densities.mean(axis=0).max() - 0.03  # the prior's pull


def test_copies__share_the_mass_of_one_as_the_prior_says():
    rng = np.random.default_rng(3)
    once = normal_densities(80, [-1.0, 0.1, 1.5], rng, sd=0.7)
    prior = np.log([0.3, 0.5, 0.2])
    alone = stacking_belief(once, prior).probabilities
    copied = stacking_belief(once[:, [0, 1, 1, 2]], np.log([0.3, 0.4, 0.1, 0.2])).probabilities
    np.testing.assert_allclose(copied[1:3], alone[1] * np.array([0.8, 0.2]), atol=1e-5)
    np.testing.assert_allclose(copied[[0, 3]], alone[[0, 2]], atol=1e-5)


def test_temperature__divides_log_densities():
    log_densities = normal_densities(50, [-1.0, 0.0, 2.0], np.random.default_rng(4))
    warm = stacking_belief(log_densities, uniform(3), temperature=5.0)
    divided = stacking_belief(log_densities / 5.0, uniform(3))
    np.testing.assert_allclose(warm.probabilities, divided.probabilities, atol=1e-9)
    assert warm.bound == pytest.approx(divided.bound, abs=1e-9)


def test_densities_of_any_scale__give_the_same_weights():
    log_densities = normal_densities(50, [-1.0, 0.0, 2.0], np.random.default_rng(5))
    shifts = 1000.0 * np.random.default_rng(6).normal(size=(50, 1))
    plain, shifted = (
        stacking_belief(L, uniform(3)) for L in (log_densities, log_densities + shifts)
    )
    np.testing.assert_allclose(shifted.probabilities, plain.probabilities, atol=1e-8)
    assert shifted.bound == pytest.approx(plain.bound + shifts.mean(), abs=1e-8)


def test_candidate_that_rules_out_a_row__can_take_part():
    log_densities = np.array([[0.0, -2.0, -1.0]] * 9 + [[-math.inf, 0.0, -math.inf]])
    belief = stacking_belief(log_densities, uniform(3))
    assert np.isfinite(belief.bound)
    assert belief.probabilities[0] > 0.5
    assert belief.probabilities[1] > 0.05


def test_candidate_with_a_density_that_is_not_a_number__takes_no_part():
    log_densities = normal_densities(30, [-1.0, 0.0, 2.0], np.random.default_rng(7))
    log_densities[4, 1] = math.nan
    belief = stacking_belief(log_densities, uniform(3))
    assert belief.probabilities[1] == 0.0
    expected = stacking_belief(log_densities[:, [0, 2]], uniform(2)).probabilities
    np.testing.assert_allclose(belief.probabilities[[0, 2]], expected, atol=1e-9)


def test_prior_of_next_to_nothing__does_no_harm():
    log_densities = normal_densities(100, [0.0, 0.0, 0.4, 3.0], np.random.default_rng(8))
    belief = stacking_belief(log_densities, [0.0, -200.0, -60.0, -400.0])
    assert np.isfinite(belief.probabilities).all()
    assert belief.probabilities.sum() == pytest.approx(1.0, abs=1e-9)
    assert belief.probabilities[3] < 1e-6


def test_gaps_of_hundreds_of_nats__do_no_harm():
    rng = np.random.default_rng(9)
    log_densities = -rng.gamma(1.0, 200.0, size=(400, 144))
    belief = stacking_belief(log_densities, uniform(144))
    P = np.exp(log_densities - log_densities.max(axis=1, keepdims=True))
    w = belief.probabilities
    slope = (P / (P @ w)[:, np.newaxis]).sum(axis=0) + 1 / (144 * w)
    assert slope.max() < 401 * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_random_problems__reach_the_optimum_in_few_steps(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    N, K = rng.choice([1, 2, 10, 100]), rng.choice([1, 2, 5, 30])
    P = np.exp(-rng.choice([0.01, 1.0, 10.0, 100.0]) * rng.gamma(1.0, size=(N, K)))
    P = P[:, rng.integers(0, K, size=K)]  # copies among them
    prior = np.exp(-rng.gamma(1.0, rng.choice([1e-3, 1.0, 15.0]), size=K))
    prior = np.maximum(prior / prior.sum(), LEAST_PULL)
    monkeypatch.setattr(stacking, "MAX_STEPS", 40)
    w = simplex_weights(P, prior)
    slope = (P / (P @ w)[:, np.newaxis]).sum(axis=0) + prior / w
    assert slope.max() - (N + prior.sum()) < 1e-6 * N


def test_many_candidates_on_many_rows__reach_the_optimum():
    rng = np.random.default_rng(10)
    log_densities = normal_densities(2000, rng.normal(scale=2.0, size=500), rng)
    w = stacking_belief(log_densities, uniform(500)).probabilities
    P = np.exp(log_densities)
    slope = (P / (P @ w)[:, np.newaxis]).sum(axis=0) + 1 / (500 * w)
    assert (slope.max() - 2001) / 2000 < 1e-6


def test_row_that_nobody_allows__is_refused():
    log_densities = [[0.0, 0.0], [-math.inf, -math.inf], [0.0, -1.0]]
    with pytest.raises(DataError, match=r"1 rows have density zero .* the first is row 2"):
        stacking_belief(log_densities, uniform(2))


@pytest.mark.parametrize("shape", [(3,), (0, 2), (2, 2, 2)])
def test_log_densities__are_rows_and_candidates(shape):
    with pytest.raises(DataError, match=r"log_densities has shape .* expected .*\[N, K\]"):
        stacking_belief(np.zeros(shape), uniform(2))
