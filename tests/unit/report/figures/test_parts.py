import re

import numpy as np
import pytest

from vbks.report.figures.frame import WIDE
from vbks.report.figures.parts import SPARK, overlay_figure, spark_figure
from vbks.report.values import Overlay, Points, Series

GRID = (0.0, 1.0, 2.0)
SERIES = Series("x", "y", "number", GRID, (-1.0, 0.0, 1.0), (-2.0, -1.0, 0.0), (0.0, 1.0, 2.0), 1.0)


def path(figure, name):
    (found,) = re.findall(rf'd="([^"]*)" class="{name}"', str(figure))
    return np.array([[float(n) for n in p.split()] for p in re.findall(r"[\d.]+ [\d.]+", found)])


def test_spark__has_line_band_ends_and_where_the_data_end():
    figure = spark_figure(SERIES, ("1949", "1962"), SPARK, "a part")
    line, band = path(figure, "middle"), path(figure, "outer")
    assert len(line) == 3 and len(band) == 6
    # The line is in the middle of the band, and rises.
    np.testing.assert_allclose(line[:, 1], (band[:3, 1] + band[:2:-1, 1]) / 2, atol=0.11)
    assert line[0, 1] > line[2, 1]
    assert ">1949<" in figure and ">1962<" in figure
    assert 'class="zero"' in figure and 'class="end"' in figure


def test_overlay__has_rows_and_a_line_on_one_scale():
    overlay = Overlay(
        "x", "y", "number", Points(GRID, (0.0, 1.0, 2.0)), Points(GRID, (0.0, 1.0, 2.0))
    )
    figure = overlay_figure(overlay, WIDE, "rows")
    np.testing.assert_allclose(path(figure, "data"), path(figure, "middle"), atol=0.11)
    assert 'class="outer"' not in figure


@pytest.mark.parametrize("usual", [None, 1.96])
def test_overlay__shows_zero_and_where_values_usually_are(usual):
    overlay = Overlay(
        "x", "y", "number", Points(GRID, (-1.0, 0.0, 1.0)), has_zero=True, usual=usual
    )
    figure = overlay_figure(overlay, WIDE, "residuals")
    assert ('class="outer"' in figure) == (usual is not None)
    if usual:
        band, dots = path(figure, "outer"), path(figure, "data")
        height = np.ptp(band[:, 1])
        assert height == pytest.approx(1.96 * np.ptp(dots[:, 1]), abs=0.3)
