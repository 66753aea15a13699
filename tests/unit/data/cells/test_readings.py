import numpy as np
import pandas as pd
import pytest

from vbks.data.cells.readings import are_missing, are_texts, stripped


def cells(*values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "NULL", "-", "–", "#N/A", "#DIV/0!", "?", "nan"])
def test_markers__say_that_nothing_is_known(cell):
    assert are_missing(cells(cell)).all()


@pytest.mark.parametrize("cell", [None, np.nan, pd.NA, pd.NaT, float("nan")])
def test_missing_values__of_all_types_are_found(cell):
    assert are_missing(cells(cell)).all()


@pytest.mark.parametrize("cell", ["0", "no", "x", "-1", 0, False, [1, 2], "nano"])
def test_other_cells__are_known(cell):
    assert not are_missing(cells(cell)).any()


def test_stripped__has_plain_spaces_alone():
    found = stripped(cells(" a ", "1\u00a0234", "\ufeffb\u200b", 5, "1\u202f2"))
    assert found.tolist() == ["a", "1 234", "b", 5, "1 2"]


def test_are_texts__finds_texts():
    assert are_texts(cells("1", 1, None, "")).tolist() == [True, False, False, True]
