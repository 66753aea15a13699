"""`vbks.fit(preset="paper")`: what it does and nothing else, the belief on the way, new rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.paper_selections import SETTINGS, SPACE, make_rows, select, watched_selection

import vbks
from vbks.errors import SettingsError
from vbks.inference import context as context_module
from vbks.inference.objectives import svgp as minibatch
from vbks.weights.forming import form_belief
from vbks.weights.settings import BeliefSettings


@pytest.fixture(scope="module")
def watched():
    return watched_selection()


def refuse(*arguments, **named):
    raise AssertionError("an exact or collapsed path was taken")


@pytest.mark.parametrize("posterior", ["auto", "full"])
def test_fit__takes_no_exact_or_collapsed_path(monkeypatch, posterior):
    for name in ("ExactEvidence", "CollapsedEvidence"):
        monkeypatch.setattr(context_module, name, refuse)
        monkeypatch.setattr(f"vbks.inference.objectives.evidence.{name}.__init__", refuse)
    for name in ("optimum", "fitted", "full_step"):
        monkeypatch.setattr(minibatch.FixedTheta, name, refuse)
    selection = select(settings=replace(SETTINGS, steps=20), posterior=posterior)
    assert selection.training_record == replace(
        selection.training_record,
        steps=20,
        batch_size=30,
        num_inducing=8,
        num_samples=2,
        stopped="",
    )
    expected = "point" if posterior == "auto" else "full"
    assert {(f.bound, f.posterior) for f in selection.fits} == {("stochastic", expected)}
    assert "20 steps of adam on minibatches of 30 of 90 rows" in " ".join(selection.notices)
    assert any("p(θ) is ours" in text for text in selection.notices) == (expected == "full")
    assert np.isfinite(selection.predict_y(np.linspace(0.0, 10.0, 5))).all()


def test_preset__has_the_authors_numbers(watched):
    selection, _ = watched
    own = vbks.PaperSettings()
    assert (own.steps, own.optimiser, own.rate) == (15_000, "adam", 1e-3)
    assert (own.belief_variance, own.averaging_variance, own.max_averaged) == (0.1, 0.5, 10)
    assert own.temperature_of(1280, 128) == 5.0
    assert own.value_batches_of(100, 10) == 100 and own.value_batches_of(128_000, 128) == 500
    belief = selection.belief_settings
    assert (belief.kind, belief.correction, belief.prior_variance) == ("vbks", "none", 0.1)
    assert belief.temperature == 0.5 * 90 / 30


def test_weights__are_those_of_another_variance(watched):
    selection, _ = watched
    wider = replace(selection.belief_settings, prior_variance=0.5, averaging_variance=None)
    expected = form_belief(selection.fits, replace(wider, max_averaged=None)).probabilities
    np.testing.assert_allclose(selection.weights, expected)
    assert np.abs(selection.weights - selection.probabilities).max() > 1e-3
    few = selection.with_belief(max_averaged=2)
    assert np.count_nonzero(few.weights) == 2 and np.count_nonzero(few.probabilities) == 3
    assert np.count_nonzero(selection.top(2).probabilities) == 2


def test_lines__pass_through_zero(watched):
    selection, _ = watched
    fit = selection.fit_of("PER + LIN")
    assert len(fit.fixed) == 1 and fit.theta[fit.fixed[0]] == 0.0


def test_inducing_inputs__are_half_even_and_half_in_a_row(watched):
    selection, _ = watched
    x = selection.units.standardise_inputs(np.unique(make_rows()[0])[:, np.newaxis])[:, 0]
    ranks = np.searchsorted(x, selection.fits[0].inducing[:, 0] - 1e-9)
    assert len(ranks) == 8 and {36, 37, 38, 39, 0, 89} <= set(ranks)


def test_callback__sees_the_belief(watched):
    selection, records = watched
    assert [record.step for record in records] == [40, 80, 120]
    last = records[-1]
    assert last.expressions == SPACE and last.share == 1.0
    np.testing.assert_allclose(last.elbos, [fit.elbo for fit in selection.fits])
    np.testing.assert_allclose(last.probabilities, selection.probabilities)
    assert last.kernel_belief.factor.shape == (3, 3)
    assert last.best == str(selection.best.expression)
    assert records[0].elbos.max() < last.elbos.max()
    assert selection.belief_history == records


def test_trace__is_the_history():
    selection = select(space=SPACE[:2], trace=4)
    assert [record.step for record in selection.belief_history] == [30, 60, 90, 120]
    ax = selection.plot_trace()
    assert ax.get_xlabel() == "steps"
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [30, 60, 90, 120])


@pytest.mark.parametrize("posterior", ["point", "full"])
def test_model__is_the_member_of_the_average(posterior):
    selection = select(space=("SE",), posterior=posterior)
    fit = selection.fits[0]
    narrow = replace(fit, modes=(replace(fit.modes[0], factor=1e-7 * fit.modes[0].factor),))
    selection = replace(selection, fits=(narrow,))
    X = np.linspace(-1.0, 12.0, 7)
    units = selection.units
    model = selection.model("SE")
    mean, variance = model.predict_y(units.standardise_inputs(X[:, np.newaxis]))
    mean, variance = units.restore_moments(mean.numpy()[:, 0], variance.numpy()[:, 0])
    found = selection.predict_y(X)
    np.testing.assert_allclose(found[0], mean, rtol=1e-5)
    np.testing.assert_allclose(found[1], variance, rtol=1e-5)


def test_save__keeps_training(watched, tmp_path):
    selection, _ = watched
    selection.save(tmp_path / "kept")
    again = vbks.load(tmp_path / "kept")
    assert (
        again.training.settings == SETTINGS and again.training_record == selection.training_record
    )
    np.testing.assert_array_equal(again.weights, selection.weights)
    np.testing.assert_array_equal(again.probabilities, selection.probabilities)
    for one, other in zip(again.belief_history, selection.belief_history, strict=True):
        assert (one.step, one.seconds, one.expressions) == (
            other.step, other.seconds, other.expressions,
        )  # fmt: skip
        np.testing.assert_array_equal(one.elbos, other.elbos)
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
    X = np.linspace(0.0, 12.0, 5)
    np.testing.assert_allclose(again.predict_y(X), selection.predict_y(X))
    X, y = make_rows()
    moved, expected = (own.update(X[:20], y[:20]) for own in (again, selection))
    np.testing.assert_allclose([f.elbo for f in moved.fits], [f.elbo for f in expected.fits])


def test_checkpoint__goes_on(watched, tmp_path, monkeypatch):
    selection, _ = watched

    class Interrupted(Exception):
        pass

    def interrupt(record):
        if record.step == 80:
            raise Interrupted

    with pytest.raises(Interrupted):
        select(callback=interrupt, checkpoint=tmp_path / "kept")
    taken = []
    own = vbks.inference.paper.group.Group.take
    monkeypatch.setattr(
        vbks.inference.paper.group.Group,
        "take",
        lambda self, num, batches: (taken.append(num), own(self, num, batches)),
    )
    again = select(callback=lambda record: None, checkpoint=tmp_path / "kept")
    assert sum(taken) == 40
    for one, other in zip(again.fits, selection.fits, strict=True):
        np.testing.assert_allclose(one.elbo, other.elbo, rtol=1e-9)


def test_several_inputs__share_a_lengthscale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=60)
    selection = select(space=("SE", "SE + LIN"), rows=(X, y))
    assert len(selection.fit_of("SE").theta) == 3
    assert len(selection.fit_of("SE + LIN").fixed) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"method": "cks"}, "goes with method vbks"),
        ({"inference": "exact"}, "goes with inference stochastic"),
        ({"posterior": "laplace"}, "goes with posterior point, full or diagonal"),
        ({"likelihood": "student_t"}, "goes with likelihood gaussian"),
        ({"warps": ("log",)}, "goes with warps identity"),
        ({"belief": "bayes"}, "goes with belief of its own"),
        ({"batch_size": 90}, "batch_size is 90, but there are 90 rows"),
        ({"settings": None, "callback": print}, "a callback goes with preset='paper'"),
    ],
)
def test_fit__refuses_what_the_paper_does_not_have(more, message):
    with pytest.raises(SettingsError, match=message):
        select(**more)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps is 0, expected a whole number from 1 on"),
        ({"optimiser": "lbfgs"}, "optimiser is 'lbfgs', expected one of adam, sga"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0, expected a number above 0"),
        ({"theta_prior": "skc"}, "theta_prior is 'skc'"),
    ],
)
def test_settings__are_checked(settings, message):
    with pytest.raises(SettingsError, match=message):
        vbks.PaperSettings(**settings)


def test_averaging_settings__are_checked():
    with pytest.raises(SettingsError, match="max_averaged is 0"):
        BeliefSettings("vbks", max_averaged=0)
