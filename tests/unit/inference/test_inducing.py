import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus

from vbks.errors import DataError
from vbks.grammar.parser import parse
from vbks.inference.inducing import (
    InducingPolicy,
    choose_inducing,
    greedy_rows,
)
from vbks.inference.objectives.evidence import CollapsedEvidence, ExactEvidence
from vbks.kernels.bank.bank import Bank

POLICY = InducingPolicy()


def rows(num_rows, num_inputs, seed=0):
    return np.random.default_rng(seed).normal(size=(num_rows, num_inputs))


def choose(X, num, seed=0):
    return choose_inducing(X, num, np.random.default_rng(seed))


def as_set(X):
    return {tuple(row) for row in X}


def se(X1, X2, lengthscale):
    square = ((X1[:, None] - X2[None]) ** 2).sum(axis=2)
    return np.exp(-0.5 * square / lengthscale**2)


def trace_error(X, Z, lengthscale):
    """Mean variance of the rows X that Z leaves."""
    inverse = np.linalg.inv(se(Z, Z, lengthscale) + 1e-10 * np.eye(len(Z)))
    Kfu = se(X, Z, lengthscale)
    return 1.0 - np.einsum("nm,mk,nk->n", Kfu, inverse, Kfu).mean()


def greedy_twin(X, num):
    """Rows of largest k(x, x) − k(x, Z) k(Z, Z)⁻¹ k(Z, x), each from a fresh inverse."""
    K = se(X, X, POLICY.lengthscale * np.sqrt(X.shape[1]))
    chosen = []
    for _ in range(num):
        inverse = np.linalg.inv(K[np.ix_(chosen, chosen)])
        left = [K[i, i] - K[i, chosen] @ inverse @ K[chosen, i] for i in range(len(X))]
        chosen.append(int(np.argmax(left)))
    return chosen


@pytest.mark.parametrize("num_inputs", [1, 2, 5])
@pytest.mark.parametrize("num", [1, 2, 3, 15, 16, 17, 60, 118, 119, 120])
def test_choice__is_that_many_distinct_rows_of_the_data(num_inputs, num):
    X = rows(120, num_inputs)
    Z = choose(X, num)
    assert Z.shape == (num, num_inputs)
    assert len(as_set(Z)) == num
    assert as_set(Z) <= as_set(X)


@pytest.mark.parametrize("num_inputs", [1, 3])
def test_choice__is_the_same_for_the_same_seed_only(num_inputs):
    X = rows(200, num_inputs)
    np.testing.assert_array_equal(choose(X, 30, seed=4), choose(X, 30, seed=4))
    assert as_set(choose(X, 30, seed=4)) != as_set(choose(X, 30, seed=5))


@pytest.mark.parametrize("num_inputs", [1, 3])
@pytest.mark.parametrize("num", [8, 9, 1000])
def test_as_many_points_as_distinct_rows__are_all_of_them(num_inputs, num):
    X = np.repeat(rows(8, num_inputs), 5, axis=0)
    Z = choose(X, num)
    assert as_set(Z) == as_set(X)
    assert len(Z) == 8


@pytest.mark.parametrize("num_inputs", [1, 4])
def test_duplicates__are_chosen_once(num_inputs):
    X = np.repeat(rows(50, num_inputs), 20, axis=0)
    Z = choose(X, 40)
    assert len(as_set(Z)) == len(Z) == 40


@pytest.mark.parametrize("num_inputs", [1, 2])
def test_one_row__is_chosen(num_inputs):
    X = rows(1, num_inputs)
    np.testing.assert_array_equal(choose(X, 1), X)
    np.testing.assert_array_equal(choose(X, 10), X)


def test_no_points__are_refused():
    with pytest.raises(DataError, match="at least 1 inducing point is needed, 0 given"):
        choose(rows(5, 1), 0)


def test_all_rows__make_the_bound_exact():
    X = np.repeat(rows(15, 1), 2, axis=0)
    y = rows(30, 1, seed=1)[:, 0]
    bank = Bank([parse("SE")], 1)
    theta = np.zeros((1, 1, bank.num_slots))
    exact = ExactEvidence(X, y)(bank, theta).numpy()
    bound = CollapsedEvidence(X, y, choose(X, 30))(bank, theta).numpy()
    np.testing.assert_allclose(bound, exact, atol=1e-3)


@pytest.mark.parametrize("num", [2, 20, 100, 500])
def test_points_of_one_input__are_sorted_and_reach_both_ends(num):
    X = rows(600, 1)
    Z = choose(X, num)[:, 0]
    assert (np.diff(Z) > 0).all()
    assert (Z[0], Z[-1]) == (X.min(), X.max())


@pytest.mark.parametrize("num", [32, 100, 400])
def test_points_of_one_input__have_a_block_of_neighbours(num):
    X = np.linspace(-1.7, 1.7, 1000)[:, None]
    ranks = np.searchsorted(X[:, 0], choose(X, num)[:, 0])
    start = int(POLICY.block_start * 1000)
    block = np.arange(start, start + int(POLICY.block_share * num))
    assert len(block) >= 2
    assert np.isin(block, ranks).all()


def test_points_of_one_input__lie_where_the_data_lie():
    """Nothing is chosen in a gap, and both sides get points by their numbers of distinct rows."""
    X = np.concatenate([np.linspace(-2, -1, 300), np.linspace(1.5, 2, 100)])[:, None]
    Z = choose(X, 80)
    assert 55 <= (Z < 0).sum() <= 66


def test_points_of_one_input__leave_no_wide_gaps():
    X = np.arange(1000.0)[:, None]
    assert np.diff(choose(X, 100)[:, 0]).max() <= 2 * 1000 / 100


@pytest.mark.parametrize("period", [10, 20, 30])
def test_points_of_one_input__do_not_fall_in_step_with_a_period(period):
    """928 rows are 92 stretches of ten, both ends and a block of six."""
    Z = choose(np.arange(928.0)[:, None], 100)[:, 0]
    start = int(POLICY.block_start * 928)
    spread = Z[(start > Z) | (start + 6 <= Z)]
    assert len(np.unique(spread % period)) >= 0.6 * period


@pytest.mark.parametrize("num_inputs", [2, 3, 7])
def test_greedy_rows__are_those_of_the_naive_twin(num_inputs):
    X = 0.4 * rows(40, num_inputs)  # close enough that no two variances tie
    np.testing.assert_array_equal(greedy_rows(X, 12), greedy_twin(X, 12))


def test_greedy_rows__of_few_are_the_first_of_many():
    X = rows(100, 3)
    np.testing.assert_array_equal(greedy_rows(X, 10), greedy_rows(X, 40)[:10])


def test_greedy_rows__never_repeat_a_duplicate():
    X = np.repeat(rows(6, 2), 4, axis=0)
    assert len(as_set(X[greedy_rows(X, 20)])) == len(greedy_rows(X, 20)) == 6


def test_greedy_rows__leave_less_variance_than_chance_or_k_means():
    X = rows(400, 2)
    ours, chance, k_means = [], [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        ours.append(trace_error(X, choose(X, 60, seed), 1.2))
        chance.append(trace_error(X, rng.choice(X, 60, replace=False), 1.2))
        k_means.append(trace_error(X, kmeans_plusplus(X, 60, random_state=seed)[0], 1.2))
    assert np.mean(ours) < 0.1 * np.mean(k_means)
    assert np.mean(ours) < 0.01 * np.mean(chance)


def test_rows_that_are_all_close__are_filled_up_at_random():
    X = 1e-6 * rows(50, 2)
    assert len(greedy_rows(X, 20)) < 20
    assert len(as_set(choose(X, 20))) == 20


def test_more_points_than_the_pool__are_chosen_from_more_rows():
    small, rng = InducingPolicy(pool=10), np.random.default_rng(0)
    assert len(as_set(choose_inducing(rows(40, 2), 25, rng, small))) == 25
