"""Tests of warps by name: those of vbks, and a user's own."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbks.data.training import prepare
from vbks.data.warp_choice import choose_warps
from vbks.data.warp_registry import (
    WarpGraph,
    automatic_warps,
    domain_of,
    graph_of,
    make_warp,
    register_warp,
    warp_from_values,
    warp_names,
    warp_to_values,
)
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit
from vbks.errors import DataError, SettingsError

EXAMPLES = (Identity(), Log(), InverseSoftplus(2.5), Logit(-1.0, 3.0))
OVER_EXAMPLES = pytest.mark.parametrize("warp", EXAMPLES, ids=lambda warp: warp.name)

# A deadline would measure how busy the machine is.
law = settings(deadline=None)


def test_softplus_of_the_mean__bends_half_as_much_as_log():
    """The slope of a warp falls as a power of y: 0 for identity and 1 for log."""
    warp, step = make_warp("softplus", mean=40.0), 1e-5
    slopes = warp.log_slope(40.0 * np.exp([-step, step]))
    power = -(slopes[1] - slopes[0]) / (2 * step)
    np.testing.assert_allclose(power, 1 / np.expm1(1), rtol=1e-8)
    assert 0.4 < power < 0.6


def test_make_warp__knows_all_names():
    made = [make_warp(name, 2.5, (-1, 3)) for name in warp_names()]
    assert tuple(made) == EXAMPLES
    assert [warp.name for warp in made] == list(warp_names())
    assert [domain_of(name, (-1, 3)) for name in warp_names()] == [w.domain for w in EXAMPLES]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_warp("sqrt", 1.0), "unknown warp 'sqrt'. Known: identity, log, logit, soft"),
        (
            lambda: make_warp("logit", 1.0),
            r"'logit' needs the ends .* target_range=\(low",
        ),
        (lambda: make_warp("logit", 1.0, (1, 2, 3)), r"are \(1, 2, 3\), expected two numbers \(l"),
        (lambda: make_warp("logit", 1.0, "ab"), "are 'ab', expected two numbers"),
        (lambda: make_warp("logit", 1.0, 3), "are 3, expected two numbers"),
        (lambda: make_warp("logit", 1.0, (2, 1)), "are 2.0 and 1.0, expected .* lower one first"),
    ],
)
def test_make_warp__says_what_is_missing(make, message):
    with pytest.raises(DataError, match=message):
        make()


@OVER_EXAMPLES
def test_values__come_back_from_a_file(warp):
    values = warp_to_values(warp)
    assert values["name"] == warp.name
    assert warp_from_values(json.loads(json.dumps(values))) == warp


@law
@given(st.floats(1e-300, 1e300))
def test_values__keep_all_digits(scale):
    warp = InverseSoftplus(scale)
    assert warp_from_values(json.loads(json.dumps(warp_to_values(warp)))) == warp


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"name": "sqrt"},
        {"name": 3},
        {"name": "softplus"},
        {"name": "softplus", "scale": "2"},
        {"name": "logit", "low": 0.0},
        {"name": "log", "scale": 2.0},
        {"name": "softplus", "scale": 2.0, "low": 1.0},
    ],
)
def test_values_of_no_warp__are_refused(values):
    with pytest.raises(DataError, match=r"no warp is described by \{.*\}. Known: identity, log, l"):
        warp_from_values(values)


def test_own_warp__cannot_be_saved():
    class Cube(Identity):
        name = "cube"

    with pytest.raises(DataError, match="the warp 'cube' cannot be saved: it is not registered"):
        warp_to_values(Cube())


@dataclass(frozen=True)
class Arcsinh:
    """A logarithm on both sides of zero, beyond the scale."""

    scale: float
    name = "arcsinh"
    domain = (-math.inf, math.inf)

    def forward(self, y):
        return np.arcsinh(np.asarray(y) / self.scale)

    def inverse(self, z):
        return self.scale * np.sinh(z)

    def log_slope(self, y):
        return -0.5 * np.log(np.square(y) + self.scale**2)


def of_mean(mean, target_range):
    return Arcsinh(max(abs(mean), 1e-3))


@pytest.mark.usefixtures("scoped_registries")
def test_own_warp__is_made_chosen_and_comes_back_from_a_file():
    register_warp(Arcsinh, of_mean)
    made = make_warp("arcsinh", 2.0)
    assert made == Arcsinh(2.0)
    assert "arcsinh" in warp_names()
    assert "arcsinh" not in automatic_warps(has_range=True)
    assert warp_from_values(json.loads(json.dumps(warp_to_values(made)))) == made
    rows = prepare((np.arange(5.0), np.array([-3.0, 0.5, 4.0, 6.5, 2.0])))
    assert choose_warps(("arcsinh", "identity"), rows) == (Arcsinh(2.0), Identity())
    assert choose_warps("auto", rows) == (Identity(),)


@pytest.mark.usefixtures("scoped_registries")
def test_own_warp__may_be_automatic_and_may_need_a_range():
    @dataclass(frozen=True)
    class Odds(Logit):
        name = "odds"

    register_warp(Odds, lambda mean, ends: Odds(*ends), needs_range=True, is_automatic=True)
    assert "odds" in automatic_warps(has_range=True)
    assert "odds" not in automatic_warps(has_range=False)
    assert make_warp("odds", 0.0, (0, 2)) == Odds(0.0, 2.0)
    with pytest.raises(DataError, match="'odds' needs the ends of the target's range"):
        make_warp("odds", 0.0)


@pytest.mark.usefixtures("scoped_registries")
def test_own_warp__has_the_graph_that_it_was_registered_with():
    graph = WarpGraph(*[lambda warp, tensor: tensor] * 3)
    register_warp(Arcsinh, of_mean, graph=graph)
    assert graph_of(Arcsinh(3.0)) is graph
    assert graph_of(Log()) is None


@pytest.mark.usefixtures("scoped_registries")
def test_register_warp__refuses_names_that_are_taken_and_what_is_no_warp():
    class Nameless(Identity):
        name = ""

    @dataclass(frozen=True)
    class Wrong(Arcsinh):
        def log_slope(self, y):
            return np.zeros(np.shape(y))

    with pytest.raises(SettingsError, match="the warp 'log' exists already"):
        register_warp(Log)
    with pytest.raises(SettingsError, match="'' cannot name the warp Nameless"):
        register_warp(Nameless)
    with pytest.raises(SettingsError, match="gives a Log, not a Arcsinh"):
        register_warp(Arcsinh, lambda mean, ends: Log())
    with pytest.raises(SettingsError, match="'arcsinh' has another slope"):
        register_warp(Wrong, lambda mean, ends: Wrong(mean))
    assert "arcsinh" not in warp_names()
