from dataclasses import replace

import numpy as np
import pytest
from support.rungs import screened

from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate, stacked
from vbks.inference.choices import make_context
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.log_posterior import maximise
from vbks.inference.rungs import optimise
from vbks.inference.settings import FitSettings
from vbks.inference.svgp import minibatches, steps
from vbks.inference.svgp.minibatches import StepBatches
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.inference.svgp.stage import StochasticStage
from vbks.inference.svgp.steps import take_step, take_steps
from vbks.inference.svgp.trajectory import NewtonTrajectory

N = 3000
EXPRESSIONS = ("SE", "SE + LIN")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(N, 1))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 0] + 0.4 * rng.normal(size=N)


@pytest.fixture
def comparison(data):
    return not_small(compare_rows(data))


def not_small(comparison):
    """The context of fits that take minibatches, however few rows there are."""
    return replace(comparison, svgp=SvgpPolicy(small_elements=0))


def compare_rows(data, **settings):
    usual = {"num_inducing": 20, "batch_size": 250, "restarts": 3}
    made, _ = make_context(data, 2, FitSettings(inference="stochastic", **{**usual, **settings}))
    return made


def looked(comparison, texts=EXPRESSIONS):
    chunk = [make_candidate(parse(text), comparison, None) for text in texts]
    return screened(chunk, comparison)


def test_steps__end_near_the_maximum_on_all_rows(comparison, monkeypatch):
    assert not comparison.is_small
    monkeypatch.setattr(steps, "screen_before_svgp", lambda chunk, _: chunk)
    chunk = [replace(c, thetas=c.thetas[:1] + 0.7) for c in looked(comparison)]
    found = take_steps(chunk, comparison)
    posterior = comparison.log_posterior(
        [c.expression for c in chunk], comparison.final_evidence(comparison.jitter)
    )
    starts, ends = (
        stacked([c.thetas[0] for c in some], posterior.num_slots) for some in (chunk, found)
    )
    best = -maximise(posterior, starts).loss
    before, after = (posterior(np.arange(2), theta)[0] for theta in (starts, ends))
    assert all(c.converged for c in found)
    assert (before < best - 100.0).all()
    assert (after > best - 3.0).all()  # a nat for each parameter, as steps of 500 rows leave


def test_steps__of_the_same_seed_are_the_same(comparison, data):
    again = not_small(compare_rows(data))
    one, two = (take_steps(looked(c, ["SE"]), c) for c in (comparison, again))
    np.testing.assert_array_equal(one[0].thetas, two[0].thetas)


def test_small_problem__is_optimised_on_all_rows(data):
    comparison = compare_rows((data[0][:200], data[1][:200]))
    assert comparison.is_small
    chunk = looked(comparison, ["SE"])
    found, expected = take_steps(chunk, comparison), optimise(chunk, comparison)
    np.testing.assert_array_equal(found[0].thetas, expected[0].thetas)


def test_candidate_that_the_second_screening_loses__disturbs_no_other(comparison):
    chunk = looked(comparison)
    lost = replace(chunk[1], thetas=np.full_like(chunk[1].thetas, np.nan))
    found = take_steps([chunk[0], lost], comparison)
    assert found[0].is_going
    assert not found[1].is_going
    assert "factorised" in found[1].reason


def test_batches__make_up_the_rows_of_half_a_step(comparison):
    batches = StepBatches(comparison, 2)
    assert (batches.size, batches.count) == (250, 2)  # 500 rows at least
    assert batches.excess == pytest.approx(N / 500 - 1)
    taken = list(batches.take())
    assert sum(len(y) for _, y in taken) == 500
    assert all(X.shape == (len(y), 1) for X, y in taken)


def test_batches__are_joined_where_noise_is_gaussian(comparison, monkeypatch):
    together = list(StepBatches(comparison, 2).take())
    monkeypatch.setattr(minibatches, "ELEMENTS_AT_ONCE", 2 * 20 * 250)
    apart = list(StepBatches(comparison, 2).take())
    assert [len(y) for _, y in together] == [500]
    assert [len(y) for _, y in apart] == [250, 250]
    for joined, parts in zip(together[0], zip(*apart, strict=True), strict=True):
        np.testing.assert_array_equal(joined, np.concatenate(parts))


def test_batches__go_on_where_the_last_half_ended(comparison):
    batches = StepBatches(comparison, 2)
    halves = [np.concatenate([X[:, 0] for X, _ in batches.take()]) for _ in range(N // 500)]
    X, _ = comparison.data.arrays()
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.sort(X[:, 0]))


def test_batches__take_all_rows_when_that_is_no_more(data):
    comparison = compare_rows((data[0][:400], data[1][:400]))
    batches = StepBatches(comparison, 2)
    assert batches.takes_all
    assert batches.excess == 0.0
    for _ in range(2):
        (batch,) = batches.take()
        for part, whole in zip(batch, comparison.data.arrays(), strict=True):
            np.testing.assert_array_equal(part, whole)


def test_batches__grow_with_the_number_of_inducing_points(data):
    comparison = compare_rows(data, num_inducing=50)
    assert StepBatches(comparison, 1).count == 50 * SvgpPolicy().rows_per_inducing // 250


def trajectory(comparison, theta):
    candidate = make_candidate(parse("SE"), comparison, None)
    made = NewtonTrajectory(candidate, np.array(theta), comparison.svgp)
    made.covariance = 0.1 * np.eye(len(theta))
    return made


def test_step_along_a_gradient_that_is_not_finite__moves_nothing(comparison):
    own = trajectory(comparison, [0.0, 0.0, 0.0])
    own.step(np.array([1.0, np.nan, 0.0]), noise_gain=1.0)
    np.testing.assert_array_equal(own.theta, 0.0)
    assert own.rests == 0
    assert own.candidate.jitter > comparison.jitter


def test_step_to_where_the_gradient_is_not_finite__is_taken_back(comparison):
    own = trajectory(comparison, [0.0, 0.0, 0.0])
    own.step(np.array([50.0, 0.0, 0.0]), noise_gain=0.1)
    assert own.theta[0] == pytest.approx(SvgpPolicy().max_change)
    own.step(np.full(3, np.nan), noise_gain=0.1)
    np.testing.assert_array_equal(own.theta, 0.0)


def test_jitter__rises_also_from_zero(comparison):
    own = trajectory(replace(comparison, jitter=0.0), [0.0, 0.0, 0.0])
    own.step(np.full(3, np.nan), noise_gain=0.1)
    assert own.candidate.jitter > 0


def test_trajectory__rests_once_steps_promise_no_more_than_noise(comparison):
    own = trajectory(comparison, [0.0, 0.0, 0.0])
    own.step(np.array([50.0, 0.0, 0.0]), noise_gain=1.0)
    assert own.rests == 0
    places = []
    while own.is_going:
        own.step(np.array([2.0, 0.0, 0.0]), noise_gain=1.0)
        places.append(own.theta[0])
    assert len(places) == SvgpPolicy().averaged_steps
    assert (np.diff(places, n=2) < 0).all()  # ever shorter
    assert own.result[0] == pytest.approx(np.mean(places))


def test_step__of_a_candidate_that_cannot_be_factorised_disturbs_no_other(comparison):
    chunk = looked(comparison, ["SE", "SE"])
    bad = replace(chunk[1], jitter=-10.0)
    ends = []
    for pair in (chunk, [chunk[0], bad]):
        trajectories = [NewtonTrajectory(c, c.thetas[0], SvgpPolicy()) for c in pair]
        batches = StepBatches(comparison, 2)
        take_step(StochasticStage.of(pair, comparison), trajectories, batches, None, renew=True)
        ends.append([own.theta for own in trajectories])
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[1][1], chunk[1].thetas[0])


def test_q_that_is_not_a_number__is_forgotten_in_the_next_step(data):
    """Where noise is not Gaussian a step begins with the q(v) of the step before."""
    targets = (data[1] > np.median(data[1])).astype(float)
    comparison = not_small(
        compare_rows((data[0], targets), likelihood=make_likelihood("bernoulli"))
    )
    (candidate,) = looked(comparison, ["SE"])
    stage, batches = StochasticStage.of([candidate], comparison), StepBatches(comparison, 1)
    start = comparison.final_theta(candidate.thetas[0])
    own = NewtonTrajectory(replace(candidate, jitter=-10.0), start, SvgpPolicy())
    q = take_step(stage, [own], batches, None, renew=True)
    own.candidate = candidate
    before = own.theta
    take_step(stage, [own], batches, q, renew=True)
    assert not np.array_equal(own.theta, before)
