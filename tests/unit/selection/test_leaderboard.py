"""Tests of the table of candidates and their average."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

import vbks
from vbks.selection.leaderboard import AVERAGE
from vbks.selection.record import MOST_LEFT_OUT


@pytest.fixture(scope="module")
def rows():
    x = np.linspace(0.0, 4.0, 40)
    return x, np.sin(2 * x) + 0.2 * np.random.default_rng(0).normal(size=40)


@pytest.fixture(scope="module")
def selection(rows):
    x, y = (part[:30] for part in rows)
    space = ["SE", "LIN"]
    return vbks.fit(x, y, space=space, warps="identity", restarts=1, prune=False, progress=False)


def test_leaderboard__has_the_average_first_and_then_the_belief(selection):
    table = selection.leaderboard()
    assert list(table["expression"]) == [AVERAGE, *selection.belief["expression"]]
    assert table["weight"][0] == 1.0
    own, belief = table[1:].reset_index(drop=True), selection.belief
    for name in ("reading", "warp", "status", "probability", "weight", "log_evidence", "seconds"):
        assert list(own[name]) == list(belief[name]), name
    assert table["seconds"][0] == pytest.approx(belief["seconds"].sum())
    assert not {"rmse", "nlpd"} & set(table.columns)


def test_leaderboard__has_densities_of_left_out_rows(selection):
    table = selection.leaderboard().set_index("expression")
    densities = selection.left_out_densities
    for fit, column, weight in zip(selection.fits, densities.T, selection.weights, strict=True):
        assert table.loc[str(fit.expression), "left_out"] == pytest.approx(column.mean())
        assert weight >= 0
    averaged = np.log(np.exp(densities) @ selection.weights)
    assert table.loc[AVERAGE, "left_out"] == pytest.approx(averaged.mean())
    np.testing.assert_allclose(averaged, logsumexp(densities, axis=1, b=selection.weights))


def test_leaderboard__scores_each_alone_on_held_out_rows(selection, rows):
    X, y = (part[30:] for part in rows)
    table = selection.leaderboard((X, y))
    assert table["nlpd"].is_monotonic_increasing
    by_name = table.set_index("expression")
    alone = {AVERAGE: selection} | {
        str(fit.expression): replace(selection, fits=(fit,)) for fit in selection.fits
    }
    assert set(by_name.index) == set(alone)
    for name, own in alone.items():
        mean, _ = own.predict_y(X)
        rmse = np.sqrt(np.mean((mean - y) ** 2))
        assert by_name.loc[name, "rmse"] == pytest.approx(rmse)
        nlpd = -own.predict_log_density((X, y)).mean()
        assert by_name.loc[name, "nlpd"] == pytest.approx(nlpd)


def test_leaderboard__has_no_scores_of_what_was_not_fitted(selection, rows):
    fits = [
        replace(f, status="dropped") if "LIN" in str(f.expression) else f for f in selection.fits
    ]
    table = replace(selection, fits=tuple(fits)).leaderboard((rows[0][30:], rows[1][30:]))
    assert list(table["expression"])[-1] == "LIN"
    assert table.iloc[-1][["rmse", "nlpd", "left_out"]].isna().all()
    assert table.iloc[:-1]["rmse"].notna().all()


def test_leaderboard__of_many_rows_leaves_none_out(selection, monkeypatch):
    monkeypatch.setattr("vbks.selection.record.MOST_LEFT_OUT", 29)
    again = replace(selection, notices=())
    assert "left_out" not in again.leaderboard()
    assert MOST_LEFT_OUT > 29
