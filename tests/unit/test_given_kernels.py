"""GPflow kernels in the space: what they fix stays, what they do not is a start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gpflow
import numpy as np
import pytest
from gpflow.kernels import Cosine, Kernel, Linear, Periodic, SquaredExponential, White
from support import rows

import vbks
from vbks.arrays import Array
from vbks.errors import FileError, GrammarError, SettingsError
from vbks.inference import moves
from vbks.inference.evaluator import fit_candidates
from vbks.inference.result import LocalFit
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.kernels.given import GivenValues
from vbks.kernels.layout import lay_out
from vbks.policies import Policies
from vbks.selection.selection import Selection

TRUE_PERIOD = 18.8

pytestmark = pytest.mark.usefixtures("scoped_registries")


def make_rows(num: int = 60, seed: int = 0) -> tuple[Array, Array]:
    return rows.make_rows(
        num,
        seed,
        signal=lambda x: 50.0 + 9.0 * np.sin(2 * np.pi * x / TRUE_PERIOD),
        ends=(100.0, 200.0),
        noise=1.0,
        is_even=False,
    )


def week() -> Kernel:
    """A wave whose period is known."""
    kernel = Periodic(SquaredExponential(), period=7.0)
    gpflow.set_trainable(kernel.period, False)
    return kernel


def value_of(selection: Selection, fit: LocalFit, name: str) -> float:
    """A length along the first input, in the user's units."""
    names = lay_out(fit.expression, fit.num_inputs, fit.ard).names
    return float(np.exp(fit.theta[names.index(name)]) * selection.units.x_scale[0])


def fit(space: Any, **settings: Any) -> Selection:
    usual = {"restarts": 2, "progress": False}
    return vbks.fit(*settings.pop("rows", make_rows()), space=space, **usual | settings)


@pytest.mark.parametrize("posterior", ["laplace", "full", "diagonal", "point"])
@pytest.mark.parametrize("inference", ["exact", "collapsed"])
def test_fit__holds_what_is_fixed(inference: str, posterior: str) -> None:
    selection = fit([week(), "SE"], inference=inference, posterior=posterior)
    (wave,) = (f for f in selection.fits if str(f.expression) == "PER")
    names = lay_out("PER").names
    assert wave.status == "fitted", wave.reason
    assert wave.fixed == (names.index(".period"),)
    assert wave.num_free == 3
    assert value_of(selection, wave, ".period") == pytest.approx(7.0, rel=1e-12)
    for mode in wave.modes:
        assert mode.mean[wave.fixed[0]] == wave.theta[wave.fixed[0]]
        assert not mode.factor[wave.fixed[0]].any()
        assert not mode.factor[:, wave.fixed[0]].any()
        assert np.isfinite([mode.log_likelihood, mode.log_prior, mode.log_volume]).all()


@pytest.mark.parametrize("posterior", ["laplace", "full"])
def test_fit__holds_what_is_fixed_with_minibatches(posterior: str) -> None:
    rows = make_rows(3000)
    selection = fit(
        [week()], rows=rows, inference="stochastic", posterior=posterior, num_inducing=80
    )
    (wave,) = selection.fits
    assert wave.status == "fitted", wave.reason
    assert value_of(selection, wave, ".period") == pytest.approx(7.0, rel=1e-12)
    assert not wave.modes[0].factor[wave.fixed[0]].any()
    free = fit(
        ["PER"], rows=rows, inference="stochastic", posterior=posterior, num_inducing=80
    ).fits[0]
    assert free.num_free == wave.num_free + 1
    assert value_of(selection, free, ".period") == pytest.approx(TRUE_PERIOD, rel=0.05)


def test_fit__holds_what_is_fixed_in_plain_ascent() -> None:
    expression, layout = vbks.parse("PER"), lay_out("PER")
    slot = layout.names.index(".period")
    theta = layout.prior_mean
    (wave,) = fit_candidates(
        [expression],
        make_rows(500),
        inference="stochastic",
        ascent="plain",
        posterior="full",
        num_inducing=20,
        given={expression: GivenValues(tuple(theta), (slot,))},
        policies=Policies(svgp=SvgpPolicy(plain_steps=20)),
    )
    assert wave.theta[slot] == theta[slot]
    assert not wave.modes[0].factor[slot].any()


def test_fit__has_the_likelihood_of_the_kernel_that_was_given() -> None:
    """Everything is fixed, so that GPflow knows what the likelihood must be."""
    x, y = make_rows()
    kernel = SquaredExponential(80.0, 4.0) * Linear(0.01) + week() + White(1.5)
    gpflow.set_trainable(kernel, False)
    selection = fit([kernel], rows=(x, y))
    (found,) = selection.fits
    assert found.num_free == 0
    assert len(found.fixed) == len(found.theta)
    scale = selection.units.y_scale
    model = gpflow.models.GPR(
        (x[:, np.newaxis], (y - selection.units.y_mean)[:, np.newaxis]), kernel, noise_variance=1e-5
    )
    expected = float(model.log_marginal_likelihood()) + len(y) * np.log(scale)
    assert found.modes[0].log_likelihood == pytest.approx(expected, abs=1e-2)
    assert found.log_evidence() == pytest.approx(expected, abs=1e-2)
    assert not selection.model().trainable_parameters


def test_fit__starts_from_values_that_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only start is in an optimum, or beside half of it, that data would not suggest."""
    theirs = Periodic(SquaredExponential(80.0, lengthscales=0.5), period=11.0)
    moved = fit([theirs], restarts=1, posterior="laplace")
    assert value_of(moved, moved.best, ".period") == pytest.approx(TRUE_PERIOD, rel=0.05)
    monkeypatch.setattr(moves, "MOVES", ())
    selection = fit([theirs], restarts=1, posterior="laplace")
    assert not selection.best.fixed
    assert selection.best.restarts == 1
    turns = 11.0 / value_of(selection, selection.best, ".period")
    assert turns == pytest.approx(1.0, rel=0.1) or turns == pytest.approx(2.0, rel=0.1)
    free = fit(["PER"], restarts=1, posterior="laplace", warps=("identity",))
    assert value_of(free, free.best, ".period") == pytest.approx(TRUE_PERIOD, rel=0.05)


def test_fit__keeps_the_order_of_a_mixed_space_and_says_that_warps_are_left_out() -> None:
    selection = fit(["SE", week(), vbks.parse("LIN")], prune=False)
    assert [str(f.expression) for f in selection.fits] == ["SE", "PER", "LIN"]
    assert any("so no warp was tried" in notice for notice in selection.notices)
    assert {f.warp.name for f in selection.fits} == {"identity"}


def test_fit__takes_values_about_warped_targets_where_one_warp_is_asked_for() -> None:
    selection = fit([week()], warps=("log",))
    assert selection.best.warp.name == "log"
    assert value_of(selection, selection.best, ".period") == pytest.approx(7.0)
    with pytest.raises(SettingsError, match="go with one warp"):
        fit([week()], warps=("identity", "log"))


@pytest.mark.parametrize("method", ["random", "bo"])
def test_fit__holds_what_is_fixed_in_other_searches(method: str) -> None:
    selection = fit([week(), "SE"], method=method, budget=vbks.Budget(candidates=2))
    assert value_of(selection, selection.fit_of("PER"), ".period") == pytest.approx(7.0)


def test_fit__refuses_a_structure_with_two_sets_of_values() -> None:
    with pytest.raises(GrammarError, match="more than once in the space"):
        fit([week(), "PER"])
    with pytest.raises(GrammarError, match="more than once in the space"):
        fit([week() + SquaredExponential(), "SE + PER"])
    with pytest.raises(GrammarError, match=r"Write space=\[kernel\]"):
        fit(week())


def test_fit__holds_what_an_opaque_kernel_fixes_in_the_users_units() -> None:
    x, y = make_rows()
    kernel = Cosine(variance=40.0, lengthscales=TRUE_PERIOD)
    gpflow.set_trainable(kernel.lengthscales, False)
    selection = fit([kernel, "SE"], rows=(x, y))
    wave = selection.fit_of("Cosine")
    assert selection.best is wave
    inner = selection.model("Cosine").kernel.kernel.kernel
    assert inner.lengthscales.numpy() == TRUE_PERIOD
    assert not inner.lengthscales.trainable
    mean, _ = selection.predict_y(x)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 1.3
    with pytest.raises(FileError, match="only this program knows"):
        selection.save("nowhere")


def test_fit__learns_what_an_opaque_kernel_leaves_free() -> None:
    selection = fit([Cosine(variance=40.0, lengthscales=17.0)], restarts=1)
    inner = selection.model().kernel.kernel.kernel
    assert inner.lengthscales.numpy() == pytest.approx(TRUE_PERIOD, rel=0.05)


def test_update_and_load__go_on_holding(tmp_path: Path) -> None:
    x, y = make_rows()
    selection = fit([week(), "SE"], rows=(x[:40], y[:40]))
    selection.save(tmp_path / "saved")
    loaded = vbks.load(tmp_path / "saved")
    assert loaded.fit_of("PER").fixed == selection.fit_of("PER").fixed
    later = loaded.update(x[40:], y[40:])
    assert later.fit_of("PER").theta[3] == selection.fit_of("PER").theta[3]
    model = later.model("PER")
    assert not model.kernel.period.trainable
    assert model.kernel.base_kernel.lengthscales.trainable


def test_checkpoint__is_of_the_values_that_were_given(tmp_path: Path) -> None:
    first = fit([week()], checkpoint=tmp_path / "kept")
    again = fit([week()], checkpoint=tmp_path / "kept")
    np.testing.assert_array_equal(first.best.theta, again.best.theta)
    assert again.best.fixed == first.best.fixed
    other = week()
    other.period.assign(8.0)
    with pytest.raises(FileError, match="work of another call: given was"):
        fit([other], checkpoint=tmp_path / "kept")


def test_fit__converts_numbers_of_each_input() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 1000, 50), rng.uniform(5, 6, 50)])
    y = 100 * np.sin(X[:, 0] / 100) + 30 * X[:, 1] + rng.normal(size=50)
    kernel = SquaredExponential(5000.0, lengthscales=200.0) + Linear(3.0)
    gpflow.set_trainable(kernel, False)
    selection = fit([kernel], rows=(X, y))
    assert str(selection.best.expression) == "SE + LIN[1] + LIN[2]"
    assert selection.best.num_free == 1
    inputs = rng.uniform(0, 5, (4, 2))
    standard = selection.units.standardise_inputs(inputs)
    found = selection.model().kernel(standard).numpy() * selection.units.y_scale**2
    np.testing.assert_allclose(found, kernel(inputs).numpy(), rtol=1e-9)
    with pytest.raises(GrammarError, match="numbers for each input"):
        fit([kernel], rows=(X, y), preset="paper")
