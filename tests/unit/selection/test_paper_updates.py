from __future__ import annotations

from dataclasses import replace

import gpflow
import numpy as np
import pytest
from support.paper_selections import make_rows, select, watched_selection

import vbks
from vbks.search.paper import TrainingRecord
from vbks.selection.paper_updates import OURS, notices


@pytest.fixture(scope="module")
def watched():
    return watched_selection()


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


RECORD = TrainingRecord(
    steps=1500, batch_size=30, num_inducing=8, num_samples=2, sample_inducing=True,
    optimiser="adam", learning_rate=0.01, posterior="full", value_batches=100, num_rows=12345,
)  # fmt: skip


def test_notices__tell_how_candidates_were_trained():
    assert notices(RECORD) == [
        "Trained as in the VBKS paper: 1,500 steps of adam on minibatches of 30 of 12,345 rows, "
        "8 inducing points with u sampled, θ with a full covariance and 2 samples in each step.",
        OURS,
    ]
    point = replace(RECORD, posterior="point", sample_inducing=False, stopped="it was enough.")
    trained, ended = notices(point)
    assert trained.endswith("u integrated out, θ as a point.")
    assert ended == "Training ended early: it was enough."


def test_update__keeps_candidates_that_failed(watched):
    selection, _ = watched
    failed = replace(selection.fits[1], status="failed", reason="of old", modes=())
    selection = replace(selection, fits=(selection.fits[0], failed))
    moved = selection.update(*make_rows(60))
    assert [fit.status for fit in moved.fits] == ["fitted", "failed"]
    assert moved.fits[1] is failed
    assert moved.belief_history == selection.belief_history
