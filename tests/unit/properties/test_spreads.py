import math
from dataclasses import replace

import numpy as np
import pytest

from vbks.data.warps import Log
from vbks.properties.spreads import noise_of, swings_of

X = np.linspace(0.0, 10.0, 60)
PERIOD = {"period": math.log(2.0 / np.std(X))}
Y = 8.0 + np.sin(np.pi * X)


def crossing(place):
    """The standardised location of a line that is zero at a place."""
    return {"location": (place - X.mean()) / np.std(X)}


def test_swings__of_a_cycle_times_a_line_grow_as_the_line_does(believe):
    fits = [("PER * LIN", {**PERIOD, **crossing(-5.0)}, 1.0)]
    found = swings_of(believe(X, Y, fits))
    assert (found.grows, found.shrinks, found.varies) == (pytest.approx(1.0), 0.0, 0.0)
    places = found.places + 5.0
    np.testing.assert_allclose(found.profile, places / places[0], rtol=1e-6)
    ends = places[-4:].mean() / places[:4].mean()
    assert found.median == pytest.approx(ends, rel=1e-6)
    assert "swings almost certainly grow" in found.sentence.lower()


def test_swings__shrink_vary_or_stay_as_kernels_say(believe):
    fits = [
        ("PER * LIN", {**PERIOD, **crossing(15.0)}, 4.0),
        ("PER * LIN", {**PERIOD, **crossing(5.0)}, 3.0),
        ("PER + LIN", PERIOD, 2.0),
        ("SE", {}, 1.0),
    ]
    found = swings_of(believe(X, Y, fits))
    assert found.shrinks == pytest.approx(0.4)
    assert found.varies == pytest.approx(0.3)
    assert found.grows == 0.0 and found.probability == pytest.approx(0.7)


def test_swings__under_a_logarithm_grow_with_the_level(believe):
    y = np.exp(1.0 + 0.2 * X + 0.1 * np.sin(np.pi * X))
    found = swings_of(believe(X, y, [("PER + LIN", PERIOD, 1.0, Log())], target="sold"))
    assert found.grows == pytest.approx(1.0) and found.proportional == pytest.approx(1.0)
    assert found.median == pytest.approx(math.exp(2.0), rel=0.2)
    assert "with the level of sold" in found.sentence


def test_swings__without_a_cycle_are_not_there(believe):
    found = swings_of(believe(X, Y, [("SE", {}, 1.0)]))
    assert found.probability == 0.0 and found.estimate is None and found.profile is None
    assert found.sentence == "There are no swings that could grow or shrink."


def test_noise__grows_where_it_is_multiplied_by_a_line(believe):
    tiny = {"noise": math.log(1e-8), **crossing(-5.0)}
    found = noise_of(believe(X, Y, [("SE + WN * LIN", tiny, 3.0), ("SE", {}, 1.0)]))
    assert found.grows == pytest.approx(0.75) and found.shrinks == 0.0
    assert "noise probably grows" in found.sentence


def test_noise__that_stays_is_told_so_and_that_of_other_likelihoods_not_at_all(believe):
    found = noise_of(believe(X, Y, [("SE", {}, 1.0)]))
    assert found.probability == 0.0 and found.median == 1.0
    assert "unlikely that the noise changes" in found.sentence
    assert noise_of(replace(believe(X, Y, [("SE", {}, 1.0)]), is_gaussian=False)) is None


def test_noise__is_told_along_the_input_that_it_changes_with(believe):
    rng = np.random.default_rng(0)
    rows = np.column_stack([X, rng.uniform(0, 10, 60)])
    place = (-2.0 - rows[:, 1].mean()) / np.std(rows[:, 1])
    values = {"noise": math.log(1e-8), "location": place}
    found = noise_of(believe(rows, Y, [("SE[1] + WN * LIN[2]", values, 1.0)], ["age", "dose"]))
    assert found.input == "dose" and found.grows == pytest.approx(1.0)
    assert "where dose is highest" in found.sentence
