import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated, make_fit, months

from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.report.labels import labels_of
from vbks.report.sections.outlook import SEASONS, outlook_of, quantiles_at
from vbks.selection.selection import Selection


def test_outlook__goes_on_by_two_seasons_of_months(dated):
    outlook = dated.outlook
    assert outlook.num_forecasts == SEASONS * 12 == len(outlook.forecasts)
    assert (outlook.forecasts[0].place, outlook.forecasts[-1].place) == ("2018-05", "2020-04")
    assert "month" in outlook.step
    assert "2018-04" in outlook.sentence and "2020-04" in outlook.forecast


def test_outlook__numbers_are_those_of_the_selection(dated):
    selection = make_dated()
    after = pd.date_range(months()[-1], periods=25, freq="MS")[1:]
    expected = selection.predict_quantiles(after, (0.05, 0.25, 0.5, 0.75, 0.95))
    found = [(r.low, r.lower, r.median, r.upper, r.high) for r in dated.outlook.forecasts]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    curve = dated.outlook.curve
    np.testing.assert_allclose(
        np.transpose(curve.bands), quantiles_at(selection, np.array(curve.grid))
    )
    assert len(curve.data.x) == 40 and curve.end == max(curve.data.x)
    assert curve.grid[0] == min(curve.data.x)


def test_outlook__names_every_row_and_forecast(dated):
    curve = dated.outlook.curve
    told = dict(curve.told)
    assert len(told) == 40 + 24
    assert told[0] == "2015-01"
    for place, text in told.items():
        day = pd.Timestamp("1970-01-01") + pd.Timedelta(days=curve.grid[place])
        assert day.strftime("%Y-%m") == text
    np.testing.assert_array_less(0.0, np.diff(curve.grid))


def test_outlook__of_uneven_rows_goes_a_little_beyond():
    x = np.sort(np.random.default_rng(0).uniform(0, 10, 30))
    data = prepare((x, np.sin(x)))
    selection = Selection((make_fit("SE", 30),), {Identity(): data})
    outlook = outlook_of(selection, labels_of(selection))
    assert outlook.step == "" and outlook.num_forecasts == 12
    assert outlook.curve.grid[-1] == pytest.approx(x.max() + 0.15 * np.ptp(x))
