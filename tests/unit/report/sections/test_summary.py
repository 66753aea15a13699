from support.selections import make_dated

from vbks.report.labels import labels_of
from vbks.report.sections.summary import summary_of
from vbks.report.values import Missing


def test_summary__says_what_it_is_how_sure_and_what_comes(dated):
    first, second = dated.summary
    assert first.startswith("What is going on in sold: ")
    assert "(62 %)" in first and "possibly" in first
    assert second == dated.outlook.sentence


def test_summary__of_several_inputs_names_the_strongest(table):
    assert table.summary[1] == table.outlook.effects[0].sentence


def test_summary__is_there_without_the_sections():
    missing = Missing("no")
    assert summary_of(labels_of(make_dated()), missing, missing) == ()
