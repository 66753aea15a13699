import pytest
from gpflow.kernels import Constant, Linear, Periodic, SquaredExponential

from vbks.errors import GrammarError
from vbks.kernels.gpflow.columns import columns_of, least_inputs, picked
from vbks.kernels.gpflow.kernels import ChangePoint, Scaled

COLUMNS = (3, 5, 7)


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        (None, (3, 5, 7)),
        ([1], (5,)),
        ([2, 0], (7, 3)),
        (slice(1, None), (5, 7)),
        (slice(0, 3, 2), (3, 7)),
    ],
)
def test_columns__are_those_of_the_active_dimensions(dims, expected):
    assert columns_of(SquaredExponential(active_dims=dims), COLUMNS) == expected


def test_columns__of_a_sum_or_product_are_all_of_them():
    first, second = SquaredExponential(active_dims=[1]), Linear(active_dims=[0])
    assert columns_of(first + second, COLUMNS) == COLUMNS
    assert columns_of(first * second, COLUMNS) == COLUMNS


def test_picked__refuses_a_column_that_is_not_there():
    kernel = SquaredExponential()
    assert picked(kernel, [2, 2], COLUMNS) == (7, 7)
    assert picked(kernel, [], COLUMNS) == ()
    with pytest.raises(GrammarError, match="SquaredExponential kernel acts on input 4 of 3 inputs"):
        picked(kernel, [3], COLUMNS)


@pytest.mark.parametrize(
    ("kernel", "num"),
    [
        (SquaredExponential(), 1),
        (SquaredExponential(active_dims=[4]), 5),
        (SquaredExponential(active_dims=slice(0, 3), lengthscales=[1.0, 1.0, 1.0]), 3),
        (SquaredExponential(active_dims=slice(2, None)), 3),
        (SquaredExponential(lengthscales=[1.0, 2.0]), 2),
        (Periodic(SquaredExponential(), [1.0, 2.0, 3.0]), 3),
        (Periodic(SquaredExponential(lengthscales=[1.0, 2.0])), 2),
        (Linear([1.0, 2.0, 3.0, 4.0]), 4),
        (Constant() + SquaredExponential(active_dims=[1]), 2),
        (Constant() * Constant(), 1),
        (Scaled(SquaredExponential(active_dims=[2])), 3),
        (ChangePoint([Constant(), Constant()], column=5), 6),
    ],
)
def test_least_inputs__are_told_by_dimensions_and_sizes(kernel, num):
    assert least_inputs(kernel) == num
