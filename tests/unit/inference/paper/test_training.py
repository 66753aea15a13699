from dataclasses import replace

import numpy as np
import pytest
from support.paper_training import EXPRESSIONS, make_problem

from vbks.grammar.parser import parse
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.paper.training import (
    NOT_BATCHED,
    _has_settled,
    earlier_states,
    failed_state,
    inducing_inputs,
    local_fits,
    starts,
    theta_factor,
    train,
    with_lines_through_zero,
)
from vbks.kernels.bank.bank import Bank
from vbks.kernels.given import GivenValues
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out


def test_segments__are_as_one():
    states, context = make_problem("diagonal")
    settings = PaperSettings(num_samples=2)
    whole = train(states, context, settings, 40)
    parts = train(train(states, context, settings, 15), context, settings, 25)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-9)
        np.testing.assert_allclose(one.elbo, other.elbo, rtol=1e-9)


def test_lines__are_held_at_zero_unless_something_is_given():
    own = GivenValues((0.0, 0.0, 0.7), (2,))
    found = with_lines_through_zero([parse("LIN"), parse("SE"), parse("LIN * PER")], {}, 1)
    assert set(found) == {parse("LIN"), parse("LIN * PER")}
    slot = lay_out("LIN * PER").names.index(".kernels[0].location")
    assert found[parse("LIN * PER")].fixed == (slot,)
    assert found[parse("LIN * PER")].theta[slot] == 0.0
    assert with_lines_through_zero([parse("LIN")], {parse("LIN"): own}, 1) == {parse("LIN"): own}


def test_starts__hold_what_is_fixed_and_begin_where_values_are_given():
    _, context = make_problem(expressions=[parse("SE"), parse("LIN")])
    given = GivenValues((0.1, 0.2, 0.3), (2,))
    context = replace(context, given={**context.given, parse("SE"): given})
    found = starts([parse("SE"), parse("LIN")], context, 3, valued=[parse("SE")])
    np.testing.assert_array_equal(found[parse("SE")][0], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(found[parse("SE")][:, 2], 0.3)
    assert len(np.unique(found[parse("SE")][:, 1])) == 3
    location = lay_out("LIN").names.index(".location")
    np.testing.assert_array_equal(found[parse("LIN")][:, location], 0.0)


def test_first_states__have_q_of_u_at_the_prior():
    states, context = make_problem()
    for state in states:
        bank = Bank([state.expression])
        Kuu = bank(state.learned.theta[np.newaxis], context.Z)[0]
        found = state.learned.root @ state.learned.root.T
        np.testing.assert_allclose(found, Kuu + state.jitter * np.eye(len(context.Z)), rtol=1e-7)
        assert not state.learned.mean.any()


def test_opaque_kernel__fails_with_the_reason():
    import gpflow

    reading = from_gpflow(gpflow.kernels.Exponential())
    ((state,), context) = make_problem(expressions=[reading.expression])
    assert state.reason == NOT_BATCHED
    (fit,) = local_fits([state], context, 120)
    assert (fit.status, fit.reason) == ("failed", NOT_BATCHED)


@pytest.mark.parametrize("posterior", ["full", "diagonal"])
def test_spread__begins_at_a_tenth(posterior):
    (state,), context = make_problem(posterior, EXPRESSIONS[:1])
    np.testing.assert_allclose(theta_factor(state.learned.spread, context), 0.1 * np.eye(3))


@pytest.mark.parametrize("posterior", ["full", "diagonal"])
def test_fit__has_the_volume_of_its_gaussian_and_goes_on_as_it_was(posterior):
    (state,), context = make_problem(posterior, EXPRESSIONS[:1])
    rng = np.random.default_rng(0)
    mean = rng.normal(size=len(context.Z))
    state = replace(state, elbo=-3.0, learned=replace(state.learned, mean=mean))
    (fit,) = local_fits([state], context, 120)
    (mode,) = fit.modes
    expected = 0.5 * np.linalg.slogdet(2 * np.pi * mode.factor @ mode.factor.T)[1]
    assert mode.log_volume == pytest.approx(expected)
    (again,) = earlier_states([fit], context)
    for name in ("mean", "theta", "spread"):
        np.testing.assert_allclose(
            getattr(again.learned, name), getattr(state.learned, name), atol=1e-9
        )
    roots = [np.tril(own.learned.root) for own in (again, state)]
    np.testing.assert_allclose(roots[0] @ roots[0].T, roots[1] @ roots[1].T, atol=1e-9)


def test_fit_without_a_finite_bound__has_failed():
    (state,), context = make_problem(expressions=EXPRESSIONS[:1])
    values = np.array([1.0, np.nan])
    (fit,) = local_fits([replace(state, values=values)], context, 120)
    assert fit.status == "failed"
    assert "no finite bound after 2 steps, of which 1 had no finite gradient" in fit.reason
    (fit,) = local_fits([failed_state(state, context, "no memory")], context, 120)
    assert fit.reason == "no memory"


def test_training__has_settled_if_the_last_tenth_is_no_higher():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=200)
    assert _has_settled(noise)
    assert not _has_settled(noise + 0.5 * np.arange(200))
    assert not _has_settled(np.append(noise, np.nan))
    assert not _has_settled(noise[:2])


def test_inducing_inputs__are_half_even_and_half_in_a_row():
    _, context = make_problem(expressions=EXPRESSIONS[:1])
    x = np.sort(context.data.arrays()[0][:, 0])
    ranks = np.searchsorted(x, inducing_inputs(context.data, 8, np.random.default_rng(0))[:, 0])
    assert sorted(np.diff(np.sort(ranks)))[:3] == [1, 1, 1]
    assert {0, 119} <= set(ranks.tolist())
