import numpy as np

from vbks.inference.optim.halving import SAME_LOSS, SAME_THETA, Halving, distinct

OWNERS = np.array([0, 0, 0, 0, 1, 1, 1])


def spread(num_rows: int) -> np.ndarray:
    """Rows of θ that are far from each other."""
    return 10.0 * np.arange(num_rows)[:, None] * np.ones(2)


def test_distinct__sorts_by_loss() -> None:
    assert distinct(spread(4), np.array([3.0, 1.0, 2.0, 0.5])).tolist() == [3, 1, 2, 0]


def test_distinct__leaves_out_what_is_not_finite() -> None:
    loss = np.array([np.nan, 1.0, np.inf, -np.inf, 0.0])
    assert distinct(spread(5), loss).tolist() == [4, 1]
    assert distinct(spread(2), np.full(2, np.nan)).tolist() == []


def test_distinct__keeps_the_better_of_two_in_the_same_place() -> None:
    x = np.array([[0.0, 0.0], [0.0, 0.9 * SAME_THETA], [0.0, 1.1 * SAME_THETA]])
    assert distinct(x, np.array([0.5 * SAME_LOSS, 0.0, 0.01])).tolist() == [1]
    assert distinct(x, np.array([0.0, 0.01, 0.02])).tolist() == [0, 2]


def test_distinct__keeps_two_with_different_values_in_one_place() -> None:
    x = np.zeros((2, 3))
    assert distinct(x, np.array([0.0, 1.1 * SAME_LOSS])).tolist() == [0, 1]


def test_halving__lets_all_go_on_between_its_turns() -> None:
    halving = Halving(OWNERS, [((4, 2),)] * 2)
    for evaluations in (1, 3, 5):
        assert halving(evaluations, spread(7), np.arange(7.0)).all()


def test_halving__keeps_the_best_of_every_candidate() -> None:
    halving = Halving(OWNERS, [((4, 2), (8, 1))] * 2)
    x, loss = spread(7), np.array([4.0, 1.0, 2.0, 3.0, 103.0, 102.0, 101.0])
    assert np.flatnonzero(halving(4, x, loss)).tolist() == [1, 2, 5, 6]
    # Those who left do not come back, however good their loss was.
    loss[[0, 2]] = 0.0
    assert np.flatnonzero(halving(8, x, loss)).tolist() == [2, 6]
    assert np.flatnonzero(halving(9, x, loss)).tolist() == [2, 6]


def test_halving__stops_those_who_came_to_the_place_of_a_better_one() -> None:
    halving = Halving(OWNERS, [((4, 3),)] * 2)
    x, loss = spread(7), np.array([0.0, 0.01, 5.0, 6.0, 1.0, 2.0, np.nan])
    x[1] = x[0] + 0.01
    assert np.flatnonzero(halving(4, x, loss)).tolist() == [0, 2, 3, 4, 5]


def test_halving__goes_by_the_schedule_of_each() -> None:
    halving = Halving(OWNERS, [((4, 1),), ((8, 2),)])
    x, loss = spread(7), np.array([4.0, 1.0, 2.0, 3.0, 103.0, 102.0, 101.0])
    assert np.flatnonzero(halving(4, x, loss)).tolist() == [1, 4, 5, 6]
    assert np.flatnonzero(halving(8, x, loss)).tolist() == [1, 5, 6]
