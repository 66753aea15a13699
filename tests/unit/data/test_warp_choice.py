import numpy as np
import pytest

from vbks.data.training import prepare
from vbks.data.warp_choice import choose_warps
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit
from vbks.errors import DataError

Y = np.array([0.2, 0.9, 0.4, 0.3, 0.7, 0.5])
SOFTPLUS = InverseSoftplus(0.5)


def data(y=Y, **settings):
    return prepare((np.arange(len(y)), y), **settings)


@pytest.mark.parametrize(
    ("y", "bounds", "expected"),
    [
        (Y, None, [Identity(), Log(), SOFTPLUS]),
        (Y, (0, 1), [Identity(), Log(), SOFTPLUS, Logit(0, 1)]),
        (Y, (0, 0.9), [Identity(), Log(), SOFTPLUS]),
        (Y - 0.2, None, [Identity()]),
        (Y - 0.5, (-1, 1), [Identity(), Logit(-1, 1)]),
    ],
)
@pytest.mark.parametrize("standardise", [True, False])
def test_auto__takes_all_that_the_targets_allow(y, bounds, expected, standardise):
    found = choose_warps("auto", data(y, standardise_targets=standardise), bounds)
    assert [warp.name for warp in found] == [warp.name for warp in expected]
    for one, other in zip(found, expected, strict=True):
        assert vars(one) == pytest.approx(vars(other), rel=1e-12)


@pytest.mark.parametrize("step", [1e-15, 1e-4, 1e-2])
def test_auto__leaves_out_warps_that_hardly_bend(step):
    """So far from 0, warps are straight lines, of which the logarithm may lose all digits."""
    far = data(1e12 * (1 + step * np.arange(1, 8)))
    assert [warp.name for warp in choose_warps("auto", far)] == ["identity"]


def test_auto__takes_warps_that_bend():
    near = data(1 + 0.2 * np.arange(1, 8))
    assert [warp.name for warp in choose_warps("auto", near)] == ["identity", "log", "softplus"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["log"], ["log"]),
        ("log", ["log"]),
        (("softplus", "identity", "softplus"), ["softplus", "identity"]),
        (iter(["logit", "log"]), ["logit", "log"]),
    ],
)
def test_names__are_taken_once_each_in_their_order(wanted, expected):
    assert [warp.name for warp in choose_warps(wanted, data(), (0, 1))] == expected


@pytest.mark.parametrize(
    ("wanted", "bounds", "message"),
    [
        ([], None, "there are no warps to compare. Give 'auto' or some of identity, log, softplus"),
        (["log", "sqrt"], None, "unknown warp 'sqrt'. Known: identity, log, logit, softplus"),
        ("all", None, "unknown warp 'all'"),
        (None, None, "unknown warp None"),
        ([["log"]], None, r"unknown warp \['log'\]"),
        (["logit"], None, "'logit' needs the ends of the target's range"),
        (["logit"], (1, 0), "expected two numbers, the lower one first"),
        ("auto", (1, 0), "expected two numbers, the lower one first"),
        (["logit"], (0, 0.8), "'logit' needs targets between 0 and 0.8, but .* is 0.9 in row 2"),
    ],
)
def test_other_wishes__are_refused(wanted, bounds, message):
    with pytest.raises(DataError, match=message):
        choose_warps(wanted, data(), bounds)


@pytest.mark.parametrize("name", ["log", "softplus"])
@pytest.mark.parametrize("y", [Y - 0.3, -Y])
def test_names_that_the_targets_do_not_allow__are_refused_with_the_row(name, y, monkeypatch):
    monkeypatch.setattr("vbks.data.training.REVIEWED_ROWS", 2)
    row = np.flatnonzero(y <= 0)[0]
    message = f"'{name}' needs targets above 0, but the target is {y[row]} in row {row + 1}. Leave"
    with pytest.raises(DataError, match=message):
        choose_warps(["identity", name], data(y))
