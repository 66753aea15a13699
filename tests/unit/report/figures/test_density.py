import re

import numpy as np

from vbks.report.figures.density import density_figure
from vbks.report.figures.frame import Size
from vbks.report.sections.properties import Likely

X = tuple(np.linspace(9.0, 13.0, 81))
DENSITY = tuple(np.exp(-0.5 * (np.array(X) - 11.0) ** 2 / 0.25**2))


def test_density__is_a_hill_with_its_interval_filled():
    likely = Likely("period", "years", "number", X, DENSITY, 10.6, 11.4)
    figure = str(density_figure(likely, Size(300, 96), "a period"))
    hill = {name: path for path, name in re.findall(r'd="([^"]*)" class="(\w+)"', figure)}
    places = np.array(
        [[float(n) for n in p.split()] for p in re.findall(r"[\d.]+ [\d.]+", hill["middle"])]
    )
    top = places[places[:, 1].argmin()]
    assert abs(top[0] - 150.0) < 2.0
    inner = np.array([float(n) for n in re.findall(r"([\d.]+) [\d.]+", hill["inner"])])
    scale = (places[-1, 0] - places[0, 0]) / np.ptp(
        [x for x, d in zip(X, DENSITY, strict=True) if d > 0.002]
    )
    assert abs(np.ptp(inner) - 0.8 * scale) < 0.06 * scale
    assert "period (years)" in figure and ">11" in figure
