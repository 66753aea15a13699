"""The verdict, the table and what is shown of them."""

import numpy as np
import pandas as pd
import pytest
from support.selections import HOSTILE

from vbks.criticism.judging import CheckResult
from vbks.criticism.result import COLUMNS, Criticism, Curve


def made(*adjusted, sentence="Residuals repeat.", notices=()):
    checks = tuple(
        CheckResult(f"check {n}", 1.0, p / 2, p, 5.0 - n, p > 0.05, sentence)
        for n, p in enumerate(adjusted)
    )
    curve = Curve(np.ones(2), np.ones(2), 1.0)
    table = pd.DataFrame({"row": [0], "position": [0.0], "residual": [0.1], "left_out": [0.1]})
    return Criticism(checks, notices, (), 0.9, table, curve, None, "day", 99, 1, "About.")


def test_verdict__says_that_nothing_speaks_against_the_model():
    found = made(0.2, 0.7)
    assert found.verdict == (
        "Nothing speaks against this model: the smallest p-value of 2 checks, corrected for their "
        "number, is 0.2."
    )
    assert found.p_value == 0.2 and not found.findings


def test_verdict__names_the_most_surprising_findings():
    assert made(0.01, 0.7).verdict == "Look at: residuals repeat."
    assert made(0.01, 0.01, 0.02, 0.03, 0.04).verdict.endswith("; and 2 more checks.")
    assert [check.check for check in made(0.01, 0.5, 0.01).findings] == ["check 0", "check 2"]


def test_table__has_a_row_for_each_check():
    table = made(0.01, 0.7).table
    assert tuple(table.columns) == COLUMNS
    assert list(table["verdict"]) == ["look", "clear"]


def test_text__has_verdict_notices_and_checks():
    text = str(made(0.01, notices=("Rows are few.",)))
    assert text.splitlines()[:2] == ["Look at: residuals repeat.", "Notice: Rows are few."]
    assert "check 0" in text and text.endswith("About.")


@pytest.mark.parametrize("place", ["sentence", "notices"])
def test_html__runs_nothing_of_names_in_the_data(place):
    hostile = (HOSTILE,) if place == "notices" else HOSTILE
    html = made(0.01, **{place: hostile})._repr_html_()
    assert "<script" not in html and "<img" not in html and "\x1b" not in html
