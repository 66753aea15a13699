import math

import gpflow
import numpy as np
import pytest
from scipy.stats import norm

from vbks.data.warps import Log
from vbks.properties.trends import LEAST_SHARE, functional_moments, trend_of

X = np.linspace(0.0, 10.0, 40)
RNG = np.random.default_rng(1)
NOISE = 0.1 * RNG.normal(size=40)
LONG, SHORT = {"lengthscales": math.log(2.0)}, {"lengthscales": math.log(0.3)}


@pytest.mark.parametrize("slope", [0.7, -0.7])
def test_trend__is_told_with_its_direction_and_size(believe, slope):
    y = 20.0 + slope * X + NOISE
    found = trend_of(believe(X, y, [("LIN", {}, 1.0)], target="load (MW)"), 1.0)
    assert found.median == pytest.approx(10 * slope, rel=0.03)
    low, high = found.interval
    assert low < 10 * slope < high and found.unit == "MW"
    assert (found.up if slope > 0 else found.down) == pytest.approx(1.0, abs=1e-6)
    assert found.probability == pytest.approx(found.up + found.down)
    word = "rises" if slope > 0 else "falls"
    assert f"load {word} by" in found.sentence and "MW" in found.sentence


def test_probability__is_that_of_the_line_of_bayes_beyond_the_least(believe):
    """Twin: the slope of a line with a normal prior, its crossing held, by dense algebra."""
    y = 0.02 * X + 0.5 * RNG.normal(size=40)
    beliefs = believe(X, y, [("LIN", {"noise": math.log(0.9), "variance": -2.0}, 1.0)])
    (member,) = beliefs.members
    rows, targets = member.sources[0].posteriors.data.arrays()
    z = rows[:, 0]
    variance = 1.0 / (math.exp(2.0) + z @ z / (0.9 + 1e-8))
    mean = variance * (z @ targets) / (0.9 + 1e-8)
    extent = np.ptp(z)
    least = math.sqrt(12 * LEAST_SHARE)
    expected = norm.sf((least - extent * mean) / (extent * math.sqrt(variance)))
    assert trend_of(beliefs, 1.0).up == pytest.approx(expected, abs=1e-6)


def test_functional__of_a_part_agrees_with_dense_algebra(believe):
    beliefs = believe(X, 0.3 * X + NOISE, [("LIN + SE", SHORT, 1.0)])
    (member,) = beliefs.members
    source = member.sources[0]
    rows, targets = source.posteriors.data.arrays()
    theta = dict(zip(member.layout.names, source.theta[0], strict=True))
    line = next(v for n, v in theta.items() if n.endswith("kernels[0].variance"))
    at = next(v for n, v in theta.items() if n.endswith("location"))
    size = next(v for n, v in theta.items() if n.endswith("kernels[1].variance"))
    smooth = gpflow.kernels.SquaredExponential(math.exp(size), 0.3)(rows).numpy()

    def of_line(a, b):
        return math.exp(line) * (a - at) @ (b - at).T

    noise = math.exp(theta[member.layout.names[0]]) + 1e-8
    whole = of_line(rows, rows) + smooth + noise * np.eye(len(rows))
    new = np.array([[-1.0], [1.0]])
    step = np.array([-1.0, 1.0])
    cross = of_line(rows, new) @ step
    mean, sd = functional_moments(source, [0], new, step, np.array([0]))
    assert mean[0] == pytest.approx(cross @ np.linalg.solve(whole, targets), rel=1e-6)
    variance = step @ of_line(new, new) @ step - cross @ np.linalg.solve(whole, cross)
    assert sd[0] == pytest.approx(math.sqrt(variance), rel=1e-4)


def test_trend__is_of_lines_and_long_smooth_curves_alone(believe):
    y = 0.5 * X + NOISE
    texts = [("SE", LONG), ("SE", SHORT), ("OU", LONG), ("LIN * PER", {}), ("CP(LIN, LIN)", {})]
    found = [trend_of(believe(X, y, [(text, own, 1.0)]), 1.0) for text, own in texts]
    assert [round(own.up, 3) for own in found] == [1.0, 0.0, 0.0, pytest.approx(0.0, abs=1), 0.0]
    assert found[1].estimate is None and "unlikely" in found[1].sentence


def test_trend__under_a_logarithm_is_told_in_the_unit_of_the_target(believe):
    y = np.exp(1.0 + 0.3 * X + 0.02 * RNG.normal(size=40))
    found = trend_of(believe(X, y, [("LIN", {}, 1.0, Log())]), 1.0)
    assert found.median == pytest.approx(math.exp(4.0) - math.exp(1.0), rel=0.05)
    assert found.up == pytest.approx(1.0, abs=1e-6)


def test_trend__of_several_kernels_has_the_belief_of_those_with_one(believe):
    y = 0.5 * X + NOISE
    found = trend_of(believe(X, y, [("LIN", {}, 3.0), ("SE", SHORT, 1.0)]), 1.0)
    assert found.up == pytest.approx(0.75, abs=1e-3)
