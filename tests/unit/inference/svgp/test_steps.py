from dataclasses import replace

import numpy as np
import pytest

from vbks.grammar.parser import parse
from vbks.inference import climbing
from vbks.inference import context as comparison_module
from vbks.inference.candidate import make_candidate, stacked
from vbks.inference.choices import make_context
from vbks.inference.objectives.log_posterior import maximise
from vbks.inference.settings import FitSettings
from vbks.inference.svgp import steps as rounds
from vbks.inference.svgp.stage import StochasticStage
from vbks.inference.svgp.steps import Batches, Walk

N = 3000
EXPRESSIONS = ("SE", "SE + LIN")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(N, 1))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 0] + 0.4 * rng.normal(size=N)


@pytest.fixture
def comparison(data, monkeypatch):
    monkeypatch.setattr(comparison_module, "SMALL", 0)
    return compare_rows(data)


def compare_rows(data, **settings):
    usual = {"num_inducing": 20, "batch_size": 250, "restarts": 3}
    made, _ = make_context(data, 2, FitSettings(inference="stochastic", **{**usual, **settings}))
    return made


def looked(comparison, texts=EXPRESSIONS):
    chunk = [make_candidate(parse(text), comparison, None) for text in texts]
    return climbing.look(chunk, comparison)


def test_rounds__end_near_the_maximum_on_all_rows(comparison, monkeypatch):
    assert not comparison.is_small
    monkeypatch.setattr(rounds, "second_look", lambda chunk, _: chunk)
    chunk = [replace(c, thetas=c.thetas[:1] + 0.7) for c in looked(comparison)]
    found = rounds.climb(chunk, comparison)
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
    assert (after > best - 3.0).all()  # a nat for each parameter, as rounds of 500 rows leave


def test_rounds__of_the_same_seed_are_the_same(comparison, data):
    one, two = (rounds.climb(looked(c, ["SE"]), c) for c in (comparison, compare_rows(data)))
    np.testing.assert_array_equal(one[0].thetas, two[0].thetas)


def test_small_problem__is_climbed_on_all_rows(data):
    comparison = compare_rows((data[0][:200], data[1][:200]))
    assert comparison.is_small
    chunk = looked(comparison, ["SE"])
    found, expected = rounds.climb(chunk, comparison), climbing.climb(chunk, comparison)
    np.testing.assert_array_equal(found[0].thetas, expected[0].thetas)


def test_candidate_that_the_second_look_loses__disturbs_no_other(comparison):
    chunk = looked(comparison)
    lost = replace(chunk[1], thetas=np.full_like(chunk[1].thetas, np.nan))
    found = rounds.climb([chunk[0], lost], comparison)
    assert found[0].is_going
    assert not found[1].is_going
    assert "factorised" in found[1].reason


def test_batches__make_up_the_rows_of_half_a_round(comparison):
    batches = Batches(comparison, 2)
    assert (batches.size, batches.count) == (250, 2)  # 500 rows at least
    assert batches.excess == pytest.approx(N / 500 - 1)
    taken = list(batches.take())
    assert sum(len(y) for _, y in taken) == 500
    assert all(X.shape == (len(y), 1) for X, y in taken)


def test_batches__are_joined_where_noise_is_gaussian(comparison, monkeypatch):
    together = list(Batches(comparison, 2).take())
    monkeypatch.setattr(rounds, "ELEMENTS_AT_ONCE", 2 * 20 * 250)
    apart = list(Batches(comparison, 2).take())
    assert [len(y) for _, y in together] == [500]
    assert [len(y) for _, y in apart] == [250, 250]
    for joined, parts in zip(together[0], zip(*apart, strict=True), strict=True):
        np.testing.assert_array_equal(joined, np.concatenate(parts))


def test_batches__go_on_where_the_last_half_ended(comparison):
    batches = Batches(comparison, 2)
    halves = [np.concatenate([X[:, 0] for X, _ in batches.take()]) for _ in range(N // 500)]
    X, _ = comparison.data.arrays()
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.sort(X[:, 0]))


def test_batches__take_all_rows_when_that_is_no_more(data):
    comparison = compare_rows((data[0][:400], data[1][:400]))
    batches = Batches(comparison, 2)
    assert batches.takes_all
    assert batches.excess == 0.0
    for _ in range(2):
        (batch,) = batches.take()
        for part, whole in zip(batch, comparison.data.arrays(), strict=True):
            np.testing.assert_array_equal(part, whole)


def test_batches__grow_with_the_number_of_inducing_points(data):
    comparison = compare_rows(data, num_inducing=50)
    assert Batches(comparison, 1).count == 50 * rounds.ROWS_PER_INDUCING // 250


def walk(comparison, theta):
    made = Walk(make_candidate(parse("SE"), comparison, None), np.array(theta))
    made.covariance = 0.1 * np.eye(len(theta))
    return made


def test_step_along_a_gradient_that_is_not_finite__moves_nothing(comparison):
    own = walk(comparison, [0.0, 0.0, 0.0])
    own.step(np.array([1.0, np.nan, 0.0]), noise_gain=1.0)
    np.testing.assert_array_equal(own.theta, 0.0)
    assert own.rests == 0
    assert own.candidate.jitter > comparison.jitter


def test_step_to_where_the_gradient_is_not_finite__is_taken_back(comparison):
    own = walk(comparison, [0.0, 0.0, 0.0])
    own.step(np.array([50.0, 0.0, 0.0]), noise_gain=0.1)
    assert own.theta[0] == pytest.approx(rounds.LARGEST_STEP)
    own.step(np.full(3, np.nan), noise_gain=0.1)
    np.testing.assert_array_equal(own.theta, 0.0)


def test_jitter__rises_also_from_zero(comparison):
    own = walk(replace(comparison, jitter=0.0), [0.0, 0.0, 0.0])
    own.step(np.full(3, np.nan), noise_gain=0.1)
    assert own.candidate.jitter > 0


def test_walk__rests_once_steps_promise_no_more_than_noise(comparison):
    own = walk(comparison, [0.0, 0.0, 0.0])
    own.step(np.array([50.0, 0.0, 0.0]), noise_gain=1.0)
    assert own.rests == 0
    places = []
    while own.is_going:
        own.step(np.array([2.0, 0.0, 0.0]), noise_gain=1.0)
        places.append(own.theta[0])
    assert len(places) == rounds.RESTS
    assert (np.diff(places, n=2) < 0).all()  # ever shorter
    assert own.result[0] == pytest.approx(np.mean(places))


def test_round__of_a_candidate_that_cannot_be_factorised_disturbs_no_other(comparison):
    chunk = looked(comparison, ["SE", "SE"])
    bad = replace(chunk[1], jitter=-10.0)
    steps = []
    for pair in (chunk, [chunk[0], bad]):
        walks = [Walk(c, c.thetas[0]) for c in pair]
        batches = Batches(comparison, 2)
        rounds.take_round(StochasticStage.of(pair, comparison), walks, batches, None, renew=True)
        steps.append([own.theta for own in walks])
    np.testing.assert_array_equal(steps[0][0], steps[1][0])
    np.testing.assert_array_equal(steps[1][1], chunk[1].thetas[0])


def test_q_that_is_not_a_number__is_forgotten_in_the_next_round(data, monkeypatch):
    """Where noise is not Gaussian a round begins with the q(v) of the round before."""
    monkeypatch.setattr(comparison_module, "SMALL", 0)
    targets = (data[1] > np.median(data[1])).astype(float)
    comparison = compare_rows((data[0], targets), likelihood="bernoulli")
    (candidate,) = looked(comparison, ["SE"])
    stage, batches = StochasticStage.of([candidate], comparison), Batches(comparison, 1)
    own = Walk(replace(candidate, jitter=-10.0), comparison.final_theta(candidate.thetas[0]))
    q = rounds.take_round(stage, [own], batches, None, renew=True)
    own.candidate = candidate
    before = own.theta
    rounds.take_round(stage, [own], batches, q, renew=True)
    assert not np.array_equal(own.theta, before)
