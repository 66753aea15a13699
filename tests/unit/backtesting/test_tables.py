import numpy as np
import pytest

from vbks.backtesting.metrics import LEVELS, quantile_name
from vbks.backtesting.origins import make_folds, read_timed_rows
from vbks.backtesting.tables import baseline_forecasts, prediction_table


@pytest.fixture
def rows():
    return read_timed_rows(np.arange(24.0), np.arange(24.0) ** 2, season=4)


def test_prediction_table__has_a_row_for_each_that_is_forecast(rows):
    (fold,) = make_folds(rows, 3, 1, 3)
    quantiles = np.tile(np.asarray(LEVELS), (3, 1))
    table = prediction_table("mine", 1, rows, fold, np.zeros(3), quantiles)
    assert table["observed"].tolist() == [441.0, 484.0, 529.0]
    assert table["horizon"].tolist() == [1, 2, 3]
    assert table[quantile_name(0.9)].tolist() == [0.9] * 3
    squares = np.arange(21.0) ** 2
    assert table["scale"].unique() == pytest.approx(np.mean(squares[4:] - squares[:-4]))


def test_baselines__that_fail_give_their_reasons(rows):
    (fold,) = make_folds(rows, 3, 1, 3)

    def fail(series, ahead, season):
        raise ValueError("no luck\n")

    def last(series, ahead, season):
        return series[-1] + np.zeros(len(ahead)), ahead

    found, reasons = baseline_forecasts({"bad": fail, "last": last}, rows, fold)
    assert reasons == {"bad": "no luck"}
    np.testing.assert_array_equal(found["last"][0], [400.0] * 3)
    np.testing.assert_array_equal(found["last"][1], [1, 2, 3])
