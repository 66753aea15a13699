from dataclasses import replace

import numpy as np
import pytest
from support.rungs import screened
from support.svgp_steps import in_minibatches, rising_wave, stochastic_context

from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate, stacked
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.log_posterior import maximise
from vbks.inference.rungs import optimise
from vbks.inference.svgp import steps
from vbks.inference.svgp.minibatches import StepBatches
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.inference.svgp.stage import StochasticStage
from vbks.inference.svgp.steps import take_step, take_steps
from vbks.inference.svgp.trajectory import NewtonTrajectory

EXPRESSIONS = ("SE", "SE + LIN")


@pytest.fixture
def context():
    return in_minibatches(stochastic_context())


def screened_chunk(context, texts=EXPRESSIONS):
    chunk = [make_candidate(parse(text), context, None) for text in texts]
    return screened(chunk, context)


def test_steps__end_near_the_maximum_on_all_rows(context, monkeypatch):
    assert not context.is_small
    monkeypatch.setattr(steps, "screen_before_svgp", lambda chunk, _: chunk)
    chunk = [replace(c, thetas=c.thetas[:1] + 0.7) for c in screened_chunk(context)]
    found = take_steps(chunk, context)
    posterior = context.log_posterior(
        [c.expression for c in chunk], context.final_evidence(context.jitter)
    )
    starts, ends = (
        stacked([c.thetas[0] for c in some], posterior.num_slots) for some in (chunk, found)
    )
    best = -maximise(posterior, starts).loss
    before, after = (posterior(np.arange(2), theta)[0] for theta in (starts, ends))
    assert all(c.converged for c in found)
    assert (before < best - 100.0).all()
    assert (after > best - 3.0).all()  # a nat for each parameter, as steps of 500 rows leave


def test_steps__of_the_same_seed_are_the_same(context):
    again = in_minibatches(stochastic_context())
    one, two = (take_steps(screened_chunk(c, ["SE"]), c) for c in (context, again))
    np.testing.assert_array_equal(one[0].thetas, two[0].thetas)


def test_small_problem__is_optimised_on_all_rows():
    context = stochastic_context(200)
    assert context.is_small
    chunk = screened_chunk(context, ["SE"])
    found, expected = take_steps(chunk, context), optimise(chunk, context)
    np.testing.assert_array_equal(found[0].thetas, expected[0].thetas)


def test_candidate_that_the_second_screening_loses__disturbs_no_other(context):
    chunk = screened_chunk(context)
    lost = replace(chunk[1], thetas=np.full_like(chunk[1].thetas, np.nan))
    found = take_steps([chunk[0], lost], context)
    assert found[0].is_going
    assert not found[1].is_going
    assert "factorised" in found[1].reason


def test_step__of_a_candidate_that_cannot_be_factorised_disturbs_no_other(context):
    chunk = screened_chunk(context, ["SE", "SE"])
    bad = replace(chunk[1], jitter=-10.0)
    ends = []
    for pair in (chunk, [chunk[0], bad]):
        trajectories = [NewtonTrajectory(c, c.thetas[0], SvgpPolicy()) for c in pair]
        batches = StepBatches(context, 2)
        take_step(StochasticStage.of(pair, context), trajectories, batches, None, renew=True)
        ends.append([own.theta for own in trajectories])
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[1][1], chunk[1].thetas[0])


def test_q_that_is_not_a_number__is_forgotten_in_the_next_step():
    """Where noise is not Gaussian a step begins with the q(v) of the step before."""
    y = rising_wave()[1]
    likelihood = make_likelihood("bernoulli")
    targets = (y > np.median(y)).astype(float)
    context = in_minibatches(stochastic_context(targets=targets, likelihood=likelihood))
    (candidate,) = screened_chunk(context, ["SE"])
    stage, batches = StochasticStage.of([candidate], context), StepBatches(context, 1)
    start = context.final_theta(candidate.thetas[0])
    own = NewtonTrajectory(replace(candidate, jitter=-10.0), start, SvgpPolicy())
    q = take_step(stage, [own], batches, None, renew=True)
    own.candidate = candidate
    before = own.theta
    take_step(stage, [own], batches, q, renew=True)
    assert not np.array_equal(own.theta, before)
