import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbks.data.cells.numbers import Reading, plain_numbers, read_numbers, read_truth, take_apart
from vbks.data.cells.readings import Fault


def texts(*values):
    return np.array(values, dtype=object)


def numbers(*values, **forms):
    found = read_numbers(texts(*values), **forms)
    return found.values.tolist() if isinstance(found, Reading) else found


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1234.5", 1234.5), ("1,234.5", 1234.5), ("1.234,5", 1234.5), ("1 234,5", 1234.5),
        ("1'234.5", 1234.5), ("12,34,567.8", 1234567.8), ("1.234.567", 1234567), ("0,123", 0.123),
        ("0.123", 0.123), (".5", 0.5), (",5", 0.5), ("12,", 12), ("1e3", 1000), ("1,5E-2", 0.015),
        ("12 %", 12), ("€1.234,50", 1234.5), ("1.234,50 €", 1234.5), ("$1,234.50", 1234.5),
        ("-$5", -5), ("$-5", -5), ("CHF 7.50", 7.5), ("(1,234.5)", -1234.5), ("($5)", -5),
        ("5-", -5), ("−5", -5), ("+5", 5), ("12 kr", 12),
    ],
)  # fmt: skip
def test_number__has_its_value_alone(written, value):
    assert numbers(written) == [pytest.approx(value)]


@pytest.mark.parametrize(
    "written", ["abc", "1 2", "12:30", "1.2.3", "1,2,3", "(5", "5)", "--5", "-(5)", "1/2", "5 km"]
)
def test_text__is_no_number(written):
    assert numbers(written) is None


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5),
    st.sampled_from(["{:,.2f}", "{:.2f}", "{:,.1f} €", "${:,.2f}"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_numbers__are_what_was_written(values, form, has_comma):
    written = [form.format(value / 4) for value in values]
    if has_comma:
        written = [text.translate(str.maketrans(",.", ".,")) for text in written]
    expected = [float(form.strip("€$ ").replace(",", "").format(value / 4)) for value in values]
    assert numbers(*written) == pytest.approx(expected)


def test_thousands__are_read_by_all_of_the_column():
    assert numbers("1,234", "12,345") == [1234, 12345]
    assert numbers("1,234", "1,5") == [1.234, 1.5]
    assert numbers("1.234", "2.5") == [1.234, 2.5]
    assert numbers("1.234", "1.234.567") == [1234, 1234567]
    assert numbers("1.234", "5678") == [1.234, 5678]


def test_open_marks__are_decided_by_other_columns():
    assert numbers("1,234", hint=",") == [1.234]
    assert numbers("1.234", "987", hint=",") == [1234, 987]
    assert numbers("1.234", "987", decimal=".") == [1.234, 987]


@pytest.mark.parametrize(
    ("written", "row", "reason"),
    [
        (("1.234", "987"), 0, "thousands"),
        (("2,5", "1.5"), 1, "while another has '2,5'"),
        (("1", "2%"), 0, "percent"),
        (("$1", "2 €"), 1, "in \\$"),
        (("1", "2", "x"), 2, "no number as the others"),
    ],
)
def test_unlike_cells__are_faults(written, row, reason):
    found = read_numbers(texts(*written))
    assert isinstance(found, Fault)
    assert found.row == row
    assert reason.replace("\\", "") in found.reason


def test_how__is_told_with_a_row_where_it_shows():
    found = read_numbers(texts("5", "1.234,5"))
    assert found.how == "with a decimal comma and points between thousands"
    assert found.example == 1
    assert read_numbers(texts("5", "1234.5")).how == ""


def test_plain_numbers__are_beyond_doubt():
    assert plain_numbers(texts("1", "2.5")).tolist() == [1, 2.5]
    assert plain_numbers(texts("1.234", "2.345")) is None
    assert plain_numbers(texts("1", "2,5")) is None


def test_take_apart__says_which_marks_fit():
    assert take_apart(texts("1,5", "2")).decimal == ","
    assert take_apart(texts("1,234")).is_open
    assert not take_apart(texts("12", "13")).is_open


def test_truth__is_one_or_zero():
    assert read_truth(texts("TRUE", "false")).values.tolist() == [1, 0]
    assert read_truth(texts("ja", "Nein")).values.tolist() == [1, 0]
    assert read_truth(texts("yes", "maybe")) is None
