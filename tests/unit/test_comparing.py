"""Tests of methods beside each other, with a small budget."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from vbks.comparing import COLUMNS, MethodComparison, compare
from vbks.errors import SettingsError
from vbks.search.budget import Budget

QUICK = {"families": ("SE", "LIN"), "restarts": 2, "progress": False}


@cache
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = np.linspace(0, 10, 40)
    return pd.DataFrame({"x": x, "y": np.sin(x) + x + 0.1 * rng.normal(size=40)})


@cache
def race() -> MethodComparison:
    rows = table()
    return compare(
        rows[["x"]], rows["y"], ["random", "cks"], budget=Budget(candidates=6), **QUICK
    )  # fmt: skip


def test_compare__has_rows_on_the_way_and_an_answer_for_each_method() -> None:
    found = race()
    assert tuple(found.table.columns) == COLUMNS
    assert list(found.answers["method"]) == ["random", "cks", "naive"]
    for _, rows in found.table.groupby("method"):
        assert rows["seconds"].is_monotonic_increasing
        assert len(rows) >= 2
    assert np.isfinite(found.table[["bic", "rmse", "nlpd"]]).all().all()
    assert not found.failures


def test_compare__an_answer_scores_like_the_kernel_it_ended_with() -> None:
    rows = race().table[lambda t: t["method"] == "cks"]
    last, answer = rows.iloc[-2], rows.iloc[-1]
    assert last["kernel"] == answer["kernel"]
    assert answer["rmse"] == pytest.approx(last["rmse"])


def test_compare__holds_out_the_end_of_a_single_input() -> None:
    told: list[str] = []
    rows = table().sample(frac=1.0, random_state=0)
    found = compare(
        rows[["x"]], rows["y"], ["random"], budget=Budget(candidates=6), test_share=0.2,
        tell=told.append, **QUICK,
    )  # fmt: skip
    assert told == ["random"]
    assert set(found.table["method"]) == {"random"}
    held_out = rows.sort_values("x")[-8:]["y"]
    last = rows.sort_values("x")["y"].iloc[-9]
    (naive,) = found.baselines["rmse"]
    assert naive == pytest.approx(np.sqrt(np.mean((held_out - last) ** 2)))


def test_compare__draws_a_line_for_each_method() -> None:
    canvas = race().plot()
    labels = [text.get_text() for text in canvas.axes[0].get_legend().get_texts()]
    assert labels == ["random", "cks"]
    assert "RMSE" in canvas.axes[1].get_title()
    labels = [text.get_text() for text in canvas.axes[1].get_legend().get_texts()]
    assert labels == ["naive"]


def test_compare__refuses_what_it_does_not_know() -> None:
    rows = table()
    with pytest.raises(SettingsError, match="'sks' is no method"):
        compare(rows[["x"]], rows["y"], ["sks"])
    with pytest.raises(SettingsError, match="no method to compare"):
        compare(rows[["x"]], rows["y"], [])
    with pytest.raises(SettingsError, match="expected between 0 and 1"):
        compare(rows[["x"]], rows["y"], ["cks"], test_share=1.5)
