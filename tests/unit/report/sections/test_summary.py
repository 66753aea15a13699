from support.selections import make_dated

from vbks.report.labels import labels_of
from vbks.report.sections.summary import summary_of
from vbks.report.values import Missing


def test_summary__says_what_it_is_and_what_comes(dated):
    *first, last = dated.summary
    assert tuple(first) == dated.parts.summary[:4] and last == dated.outlook.forecast
    assert last.startswith("The forecast of sold for 2020-04, the last in the 24 months after 2018")


def test_summary__without_parts_is_of_the_belief(dated, table):
    missing = Missing("no")
    first, *_ = summary_of(labels_of(make_dated()), dated.outlook, missing, dated.belief)
    assert first.startswith("What is going on in sold: ")
    assert "(62 %)" in first and "possibly" in first
    found = summary_of(labels_of(make_dated()), table.outlook, missing, table.belief)
    assert found[1] == table.outlook.effects[0].sentence


def test_summary__is_there_without_the_sections():
    missing = Missing("no")
    assert summary_of(labels_of(make_dated()), missing, missing, missing) == ()
