from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbks.data.cells.dates import are_iso, python_format, read_dates, read_months
from vbks.data.cells.readings import Fault, Reading


def texts(*values):
    return np.array(values, dtype=object)


def dates(*values, date_format=None):
    found = read_dates(texts(*values), date_format)
    assert isinstance(found, Reading), found
    return [f"{value:%Y-%m-%d %H:%M}".removesuffix(" 00:00") for value in found.values]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2014-03-05", "2014-03-05"), ("2014/3/5", "2014-03-05"), ("2014.03.05", "2014-03-05"),
        ("2014-03", "2014-03-01"), ("2014/03", "2014-03-01"), ("20140305T0607", "2014-03-05 06:07"),
        ("05.03.2014", "2014-03-05"), ("5.3.14", "2014-03-05"), ("25/03/2014", "2014-03-25"),
        ("03/25/2014", "2014-03-25"), ("25-03-99", "1999-03-25"), ("99/03/25", "1999-03-25"),
        ("03/2014", "2014-03-01"), ("2014-W05", "2014-01-27"), ("2014-W05-3", "2014-01-29"),
        ("W5 2014", "2014-01-27"), ("KW 05/2014", "2014-01-27"), ("2009-W53", "2009-12-28"),
        ("2014Q2", "2014-04-01"), ("2014-Q2", "2014-04-01"), ("Q2 2014", "2014-04-01"),
        ("2Q14", "2014-04-01"), ("Q2/14", "2014-04-01"), ("Mar 2014", "2014-03-01"),
        ("March 2014", "2014-03-01"), ("Mar-14", "2014-03-01"), ("Mar '14", "2014-03-01"),
        ("2014 Mar", "2014-03-01"), ("5 Mar 2014", "2014-03-05"), ("5-Mar-14", "2014-03-05"),
        ("5. März 2014", "2014-03-05"), ("5 de marzo de 2014", "2014-03-05"),
        ("Mar 5, 2014", "2014-03-05"), ("March 5th 2014", "2014-03-05"),
        ("Wed, 05 Mar 2014 06:07:00 GMT", "2014-03-05 06:07"),
        ("2014-03-05 06:07", "2014-03-05 06:07"), ("2014-03-05T06:07:08Z", "2014-03-05 06:07"),
        ("2014-03-05T06:07+01:00", "2014-03-05 05:07"), ("2014-03-05 24:00", "2014-03-06"),
        ("25/03/2014 6:07 PM", "2014-03-25 18:07"), ("25/03/2014 12:07 am", "2014-03-25 00:07"),
        ("25.03.2014 06.07", "2014-03-25 06:07"), ("5/Mar/2014:06:07:08 +0000", "2014-03-05 06:07"),
    ],
)  # fmt: skip
def test_date__has_its_day_alone(text, date):
    assert dates(text) == [date]


@pytest.mark.parametrize("text", ["Mon", "may", "A1", "12:30", "2014", "1.5", "5 marbles 2014"])
def test_other_texts__are_no_dates(text):
    assert read_dates(texts(text)) is None


@given(
    st.lists(
        st.datetimes(min_value=datetime(1700, 1, 1), max_value=datetime(2200, 1, 1)), min_size=1
    ),
    st.sampled_from(
        ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d %b %Y %H:%M:%S", "%Y/%m/%d %I:%M:%S %p"]
    ),
)
@settings(max_examples=60, deadline=None)
def test_dates__are_what_was_written(times, form):
    found = read_dates(texts(*[f"{time:{form}}" for time in times]))
    expected = [pd.Timestamp(time.replace(microsecond=0), tz="UTC") for time in times]
    assert found.values.tolist() == expected


@given(st.lists(st.dates(min_value=datetime(1990, 1, 1).date()), min_size=1), st.booleans())
@settings(max_examples=60, deadline=None)
def test_order__is_right_or_asked_for(days, is_day_first):
    days = [day for day in days if day.year < 2200] or [datetime(2014, 1, 1).date()]
    form = "%d/%m/%Y" if is_day_first else "%m/%d/%Y"
    found = read_dates(texts(*[f"{day:{form}}" for day in days]))
    if isinstance(found, Fault):
        assert all(day.day <= 12 for day in days)
        assert "--date-format dd/mm/yyyy or mm/dd/yyyy" in found.reason
    else:
        assert [value.date() for value in found.values] == days


@pytest.mark.parametrize(
    ("cells", "row", "reason"),
    [
        (("01/02/14", "02/03/14"), 0, "--date-format dd/mm/yy or mm/dd/yy"),
        (("13/01/2014", "01/13/2014"), 1, "another row has '13/01/2014'"),
        (("30.02.2014", "01.03.2014"), 0, "no day of the calendar"),
        (("2014-01-01", "2014-01-02 25:00"), 1, "no day of the calendar"),
        (("2014-01-01", "2014-01-02", "soon"), 2, "no date in the form of the others"),
        (("14-Jan", "15-Jan"), 0, "without its year"),
    ],
)
def test_unlike_cells__are_faults(cells, row, reason):
    found = read_dates(texts(*cells))
    assert isinstance(found, Fault)
    assert found.row == row
    assert reason in found.reason


def test_format__is_what_was_asked_for():
    assert dates("01/02/2014", date_format="dd/mm/yyyy") == ["2014-02-01"]
    assert dates("01/02/2014", date_format="%m/%d/%Y") == ["2014-01-02"]
    assert dates("14-Jan 6:05", date_format="%d-%b %H:%M")[0].endswith("-01-14 06:05")
    assert read_dates(texts("a", "b"), "dd/mm/yyyy") is None
    assert read_dates(texts("01/02/2014", "soon"), "dd/mm/yyyy").row == 1


def test_python_format__knows_the_letters_of_spreadsheets():
    assert python_format("dd/mm/yyyy") == "%d/%m/%Y"
    assert python_format("YYYY-MM-DD hh:mm:ss") == "%Y-%m-%d %H:%M:%S"
    assert python_format("%d.%m.%y") == "%d.%m.%y"


def test_months_with_points__are_no_numbers():
    assert read_months(texts("01.2014", "10.2014")).values.dt.month.tolist() == [1, 10]
    assert read_months(texts("10.2014", "11.2014")) is None
    assert read_months(texts("01.2014", "13.2014")) is None


def test_iso__can_be_read_in_one_way_alone():
    good = ["2014-01", "2014-01-05", "2014-01-05T06:07Z", "2014-W05", "2014Q1", "2014-01-05 06:07"]
    assert are_iso(texts(*good)).all()
    assert not are_iso(texts("2014", "05.01.2014", "2014-1-5", "20140105")).any()
