import pytest

from vbks.data.cells.date_forms import FORMS, WITHOUT_YEAR, parts_of


def named(name):
    return next(form for form in FORMS if form.name == name)


def test_parts__are_those_of_the_text():
    parts = parts_of(FORMS[0], "2014-03-05T06:07:08.9+01:00")
    assert (parts["year"], parts["month"], parts["day"]) == ("2014", "03", "05")
    assert (parts["hour"], parts["minute"], parts["second"]) == ("06", "07", "08.9")
    assert parts["zone"] == "+01:00"
    assert parts_of(FORMS[0], "05.03.2014") is None


@pytest.mark.parametrize("text", ["2014-W05", "2014W5", "2014 KW 05", "2014-W05-3"])
def test_weeks__are_of_one_form(text):
    assert int(parts_of(named("ISO weeks"), text)["week"]) == 5


def test_two_orders__are_known_by_their_form():
    assert [form.is_of_two_orders for form in FORMS].count(True) == 2


@pytest.mark.parametrize("text", ["14-Jan", "14. Jan", "Jan 14", "3 May"])
def test_without_year__finds_days_alone(text):
    assert WITHOUT_YEAR.fullmatch(text)
    assert not WITHOUT_YEAR.fullmatch(f"{text} 2014")
