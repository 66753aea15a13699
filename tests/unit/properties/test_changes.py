from datetime import datetime

import numpy as np
import pytest
from scipy.integrate import trapezoid

from vbks.data.times import EPOCH
from vbks.properties.changes import change_of

X = np.linspace(0.0, 10.0, 50)
Y = np.where(X < 6.0, 0.0, 3.0)


def at(*places):
    """Standardised locations of changes at places, by their order."""
    return [(place - X.mean()) / np.std(X) for place in places]


def test_change__is_where_kernels_have_it(believe):
    (six,) = at(6.0)
    found = change_of(believe(X, Y, [("CP(SE, C)", {".location": six}, 3.0), ("SE", {}, 1.0)]))
    assert found.probability == pytest.approx(0.75)
    assert found.median == pytest.approx(6.0) and found.density is None
    assert found.dates == ()
    assert found.sentence == "The data probably change (75 %) at 6."


def test_change__has_a_density_in_the_unit_of_the_input(believe):
    (six,) = at(6.0)
    found = change_of(believe(X, Y, [("CP(SE, C)", {".location": six}, 1.0)], spread=0.05))
    low, high = found.interval
    assert high - low == pytest.approx(2 * 1.645 * 0.05 * np.std(X), rel=0.1)
    assert trapezoid(found.density.density, found.density.x) == pytest.approx(1.0, abs=0.02)


def test_windows__have_two_places_and_those_outside_the_data_do_not_count(believe):
    (middle,) = at(5.0)
    width = np.log(4.0 / np.std(X))
    values = {".location": middle, ".width": width}
    found = change_of(believe(X, Y, [("CW(SE, C)", values, 1.0)]))
    assert sorted(peak.estimate.value for peak in found.peaks) == pytest.approx([3.0, 7.0])
    assert all(peak.probability == pytest.approx(1.0) for peak in found.peaks)
    assert found.probability == pytest.approx(1.0) and "at 3" in found.sentence
    (beyond,) = at(12.0)
    outside = change_of(believe(X, Y, [("CP(SE, C)", {".location": beyond}, 1.0)]))
    assert outside.probability == 0.0 and "unlikely" in outside.sentence


def test_change__of_dated_rows_has_dates(believe):
    first = (datetime(2019, 1, 1) - EPOCH).days
    days = first + 10.0 * np.arange(50)
    (place,) = [(first + 200.0 - days.mean()) / np.std(days)]
    fits = [("CP(SE, C)", {".location": place}, 1.0)]
    found = change_of(believe(days, Y, fits, ["day"], time_inputs=(0,)))
    assert [date.date().isoformat() for date in found.dates] == ["2019-07-20"]
    assert "July 2019" in found.sentence
