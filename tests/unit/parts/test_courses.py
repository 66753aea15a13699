"""How parts go along inputs of data that are known."""

import numpy as np
import pandas as pd
import pytest

import vbks

DAYS = pd.date_range("2015-01-01", periods=72, freq="MS")


@pytest.fixture(scope="module")
def grown():
    """A rise by a factor, with a yearly cycle in proportion to it."""
    t, rng = np.arange(72.0), np.random.default_rng(0)
    y = 100.0 * np.exp(0.1 * t / 12.0 + 0.2 * np.sin(2 * np.pi * t / 12.0))
    y = pd.Series(y * np.exp(0.02 * rng.normal(size=72)), name="passengers (thousands)")
    return vbks.fit(
        pd.DataFrame({"month": DAYS}), y, space=["SE + PER"], warps=["log", "identity"],
        restarts=2, posterior="laplace", progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def concrete():
    """What levels off along one input, and falls with another, more where the first is high."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age (days)": rng.uniform(1, 90, 80), "water": rng.uniform(0, 1, 80)})
    y = (1.0 - np.exp(-table["age (days)"] / 10.0)) * (40.0 - 25.0 * table["water"])
    y = pd.Series(y + 0.3 * rng.normal(size=80), name="strength (MPa)")
    return vbks.fit(
        table, y, space=["SE[1] * SE[2]"], restarts=2, posterior="laplace", progress=False
    )


def test_growth__is_told_in_percent_a_year(grown):
    found = grown.components()
    rise, *_ = (part for part in found.of_warp("log").components if part.kind == "curve")
    (values,) = (own for factor in rise.part.factors for own in factor.values if own.direction)
    assert values.direction == "up"
    assert 365.25 * values.slope.value == pytest.approx(0.1, abs=0.01)
    assert "% a year" in str(rise) and rise.reading.startswith("rise")


def test_summary__says_what_grows_and_what_repeats(grown):
    first, *_ = grown.components().of_warp("log").summary
    assert first.startswith("Passengers grow by about 1") and "% a year" in first
    assert "yearly cycle whose swings grow with the level" in first


def test_parts_of_two_warps__are_surer_together(grown):
    found = grown.components()
    for own in found.decompositions:
        (cycle,) = (part for part in own.components if part.kind == "cycle")
        others = 1.0 - own.belief
        assert cycle.part.elsewhere == pytest.approx(others, abs=1e-6)
        if others > 0.005:
            assert "on another scale with" in str(cycle)
        assert "almost certainly" in str(cycle)


def test_swings__grow_where_the_warp_does_not_know_it():
    t, rng = np.arange(96.0), np.random.default_rng(0)
    y = (1.0 + 3.0 * t / 96.0) * np.sin(2 * np.pi * t / 12.0) + 0.1 * rng.normal(size=96)
    selection = vbks.fit(t, y, space=["SE * PER"], restarts=2, posterior="laplace", progress=False)
    (cycle,) = (part for part in selection.components() if part.kind == "cycle")
    assert cycle.part.swings == "growing" and "growing swings" in str(cycle)


def test_several_inputs__are_told_one_by_one(concrete):
    (part, *_) = concrete.components()
    age, water = sorted(part.part.courses, key=lambda course: course.input)
    assert age.values.direction == "up" and 10.0 < age.values.levels_off.value < 40.0
    assert age.more_where == (2, "low") and water.values.direction == "down"
    assert "rises with age up to about" in str(part) and "falls with water" in str(part)
    assert "more so where water is low" in str(part)
