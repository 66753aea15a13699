"""The section on parts has the numbers of `selection.components()`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated, make_fit

from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.report.labels import labels_of
from vbks.report.sections.parts import average_of, parts_of, scale_name
from vbks.selection.selection import Selection


@pytest.fixture(scope="module")
def selection():
    return make_dated()


def at(selection, series):
    """Components at the places of a picture."""
    days = pd.Timestamp("1970-01-01") + pd.to_timedelta(series.grid, unit="D")
    return selection.components(pd.DataFrame({"month": days}))


def test_parts__are_those_of_the_selection_in_their_order(dated, selection):
    found = selection.components()
    for own, expected in zip(dated.parts.warps, found.decompositions, strict=True):
        named = [c for c in expected.components if c.kind != "level"]
        assert [row.name for row in own.parts] == [c.reading for c in named]
        for row, part in zip(own.parts, named, strict=True):
            assert row.sentence == str(part.sentence)
            assert row.share == pytest.approx(part.share)
            assert row.mae_gain == pytest.approx(part.contribution.mae_gain)
        assert own.probability == pytest.approx(expected.belief)
    assert dated.parts.summary == found.summary


def test_parts__pictures_are_their_posteriors(dated, selection):
    own = dated.parts.main
    assert own.is_factor and own.warp == "log"
    series = own.parts[0].whole
    part = at(selection, series).main.components[0]
    np.testing.assert_allclose(series.mean, np.exp(part.given_mean), rtol=1e-6)
    np.testing.assert_allclose(
        np.log(np.array(series.high) / series.low), 2 * 1.6448536 * part.given_sd, rtol=1e-6
    )
    assert series.zero == 1.0 and series.target == "factor of sold"
    assert own.parts[0].spark_ends == ("2015-01", "2020-04")


def test_parts__sums_and_what_is_left_add_up_to_the_data(dated, selection):
    found = selection.components().main
    for number, row in enumerate(dated.parts.main.parts, 1):
        np.testing.assert_allclose(row.left.dots.y, found.residuals(number), rtol=1e-6, atol=1e-9)
        assert row.sum_so_far.line.x == row.whole.grid
        assert row.sum_so_far.dots.y == pytest.approx(found.rows.targets)


def test_parts__of_short_cycles_are_also_seen_closer():
    x = np.arange(60.0)
    data = prepare((x, np.sin(x)))
    fit = make_fit("PER", 60)
    # A period of a tenth of the standard deviation of x.
    mean = fit.modes[0].mean.copy()
    mean[-1] = np.log(0.1)
    selection = Selection(
        (replace(fit, modes=(replace(fit.modes[0], mean=mean),)),), {Identity(): data}
    )
    (part,) = parts_of(selection, labels_of(selection), average_of(selection)).main.parts
    assert part.closer is not None and part.spark is part.closer
    assert np.ptp(part.closer.grid) == pytest.approx(3 * 0.1 * x.std(), rel=0.01)
    assert part.closer.grid[-1] == 59.0


def test_parts__of_several_inputs_are_drawn_over_their_own(table):
    own = table.parts.main
    assert not own.is_factor and own.base
    for part in own.parts:
        assert part.sum_so_far is None
        if len(part.inputs) == 1:
            assert part.whole.input == part.inputs[0]
            assert np.all(np.diff(part.whole.grid) > 0)


@pytest.mark.parametrize(
    ("effect", "warp", "name"),
    [("factor", "log", "factor of sold"), ("added", "identity", "sold"),
     ("added", "softplus", "softplus of sold")],
)  # fmt: skip
def test_scale__says_what_values_are(effect, warp, name, selection):
    assert scale_name(effect, warp, labels_of(selection)) == name


def test_average__has_fewer_samples_where_rows_are_many(monkeypatch, selection):
    assert average_of(selection).num_samples == 64
    monkeypatch.setattr("vbks.report.sections.parts.MANY_ROWS", 10)
    assert average_of(selection).num_samples == 16
