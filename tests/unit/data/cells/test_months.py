import calendar

from vbks.data.cells.months import MONTHS, NUMBERS


def test_names__have_those_of_python_in_full_and_short():
    for number in range(1, 13):
        assert NUMBERS[calendar.month_name[number].lower()] == number
        assert NUMBERS[calendar.month_abbr[number].lower()] == number


def test_names__mean_one_month_each():
    names = " ".join(MONTHS).split()
    assert len(names) == len({*names})
    assert NUMBERS["märz"] == NUMBERS["mars"] == NUMBERS["marzo"] == 3
    assert NUMBERS["août"] == NUMBERS["agosto"] == 8
