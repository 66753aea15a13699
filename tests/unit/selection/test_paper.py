"""`vbks.fit(preset="paper")`: what it does and nothing else, the belief on the way, new rows."""

from __future__ import annotations

from dataclasses import replace

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from support import rows

import vbks
from vbks.errors import SettingsError, StopTraining, VbksError
from vbks.inference import context as comparisons
from vbks.inference.objectives import svgp as minibatch
from vbks.integrations.tensorboard import TensorBoard
from vbks.weights.forming import form_belief
from vbks.weights.settings import BeliefSettings

SPACE = ("SE", "PER + LIN", "RQ * LIN")
SETTINGS = vbks.PaperSettings(
    steps=120, every=40, num_samples=2, value_samples=4, learning_rate=0.01
)


def make_rows(num=90):
    return rows.make_rows(
        num, 1, signal=lambda x: 5.0 + np.sin(2.0 * x) + 0.3 * x, noise=0.2, is_even=False
    )


def select(space=SPACE, settings=SETTINGS, rows=None, **more):
    given = {"num_inducing": 8, "batch_size": 30, "progress": False, **more}
    return vbks.fit(*(rows or make_rows()), space=space, preset=settings, **given)


@pytest.fixture(scope="module")
def watched():
    """A selection and the records that a callback was given."""
    records = []
    return select(callback=records.append), records


def refuse(*arguments, **named):
    raise AssertionError("an exact or collapsed path was taken")


@pytest.mark.parametrize("posterior", ["auto", "full"])
def test_fit__takes_no_exact_or_collapsed_path(monkeypatch, posterior):
    for name in ("ExactEvidence", "CollapsedEvidence"):
        monkeypatch.setattr(comparisons, name, refuse)
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
    assert selection.belief_history == tuple(records)


def test_callback__does_not_change_the_fit(watched):
    selection, _ = watched
    alone = select()
    for one, other in zip(selection.fits, alone.fits, strict=True):
        np.testing.assert_allclose(one.elbo, other.elbo, rtol=1e-9)
    assert alone.belief_history == ()


@pytest.mark.parametrize("how", ["returns", "raises"])
def test_callback__stops_training(how):
    def stop(record):
        if how == "raises":
            raise StopTraining("good enough")
        return True

    selection = select(space=SPACE[:1], callback=stop)
    assert selection.training_record.steps == 40
    expected = "good enough" if how == "raises" else "the callback has stopped it"
    assert selection.training_record.stopped == expected
    assert f"Training ended early: {expected}." in selection.notices


def test_budget__ends_training():
    selection = select(space=SPACE[:1], settings=replace(SETTINGS, steps=10**6), budget=0.1)
    assert selection.training_record.steps == 40
    assert "budget" in selection.training_record.stopped


def test_trace__is_the_history():
    selection = select(space=SPACE[:2], trace=4)
    assert [record.step for record in selection.belief_history] == [30, 60, 90, 120]
    ax = selection.plot_trace()
    assert ax.get_xlabel() == "steps"
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [30, 60, 90, 120])


def test_tensorboard__is_named_if_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("vbks.integrations.tensorboard.find_spec", lambda name: None)
    with pytest.raises(VbksError, match="pip install tensorboard"):
        TensorBoard(tmp_path)


def test_tensorboard__has_elbos_and_probabilities(tmp_path, monkeypatch):
    found = {}

    def keep(name, value, step):
        found[name, int(step)] = value

    monkeypatch.setattr(tf.summary, "scalar", keep)
    monkeypatch.setattr("vbks.integrations.tensorboard.find_spec", lambda name: name)
    selection = select(space=SPACE[:2], callback=TensorBoard(tmp_path))
    assert len(found) == 2 * 2 * 3
    np.testing.assert_allclose(found["elbo/SE", 120], selection.fits[0].elbo, rtol=1e-6)
    np.testing.assert_allclose(found["belief/SE", 120], selection.probabilities[0], rtol=1e-6)


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


def test_restarts__keep_the_best():
    one, three = (select(space=("PER",), restarts=num) for num in (1, 3))
    assert len(three.fits) == 1
    assert three.fits[0].elbo > one.fits[0].elbo - 1e-3


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


def test_update__does_not_look_at_earlier_rows(watched, monkeypatch):
    selection, _ = watched
    rng = np.random.default_rng(5)
    x = rng.uniform(0.0, 10.0, 40)
    y = 5.0 + np.sin(2.0 * x) + 0.3 * x
    ((warp, rows),) = selection.data.items()
    blind = replace(selection, data={warp: replace(rows, source=_Hidden(rows.source))})
    moved = blind.update(x, y)
    assert {fit.num_rows for fit in moved.fits} == {130}
    assert moved.num_rows == 130 and moved.training_record.num_rows == 130
    assert moved.belief_settings.temperature == 0.5 * 130 / 30
    for before, after in zip(selection.fits, moved.fits, strict=True):
        np.testing.assert_array_equal(before.theta, after.theta)


class _Hidden:
    """Rows of which only the numbers are known."""

    def __init__(self, source):
        self.num_rows, self.num_inputs = source.num_rows, source.num_inputs


def test_update__agrees_with_all_rows_at_once():
    rng = np.random.default_rng(0)
    x = np.tile(np.arange(8.0), 15)
    y = np.sin(x) + 0.3 * rng.normal(size=120)
    kernel = gpflow.kernels.SquaredExponential(1.0) + gpflow.kernels.White(0.1)
    gpflow.set_trainable(kernel, False)
    settings = vbks.PaperSettings(steps=1200, learning_rate=0.003, sample_inducing=False)
    selection = select(space=(kernel,), settings=settings, rows=(x[:80], y[:80]), batch_size=40)
    selection = selection.update(x[80:], y[80:])
    units, fit = selection.units, selection.fits[0]
    X, targets = selection.data[fit.warp].arrays()
    model = selection.model()
    together = gpflow.models.SGPR(
        (X, targets[:, np.newaxis]),
        model.kernel,
        fit.inducing,
        noise_variance=float(np.exp(fit.theta[0])),
    )
    Xnew = units.standardise_inputs(np.linspace(0.0, 10.0, 20)[:, np.newaxis])
    for found, expected in zip(model.predict_f(Xnew), together.predict_f(Xnew), strict=True):
        np.testing.assert_allclose(found, expected, atol=0.02)
    np.testing.assert_allclose(fit.elbo, together.elbo(), atol=1.0)


def test_update__learns_theta_that_has_a_width():
    x, y = make_rows()
    selection = select(space=("SE + LIN",), posterior="full")
    moved = selection.update(x[::3], y[::3])
    before, after = selection.fits[0], moved.fits[0]
    assert after.status == "fitted" and np.isfinite(after.elbo)
    steps = np.abs(after.theta - before.theta)
    assert np.all(steps[list(before.fixed)] == 0.0) and steps.max() > 0.0
    assert np.count_nonzero(np.diag(after.modes[0].factor)) == len(steps) - len(before.fixed)
    assert np.isfinite(moved.predict_y(x)).all()


def test_averaging_settings__are_checked():
    with pytest.raises(SettingsError, match="max_averaged is 0"):
        BeliefSettings("vbks", max_averaged=0)
