from dataclasses import replace

import pytest
from support.selections import make_dated, make_table

from vbks.errors import DataError
from vbks.report.content import attempt, brief_report_of, extent_of, report_of, title_of
from vbks.report.labels import labels_of
from vbks.report.sections.effects import Effects
from vbks.report.sections.outlook import Outlook
from vbks.report.values import Missing
from vbks.selection.missing_rows import MissingRows


def test_report__has_every_section(dated, table):
    assert isinstance(dated.outlook, Outlook) and isinstance(table.outlook, Effects)
    for report in (dated, table):
        for name in ("parts", "belief", "properties", "criticism", "method"):
            assert not isinstance(getattr(report, name), Missing), name
        assert report.summary
    assert not isinstance(dated.past, Missing) and "time" in table.past.reason


def test_titles__name_columns_and_extents_dates():
    selection = make_dated()
    labels = labels_of(selection)
    assert title_of(labels) == "sold by month"
    assert extent_of(selection, labels) == "40 rows · 2015-01 to 2018-04"
    wide = make_table(5)
    assert title_of(labels_of(wide)) == "strength explained by 5 inputs"
    assert title_of(labels_of(make_table())) == "strength by age, other 2 and other 3"
    assert extent_of(wide, labels_of(wide)) == "50 rows · 5 inputs"
    assert title_of(labels_of(make_table(feature_names=None, target_name=None))) == (
        "target by input 1, input 2 and input 3"
    )


def test_attempt__gives_the_reason_in_place_of_the_section():
    def refuse():
        raise DataError("rows were not saved.")

    assert attempt(refuse) == Missing("rows were not saved.")
    assert attempt(lambda: 1 / 0) == Missing("ZeroDivisionError: division by zero")
    assert attempt(lambda: 3) == 3


def test_report__of_a_selection_without_rows_says_so_where_they_are_missing():
    selection = make_dated()
    data = {w: replace(own, source=MissingRows(40, 1)) for w, own in selection.data.items()}
    report = report_of(replace(selection, data=data, given_weights=selection.weights))
    assert isinstance(report.outlook, Missing) and "were not saved" in report.outlook.reason
    assert not isinstance(report.belief, Missing) and not isinstance(report.method, Missing)


def test_brief_report__computes_no_predictions():
    selection = make_dated()
    report = brief_report_of(selection)
    assert isinstance(report.outlook, Missing)
    assert "mixture" not in vars(selection)
    assert report.belief.rows
    assert report.belief.rows[0].probability == pytest.approx(selection.probabilities.max())
