from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import gpflow
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from support import rows

from vbks import K144
from vbks.arrays import Array
from vbks.data.training import prepare
from vbks.errors import DataError, GrammarError, SettingsError
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference import finalise, rungs
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.evaluator import fit_candidates
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.inference.result import LocalFit
from vbks.inference.screening import ScreeningPolicy
from vbks.inference.settings import FitSettings
from vbks.kernels.bank.bank import Bank
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.inheritance import Parent
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.progress import Quiet, lines

BOUNDS = ("exact", "collapsed", "stochastic")
EXPRESSIONS = ("SE", "LIN", "SE * PER")
ALWAYS = 10
"""Candidates that pruning always keeps."""
OVER_BOUNDS = pytest.mark.parametrize("bound", BOUNDS)

OPTIMUM = 1e-3
"""Nats within which two climbs to the same top end: they stop when a step promises less."""


make_rows = partial(
    rows.make_rows, signal=lambda x: np.sin(2 * x) + 0.3 * x / 10, noise=0.2, is_even=False
)


def fit(expressions: Sequence[Any], data: Any = None, **settings: Any) -> list[LocalFit]:
    """Cheap fits: points, from two starts."""
    usual: dict[str, Any] = {"inference": "exact", "posterior": "point", "restarts": 2}
    return fit_candidates(expressions, data or make_rows(), **usual | settings)


@cache
def fitted(bound: str, posterior: str = "point") -> list[LocalFit]:
    return fit(EXPRESSIONS, inference=bound, posterior=posterior)


def assert_same_fits(
    some: Sequence[LocalFit], others: Sequence[LocalFit], atol: float = 1e-6
) -> None:
    for one, other in zip(some, others, strict=True):
        assert (one.expression, one.status) == (other.expression, other.status)
        np.testing.assert_allclose(one.elbo, other.elbo, atol=atol)


class Recorder(Quiet):
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def start(self, num_candidates: int, what: str, num_stages: int = 1, measure: str = "") -> None:
        self.calls.append(("start", num_candidates, what))

    def stage(self, name: str, total: int) -> None:
        self.calls.append(("stage", name, total))

    def advance(self, amount: int = 1) -> None:
        self.calls.append(("advance", amount))

    def finished(self, expression: str, elbo: float, ok: bool = True) -> None:
        self.calls.append(("finished", expression, elbo, ok))

    def say(self, notice: str) -> None:
        self.calls.append(("say", notice))

    def stop(self) -> None:
        self.calls.append(("stop",))

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == kind]


class NotANumber(gpflow.kernels.Matern32):
    """A kernel that no start can be fitted from."""

    def K_r(self, r: tf.Tensor) -> tf.Tensor:
        return r * np.nan


# What comes back


@OVER_BOUNDS
def test_fits__come_in_the_order_of_the_expressions_with_what_is_known(bound: str) -> None:
    found = fitted(bound)
    assert [f.expression for f in found] == [parse(text) for text in EXPRESSIONS]
    for f in found:
        assert (f.status, f.reason, f.bound, f.posterior) == ("fitted", "", bound, "point")
        assert (f.num_rows, f.num_inputs, f.restarts, f.converged) == (40, 1, 2, True)
        assert f.num_free == num_free_parameters(f.expression)
        assert f.theta.shape == (len(lay_out(f.expression)),)
        assert np.isfinite([f.elbo, *f.theta]).all()
        assert f.seconds > 0
        assert (f.inducing is None) == (bound == "exact")
        assert (f.q_u is not None) == (bound == "stochastic")
        assert f.notices[-1] == f"{bound}: as asked for."


@OVER_BOUNDS
def test_fits__prefer_the_kernel_the_data_came_from(bound: str) -> None:
    elbos = {str(f.expression): f.elbo for f in fitted(bound)}
    assert elbos["SE * PER"] > elbos["SE"] > elbos["LIN"]


def test_texts_and_expressions__are_the_same() -> None:
    assert_same_fits(fit([parse(text) for text in EXPRESSIONS]), fitted("exact"), atol=0.0)


def test_posterior__is_full_by_default_and_a_point_where_fits_are_stochastic() -> None:
    (exact,) = fit(["SE"], posterior="auto")
    (stochastic,) = fit(["SE"], posterior="auto", inference="stochastic")
    assert (exact.posterior, stochastic.posterior) == ("full", "point")


@OVER_BOUNDS
@pytest.mark.parametrize("posterior", ["full", "diagonal"])
def test_posterior_of_theta__has_the_covariance_asked_for(bound: str, posterior: str) -> None:
    for f, point in zip(fitted(bound, posterior), fitted(bound), strict=True):
        for mode in f.modes:
            covariance = mode.factor @ mode.factor.T
            assert (np.linalg.eigvalsh(covariance) > 1e-9).all()
            off_diagonal = covariance - np.diag(np.diag(covariance))
            assert (np.abs(off_diagonal).max() == 0) == (posterior == "diagonal")
        assert f.log_evidence() == f.elbo < point.elbo
        assert 0 < f.standard_error < 2
        assert not point.modes[0].factor.any()
        assert np.isnan(point.modes[0].elbo)


@OVER_BOUNDS
def test_posterior_of_theta__is_the_same_alone_and_among_others(bound: str) -> None:
    (alone,) = fit(["LIN"], inference=bound, posterior="full")
    among = fitted(bound, "full")[1]
    np.testing.assert_allclose(among.theta, alone.theta, atol=1e-3)
    factors = alone.modes[0].factor, among.modes[0].factor
    covariances = [factor @ factor.T for factor in factors]
    np.testing.assert_allclose(*covariances, atol=1e-3)
    np.testing.assert_allclose(among.elbo, alone.elbo, atol=1e-3)


def test_bound_with_q_of_theta__is_near_laplace() -> None:
    for f, point in zip(fitted("exact", "full"), fitted("exact"), strict=True):
        # Below the evidence by KL(q‖p), while Laplace's error has either sign.
        assert -5 < f.elbo - point.log_evidence("laplace") < 1 + 3 * f.standard_error


# Equivalences


def test_exact__is_the_log_marginal_likelihood_of_gpr() -> None:
    data = prepare(make_rows())
    for f in fitted("exact"):
        model = gpflow_model(f, data)
        assert isinstance(model, gpflow.models.GPR)
        assert f.elbo == f.modes[0].log_likelihood
        np.testing.assert_allclose(f.elbo, model.log_marginal_likelihood(), atol=1e-8)


def test_collapsed__is_the_elbo_of_sgpr() -> None:
    data = prepare(make_rows())
    for f in fitted("collapsed"):
        model = gpflow_model(f, data)
        assert isinstance(model, gpflow.models.SGPR)
        np.testing.assert_allclose(f.elbo, model.elbo(), atol=1e-6)


def test_stochastic__is_the_elbo_of_svgp_on_all_rows() -> None:
    data = prepare(make_rows())
    X, y = data.arrays()
    for f in fitted("stochastic"):
        model = gpflow_model(f, data)
        assert isinstance(model, gpflow.models.SVGP)
        np.testing.assert_allclose(f.elbo, model.elbo((X, y[:, None])), atol=1e-6)


def test_all_rows_as_inducing_points__make_collapsed_fits_exact() -> None:
    X, y = prepare(make_rows()).arrays()
    sparse = fit(EXPRESSIONS, inference="collapsed", num_inducing=40, jitter=1e-9)
    for f, exact in zip(sparse, fitted("exact"), strict=True):
        here = ExactEvidence(X, y, 0.0)(Bank([f.expression]), f.theta[None, None]).numpy().item()
        np.testing.assert_allclose(f.elbo, here, atol=1e-3)
        np.testing.assert_allclose(f.elbo, exact.elbo, atol=1e-2)


def test_stochastic_on_all_rows__meets_the_collapsed_bound() -> None:
    for f, collapsed in zip(fitted("stochastic"), fitted("collapsed"), strict=True):
        np.testing.assert_array_equal(f.inducing, collapsed.inducing)
        np.testing.assert_allclose(f.elbo, collapsed.elbo, atol=0.1)


@pytest.mark.parametrize("bound", ["exact", "collapsed"])
def test_white_noise_in_the_outermost_sum__is_the_noise_of_the_likelihood(bound: str) -> None:
    plain, noisy = fit(["SE", "SE + WN"], inference=bound, restarts=4)
    assert plain.num_free == noisy.num_free
    np.testing.assert_allclose(noisy.elbo, plain.elbo, atol=5 * OPTIMUM)
    X, y = prepare(make_rows()).arrays()
    theta = np.stack([plain.theta, plain.theta])[:, None]
    values = ExactEvidence(X, y)(Bank(["SE", "SE + WN"]), theta).numpy()
    np.testing.assert_allclose(values[1], values[0], rtol=1e-12)


# The same work gives the same numbers


@OVER_BOUNDS
def test_seed__decides_everything(bound: str) -> None:
    assert_same_fits(fit(EXPRESSIONS, inference=bound), fitted(bound), atol=1e-12)


def test_another_seed__gives_the_same_optimum_of_an_easy_kernel() -> None:
    one, other = (fit(["SE"], seed=seed)[0] for seed in (0, 1))
    np.testing.assert_allclose(one.elbo, other.elbo, atol=OPTIMUM)


@OVER_BOUNDS
def test_order_of_candidates__does_not_matter(bound: str) -> None:
    turned = fit(EXPRESSIONS[::-1], inference=bound)
    assert_same_fits(turned[::-1], fitted(bound))


@OVER_BOUNDS
def test_candidate_alone__is_fitted_as_among_others(bound: str) -> None:
    (alone,) = fit(["LIN"], inference=bound)
    assert_same_fits([alone], fitted(bound)[1:2], atol=1e-4)


def test_candidate_given_twice__is_fitted_twice() -> None:
    one, other = fit(["LIN", "LIN"])
    assert one.elbo == other.elbo


# Pruning


@cache
def many(prune: bool) -> list[LocalFit]:
    X = np.linspace(0, 10, 50)
    y = np.sin(2 * np.pi * X) + 0.05 * np.random.default_rng(0).normal(size=50)
    return fit(K144[::10], (X, y), restarts=2, prune=prune)


def test_pruning__drops_those_far_behind_with_their_numbers_on_record() -> None:
    dropped = [f for f in many(True) if f.status == "dropped"]
    assert dropped
    assert sum(f.status == "fitted" for f in many(True)) >= ALWAYS
    for f in dropped:
        *before, last = f.pruning
        assert f.reason.endswith(f"nats behind the best after the {last.stage}")
        assert all(step.went_on for step in before)
        assert not last.went_on
        assert last.best > last.value == f.elbo
        assert f.theta.shape == (len(lay_out(f.expression)),)


def test_pruning__records_all_decisions_of_those_who_stay() -> None:
    fitted = [f for f in many(True) if f.status == "fitted"]
    first = ["first optimisation"] if len(fitted) > ALWAYS else []
    stages = ["first screening", "screening", *first, "optimisation"]
    for f in fitted:
        assert [step.stage for step in f.pruning] == stages
        assert all(step.went_on and step.best >= step.value for step in f.pruning)


def test_without_pruning__all_are_fitted_and_survivors_end_as_high() -> None:
    """Climbs that pause for a decision forget their curvature, so that steps differ."""
    assert all(f.status == "fitted" for f in many(False))
    for f, alone in zip(many(True), many(False), strict=True):
        if f.status == "fitted":
            assert f.elbo > alone.elbo - 0.1
    best = max(f.elbo for f in many(False))
    for f, alone in zip(many(True), many(False), strict=True):
        if f.status == "dropped":
            assert alone.elbo < best


# Failures


@pytest.mark.parametrize("stage", ["screening", "optimisation", "finalising"])
@pytest.mark.parametrize(
    "error",
    [tf.errors.ResourceExhaustedError(None, None, "out of memory\nallocating"), MemoryError("no")],
    ids=["OpError", "MemoryError"],
)
def test_candidate_that_breaks_a_stage__fails_alone(
    stage: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name = (finalise, "finalise") if stage == "finalising" else (rungs, "run_rung")
    work = getattr(module, name)

    def fragile(chunk: Sequence[Any], context: Any, **settings: Any) -> Any:
        is_it = not settings or settings["rung"].name == stage
        if is_it and any(c.expression == parse("LIN") for c in chunk):
            raise error
        return work(chunk, context, **settings)

    monkeypatch.setattr(module, name, fragile)
    se, lin, product = fit(EXPRESSIONS)
    message = str(error).splitlines()[0]
    assert (lin.status, lin.reason) == ("failed", f"{type(error).__name__}: {message}")
    assert lin.elbo == -np.inf
    with pytest.raises(DataError, match=r"'LIN' has no θ: failed, "):
        _ = lin.theta
    assert_same_fits([se, product], fitted("exact")[::2])


@pytest.mark.usefixtures("scoped_registries_of_module")
def test_kernel_that_is_not_a_number__fails_alone() -> None:
    broken = from_gpflow(NotANumber()).expression
    se, failed, lin, product = fit(["SE", broken, "LIN", "SE * PER"])
    assert failed.status == "failed"
    assert failed.reason.startswith("no covariance could be factorised at any of 2 starts, also")
    assert_same_fits([se, lin, product], fitted("exact"))


def test_candidate_that_is_lost_on_more_rows__fails_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FitContext, "is_small", False)
    optimise_from = rungs.optimise_from
    evaluations = ScreeningPolicy().second_screening_evaluations

    def lose(chunk: Any, starts: Any, *rest: Any) -> Any:
        found = optimise_from(chunk, starts, *rest)
        if rest[-1] != evaluations:
            return found
        return [
            replace(c, values=c.values[:0]) if c.expression == parse("LIN") else c for c in found
        ]

    monkeypatch.setattr(rungs, "optimise_from", lose)
    se, lin = fit(["SE", "LIN"], inference="stochastic")
    assert lin.status == "failed"
    assert lin.reason.startswith("no covariance could be factorised at any of 2 starts")
    assert se.status == "fitted"
    np.testing.assert_allclose(se.elbo, fitted("stochastic")[0].elbo, atol=0.5)


def test_own_mistakes__are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(chunk: Any, context: Any, **settings: Any) -> Any:
        raise TypeError("a mistake of ours")

    monkeypatch.setattr(rungs, "run_rung", wrong)
    with pytest.raises(TypeError, match="a mistake of ours"):
        fit(["SE"])


# Kinds of candidates


@pytest.mark.usefixtures("scoped_registries_of_module")
@pytest.mark.parametrize("bound", ["exact", "collapsed"])
def test_opaque_kernel__is_fitted_beside_others(bound: str) -> None:
    opaque = from_gpflow(gpflow.kernels.Exponential()).expression
    found, lin = fit([opaque, "LIN"], inference=bound, restarts=1)
    assert found.status == "fitted"
    assert found.elbo > lin.elbo
    model = gpflow_model(found, prepare(make_rows()))
    value = model.log_marginal_likelihood() if bound == "exact" else model.elbo()
    np.testing.assert_allclose(found.elbo, value, atol=1e-6)


def test_child__starts_from_its_parent() -> None:
    """A wave of three times the period fits as well, but only the parent leads there."""
    expression = parse("PER")
    layout = lay_out(expression)
    (free,) = fit([expression], restarts=1)
    place = layout.names.index(".period")
    theta = free.theta.copy()
    theta[place] += np.log(3)
    parent = Parent(layout, theta)
    (child,) = fit([expression], restarts=1, parents={expression: parent})
    np.testing.assert_allclose(child.theta[place] - free.theta[place], np.log(3), atol=0.05)


@OVER_BOUNDS
def test_earlier_fits__are_gone_on_from(bound: str) -> None:
    before = {f.expression: f for f in fitted(bound)}
    recorder = Recorder()
    inducing = next(iter(before.values())).inducing
    again = fit(EXPRESSIONS, inference=bound, earlier=before, inducing=inducing, progress=recorder)
    for f in again:
        assert f.elbo >= before[f.expression].elbo - 10 * OPTIMUM
        assert f.restarts == before[f.expression].restarts
    assert ("screening", 0) in recorder.of("stage")


def test_earlier_fit__on_other_rows_leads_to_the_same_optimum() -> None:
    X, y = make_rows()
    data = prepare((X, y))
    (part,) = fit(["SE * PER"], data.part(np.arange(0, 40, 2)))
    (whole,) = fit(["SE * PER"], data, earlier={part.expression: part})
    np.testing.assert_allclose(whole.elbo, fitted("exact")[2].elbo, atol=0.5)


def test_prior_of_skc__gives_other_points() -> None:
    (ours,), (theirs,) = fit(["SE * PER"]), fit(["SE * PER"], prior="skc")
    assert theirs.status == "fitted"
    assert np.isfinite(theirs.elbo)
    assert np.abs(ours.theta - theirs.theta).max() > 1e-2


def test_two_inputs__have_lengthscales_of_their_own_or_share_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    data = X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=40)
    (own,), (shared,) = (fit(["SE"], data, ard=ard) for ard in (True, False))
    assert (len(own.theta), len(shared.theta)) == (own.num_free, shared.num_free) == (4, 3)
    assert own.elbo > shared.elbo
    assert own.theta[3] > own.theta[2] + 1


# Likelihoods


def draw_targets(likelihood: str) -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(0, 10, 60))
    f = 1.5 * np.sin(X)
    share = 1 / (1 + np.exp(-f))
    match likelihood:
        case "bernoulli":
            return X, (rng.uniform(size=60) < share).astype(float)
        case "poisson":
            return X, rng.poisson(np.exp(f)).astype(float)
        case "student_t":
            return X, f + 0.2 * rng.standard_t(3, size=60)
        case "gamma":
            return X, rng.gamma(2.0, np.exp(f))
    return X, np.clip(rng.beta(8 * share, 8 * (1 - share)), 1e-3, 1 - 1e-3)


@pytest.mark.parametrize("likelihood", ["bernoulli", "poisson", "student_t", "gamma", "beta"])
def test_likelihood__is_fitted_and_tells_a_wave_from_a_constant(likelihood: str) -> None:
    wave, constant = fit(
        ["SE", "C"], draw_targets(likelihood), likelihood=likelihood, inference="auto", restarts=1
    )
    assert (wave.bound, wave.status, constant.status) == ("stochastic", "fitted", "fitted")
    assert wave.notices[-1] == "stochastic: the noise is not Gaussian."
    assert wave.converged
    assert wave.elbo > constant.elbo + 3


def test_white_noise__does_not_go_with_other_likelihoods() -> None:
    (failed,) = fit(["SE + WN"], draw_targets("poisson"), likelihood="poisson", inference="auto")
    reason = "white noise is Gaussian, which does not go with Poisson."
    assert (failed.status, failed.reason) == ("failed", reason)


@pytest.mark.parametrize("bound", ["exact", "collapsed"])
def test_other_noise__needs_stochastic_fits(bound: str) -> None:
    message = f"{bound} inference needs Gaussian noise. Use inference='stochastic' or 'auto'"
    with pytest.raises(DataError, match=message):
        fit(["SE"], draw_targets("poisson"), likelihood="poisson", inference=bound)


def test_targets_that_the_likelihood_cannot_have_drawn__are_refused() -> None:
    with pytest.raises(DataError, match="Poisson takes whole numbers from 0 on"):
        fit(["SE"], likelihood="poisson", inference="stochastic")


# Progress


def test_progress__is_told_of_every_stage_and_candidate() -> None:
    progress = Recorder()
    found = fit(EXPRESSIONS, inference="collapsed", num_inducing=50, progress=progress)
    assert progress.calls[0] == (
        "start",
        3,
        "3 candidates, 40 rows, collapsed with 40 inducing points",
    )
    assert progress.calls[-1] == ("stop",)
    assert progress.of("say") == [(notice,) for notice in found[0].notices]
    assert progress.of("stage") == [
        ("screening", 3),
        ("optimisation", 3),
        ("finalising", 3),
    ]
    assert sum(amount for (amount,) in progress.of("advance")) == 9
    assert sorted(progress.of("finished")) == sorted(
        (str(f.expression), f.log_evidence(), True) for f in found
    )


@pytest.mark.usefixtures("scoped_registries_of_module")
def test_progress__is_told_of_failures_and_stopped_by_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress = Recorder()
    fit(["LIN", from_gpflow(NotANumber()).expression], progress=progress)
    assert [(name, ok) for name, _, ok in progress.of("finished")] == [
        ("NotANumber", False),
        ("LIN", True),
    ]
    monkeypatch.setattr(rungs, "run_rung", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fit(["LIN"], progress=(broken := Recorder()))
    assert broken.calls[-1] == ("stop",)


def test_progress__prints_nothing_of_short_work_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "WAITS", (np.inf,))
    fit(["LIN"], progress=True)
    assert capsys.readouterr() == ("", "")


# Memory


def test_exact_fit_beyond_the_memory__is_refused_before_any_work(no_work: None) -> None:
    data = np.arange(900), np.arange(900) % 7
    message = "exact inference with 900 rows does not fit into 0.1 GB. Use inference='stochastic'"
    with pytest.raises(DataError, match=message):
        fit(["SE"], data, memory_limit=64 * 2**20)


def test_little_memory__makes_chunks_smaller_and_changes_nothing() -> None:
    settings: dict[str, Any] = {"inference": "stochastic", "num_inducing": 40, "batch_size": 9000}
    small, _ = make_context(make_rows(), 3, FitSettings(**settings, memory_limit=64 * 2**20))
    large, _ = make_context(make_rows(), 3, FitSettings(**settings, memory_limit=2**33))
    assert small.chunk_size == 1
    assert large.chunk_size >= 3
    one = fit(["SE", "LIN"], **settings, memory_limit=64 * 2**20)
    assert_same_fits(one, fit(["SE", "LIN"], **settings, memory_limit=2**33))


# Data of any kind


def elbo(data: Any, **settings: Any) -> float:
    (found,) = fit(["SE"], data, restarts=1, **settings)
    return found.elbo


@pytest.mark.parametrize(
    "give",
    [
        lambda X, y: (X[:, None], y[:, None]),
        lambda X, y: [X.tolist(), y.tolist()],
        lambda X, y: (pd.DataFrame({"time": X}), pd.Series(y, name="load")),
        lambda X, y: prepare((X, y)),
    ],
    ids=["columns", "lists", "pandas", "TrainingData"],
)
def test_data__may_be_of_any_kind(give: Any) -> None:
    X, y = make_rows()
    np.testing.assert_allclose(elbo(give(X, y)), elbo((X, y)), atol=1e-9)


def test_data__of_single_precision_loses_its_digits_alone() -> None:
    X, y = make_rows()
    single = X.astype(np.float32), y.astype(np.float32)
    np.testing.assert_allclose(elbo(single), elbo((X, y)), atol=OPTIMUM)


def test_data__of_whole_numbers_is_that_of_their_values() -> None:
    X, y = (np.round(20 * part).astype(int) for part in make_rows())
    np.testing.assert_allclose(elbo((X, y)), elbo((X.astype(float), y.astype(float))), atol=1e-9)


def test_data__may_be_a_memory_map_or_a_dataset(tmp_path: Any) -> None:
    X, y = make_rows()
    np.save(tmp_path / "X.npy", X[:, None])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r"), y
    dataset = tf.data.Dataset.from_tensor_slices((X[:, None], y))
    plain = elbo((X, y), inference="stochastic")
    for data in (mapped, dataset):
        np.testing.assert_allclose(elbo(data, inference="stochastic"), plain, atol=1e-6)


@pytest.mark.parametrize(
    ("offset", "scale"), [(0, 1e-12), (0, 1e12), (1e12, 1e7), (-1e6, 10), (1, 1e-4)]
)
def test_offsets_and_scales__change_nothing(offset: float, scale: float) -> None:
    X, y = make_rows()
    by_hand = (X - X.mean()) / X.std(), (y - y.mean()) / y.std()
    moved = elbo((offset + scale * X, -offset + scale * y))
    np.testing.assert_allclose(moved, elbo(by_hand), atol=OPTIMUM)


# Wrong input


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong with the input is told before the first screening."""
    monkeypatch.setattr(rungs, "run_rung", lambda *_, **__: pytest.fail("work began"))


def with_third(value: float) -> Array:
    y = make_rows()[1].copy()
    y[2] = value
    return y


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((make_rows()[0], with_third(np.nan)), "the target has 1 missing value, .* row 3"),
        ((make_rows()[0], with_third(np.inf)), "the target has 1 infinite value, .* row 3"),
        ((with_third(np.nan), make_rows()[1]), "input 1 has 1 missing value, .* row 3"),
        ((make_rows()[0], np.full(40, 3.0)), "the target is constant"),
        (([1.0], [2.0]), "there is only one row to learn from"),
        ((make_rows()[0], make_rows()[1][:39]), "40 rows.* 39"),
        ((["a"] * 40, make_rows()[1]), "'a'"),
        (3, "expected a pair"),
    ],
    ids=["NaN", "inf", "NaN in X", "constant", "one row", "lengths", "text", "no pair"],
)
def test_wrong_data__is_refused_before_any_work(no_work: None, data: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit(["SE"], data)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inference": "fast"}, "inference is 'fast', expected one of auto, exact, collapsed"),
        (
            {"posterior": "wide"},
            "posterior is 'wide', expected one of auto, full, diagonal",
        ),
        ({"ascent": "steep"}, "ascent is 'steep', expected one of natural, plain"),
        ({"restarts": 0}, "restarts is 0, expected a whole number from 1 on"),
        ({"num_inducing": 0}, "num_inducing is 0, expected a whole number from 1 on"),
        ({"likelihood": "normal"}, "Unknown likelihood 'normal'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_settings__are_refused_before_any_work(
    no_work: None, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises((DataError, SettingsError), match=message):
        fit(["SE"], **settings)


@pytest.mark.parametrize(
    ("expressions", "message"),
    [
        ([], "there is nothing to fit. Give at least one expression"),
        (["SE", "RBF"], "unknown family 'RBF'"),
        ("SE", "expected a list of expressions, got the text 'SE'"),
        (["SE[2]"], "'SE.2.' uses input 2, but the number of inputs is 1"),
    ],
)
def test_wrong_expressions__are_refused_before_any_work(
    no_work: None, expressions: list[Expression | str], message: str
) -> None:
    with pytest.raises(GrammarError, match=message):
        fit(expressions)


def test_more_inducing_points_than_rows__are_reduced_and_told() -> None:
    (found,) = fit(["LIN"], inference="collapsed", num_inducing=50)
    assert found.inducing is not None
    assert len(found.inducing) == 40
    assert "50 inducing points are more than the 40 rows: 40 are used." in found.notices


def test_gamma__with_little_noise_finds_its_shape():
    """The shape starts at 1 and must become large while f and q(u) follow."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 10, 40))
    y = np.exp(np.sin(2 * X) + 0.2 * rng.normal(size=40))
    (fit,) = fit_candidates(["SE"], (X, y), likelihood="gamma", restarts=2)
    assert fit.converged
    assert fit.elbo > -33
    assert 2 < fit.theta[0] < 3.5
