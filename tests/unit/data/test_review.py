import numpy as np
import pytest

from vbks.data.review import review
from vbks.data.sources import ArraySource
from vbks.errors import DataError

LABELS = ("input 1", "column 'load'", "the target")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("vbks.data.review.REVIEWED_ROWS", 7)


def table(num_rows=30):
    rng = np.random.default_rng(0)
    return rng.normal(size=(num_rows, 2)), rng.normal(size=num_rows)


def test_review__gives_the_moments_of_inputs_and_target():
    X, y = table()
    moments = review(ArraySource(X, y), LABELS)
    np.testing.assert_allclose(moments.mean, [*X.mean(axis=0), y.mean()], rtol=1e-12)
    np.testing.assert_allclose(moments.scale, [*X.std(axis=0), y.std()], rtol=1e-12)


@pytest.mark.parametrize(
    ("value", "noun", "advice"),
    [
        (np.nan, "missing value", "Drop or fill missing values before fitting"),
        (np.inf, "infinite value", "Drop or replace infinite values before fitting"),
        (-np.inf, "infinite value", "Drop or replace infinite values before fitting"),
        (-1e151, "huge value", r"Give the column in larger units, within ±1e\+150"),
    ],
)
def test_values_that_cannot_be_used__are_counted_and_the_first_is_named(value, noun, advice):
    X, y = table()
    X[[9, 11, 26], 1] = value
    message = f"^column 'load' has 3 {noun}s, the first in row 10. {advice}"
    with pytest.raises(DataError, match=message):
        review(ArraySource(X, y), LABELS)
    X, y = table()
    y[0] = value
    with pytest.raises(DataError, match=f"^the target has 1 {noun}, in row 1. {advice}"):
        review(ArraySource(X, y), LABELS)


def test_several_faulty_columns__are_told_one_after_another():
    X, y = table()
    X[20, 0], X[3, 1], y[1] = np.nan, np.inf, np.nan
    with pytest.raises(DataError, match="input 1 has 1 missing value, in row 21"):
        review(ArraySource(X, y), LABELS)


class Miscounted:
    """A source that gives other rows than it says."""

    num_inputs = 2

    def __init__(self, num_rows, blocks):
        self.num_rows, self._blocks = num_rows, blocks

    def blocks(self, size):
        return self._blocks


def test_too_few_rows__are_told():
    source = Miscounted(50, ArraySource(*table()).blocks(7))
    with pytest.raises(DataError, match=r"num_rows is 50, but there are only 30. Correct it"):
        review(source, LABELS)


def test_too_many_rows__are_told_even_if_they_never_end():
    source = Miscounted(20, ArraySource(*table()).minibatches(7, seed=0))
    with pytest.raises(DataError, match=r"num_rows is 20, but there are more. Correct it"):
        review(source, LABELS)
