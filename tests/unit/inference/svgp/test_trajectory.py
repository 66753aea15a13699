from dataclasses import replace

import numpy as np
import pytest
from support.svgp_steps import in_minibatches, stochastic_context

from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.inference.svgp.trajectory import NewtonTrajectory


@pytest.fixture
def context():
    return in_minibatches(stochastic_context())


def trajectory(context, theta):
    candidate = make_candidate(parse("SE"), context, None)
    made = NewtonTrajectory(candidate, np.array(theta), context.svgp)
    made.covariance = 0.1 * np.eye(len(theta))
    return made


def test_step_along_a_gradient_that_is_not_finite__moves_nothing(context):
    own = trajectory(context, [0.0, 0.0, 0.0])
    own.step(np.array([1.0, np.nan, 0.0]), noise_gain=1.0)
    np.testing.assert_array_equal(own.theta, 0.0)
    assert own.rests == 0
    assert own.candidate.jitter > context.jitter


def test_step_to_where_the_gradient_is_not_finite__is_taken_back(context):
    own = trajectory(context, [0.0, 0.0, 0.0])
    own.step(np.array([50.0, 0.0, 0.0]), noise_gain=0.1)
    assert own.theta[0] == pytest.approx(SvgpPolicy().max_change)
    own.step(np.full(3, np.nan), noise_gain=0.1)
    np.testing.assert_array_equal(own.theta, 0.0)


def test_jitter__rises_also_from_zero(context):
    own = trajectory(replace(context, jitter=0.0), [0.0, 0.0, 0.0])
    own.step(np.full(3, np.nan), noise_gain=0.1)
    assert own.candidate.jitter > 0


def test_trajectory__rests_once_steps_promise_no_more_than_noise(context):
    own = trajectory(context, [0.0, 0.0, 0.0])
    own.step(np.array([50.0, 0.0, 0.0]), noise_gain=1.0)
    assert own.rests == 0
    places = []
    while own.is_going:
        own.step(np.array([2.0, 0.0, 0.0]), noise_gain=1.0)
        places.append(own.theta[0])
    assert len(places) == SvgpPolicy().averaged_steps
    assert (np.diff(places, n=2) < 0).all()  # ever shorter
    assert own.result[0] == pytest.approx(np.mean(places))
