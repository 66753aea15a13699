import json
import re
from dataclasses import replace

import numpy as np
import pytest

from vbks.report.figures.curve import curve_figure, series_figure, told_place
from vbks.report.figures.frame import NARROW, WIDE
from vbks.report.values import Curve, Points, Series

GRID = tuple(float(x) for x in range(11))
CURVE = Curve(
    "year",
    "load",
    "number",
    GRID,
    tuple(tuple(x + shift for x in GRID) for shift in (-2.0, -1.0, 0.0, 1.0, 2.0)),
    Points((0.0, 4.0, 8.0), (0.5, 3.5, 8.5)),
    8.0,
    ((0, "first"), (4, "fifth"), (10, "last")),
)


def path(figure, name):
    (found,) = re.findall(rf'<path d="([^"]*)" class="{name}"', str(figure))
    return np.array(
        [[float(n) for n in pair.split()] for pair in re.findall(r"[\d.]+ [\d.]+", found)]
    )


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_curve__draws_data_median_bands_and_the_end(size):
    figure = curve_figure(CURVE, size, "a curve")
    dots, line = path(figure, "data"), path(figure, "middle")
    assert (len(dots), len(line)) == (3, 11)
    assert len(path(figure, "outer")) == len(path(figure, "inner")) == 22
    # On one scale: the median at 0, 4 and 8 is 0.5 below, above and below the data.
    pixels = (line[0, 1] - line[10, 1]) / 10
    np.testing.assert_allclose(
        line[[0, 4, 8], 1] - dots[:, 1], pixels * np.array([0.5, -0.5, 0.5]), atol=0.2
    )
    np.testing.assert_allclose(dots[:, 0], line[[0, 4, 8], 0], atol=0.11)
    assert "data end" in figure
    assert f'viewBox="0 0 {size.width} {size.height}"' in figure


def test_curve__says_values_where_rows_and_forecasts_are():
    (text,) = re.findall(r'data-hover="([^"]*)"', str(curve_figure(CURVE, WIDE, "")))
    told = json.loads(text.replace("&#34;", '"'))
    assert [place.partition(":")[0] for _, place in told] == ["first", "fifth", "last"]
    assert told[1][1] == (
        "fifth: data 3.500, median 4.000, 50 % 3.000 to 5.000, 90 % 2.000 to 6.000"
    )
    assert "data" not in told[2][1]
    line = path(curve_figure(CURVE, WIDE, ""), "middle")
    assert [x for x, _ in told] == pytest.approx(line[[0, 4, 10], 0], abs=0.11)


def test_curve__without_named_places_says_values_along_the_grid():
    (text,) = re.findall(
        r'data-hover="([^"]*)"', str(curve_figure(replace(CURVE, told=()), WIDE, ""))
    )
    assert len(json.loads(text.replace("&#34;", '"'))) == len(GRID)


def test_curve__is_not_squeezed_by_bands_that_run_away():
    wild = replace(CURVE, bands=(*CURVE.bands[:4], tuple(1e9 for _ in GRID)))
    line, calm = (
        path(curve_figure(wild, WIDE, ""), "middle"),
        path(curve_figure(CURVE, WIDE, ""), "middle"),
    )
    assert np.ptp(line[:, 1]) > 0.3 * np.ptp(calm[:, 1])


def test_series__has_a_line_of_no_effect_where_it_is_seen():
    lines = (GRID, tuple(x - 1 for x in GRID), tuple(x + 1 for x in GRID))
    series = Series("age", "strength", "number", GRID, *lines)
    assert str(series_figure(series, NARROW, "")).count('class="axis"') > str(
        series_figure(replace(series, zero=1e3), NARROW, "")
    ).count('class="axis"')


@pytest.mark.parametrize(
    ("value", "kind", "among", "text"),
    [
        (1960.5, "year", (1949.0, 1962.0), "1960.50"),
        (0.0, "date", (0.0, 400.0), "1970-01-01"),
        (0.5, "date", (0.0, 3.0), "1970-01-01 12:00"),
        (12.3456, "number", (0.0, 100.0), "12.3"),
    ],
)
def test_told_place__is_as_fine_as_the_axis(value, kind, among, text):
    assert told_place(value, kind, among) == text
