import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbks.errors import DataError, SettingsError
from vbks.grammar.prior import grammar_prior, uniform_prior
from vbks.weights.belief import KernelBelief, bayes_belief
from vbks.weights.gaussian import vbks_belief
from vbks.weights.stacking import stacking_belief

SIZES = st.integers(1, 6)


def as_densities(log_evidences):
    """Rows that prefer candidates as their evidences do, each a little differently."""
    rng = np.random.default_rng(0)
    return np.asarray(log_evidences) + np.tile(rng.normal(size=(40, 1)), len(log_evidences))


def stacking_of_evidences(log_evidences, log_prior, **settings):
    return stacking_belief(as_densities(log_evidences), log_prior, **settings)


BELIEFS = pytest.mark.parametrize("form", [bayes_belief, vbks_belief, stacking_of_evidences])


def test_bayes__is_the_softmax_of_evidences_and_prior():
    L, p = np.array([-10.0, -12.0, -9.5, -40.0]), np.array([0.1, 0.4, 0.2, 0.3])
    belief = bayes_belief(L, np.log(p))
    weights = p * np.exp(L)
    np.testing.assert_allclose(belief.probabilities, weights / weights.sum(), rtol=1e-12)
    assert belief.bound == pytest.approx(math.log(weights.sum()), abs=1e-12)
    assert belief.kind == "bayes"
    assert belief.mean is None and belief.factor is None and belief.prior_covariance is None


@given(st.data(), SIZES, st.floats(0.1, 100.0))
def test_bayes__at_a_temperature_is_that_of_evidences_divided_by_it(data, size, temperature):
    L = np.array(data.draw(st.lists(st.floats(-1e3, 1e3), min_size=size, max_size=size)))
    prior = np.log(np.full(size, 1 / size))
    warm, divided = (
        bayes_belief(L, prior, temperature=temperature),
        bayes_belief(L / temperature, prior),
    )
    np.testing.assert_allclose(warm.probabilities, divided.probabilities, atol=1e-10)
    assert warm.bound == pytest.approx(divided.bound, abs=1e-9)
    assert warm.temperature == temperature
    assert warm.probabilities.sum() == pytest.approx(1.0, abs=1e-12)


def test_bayes__survives_gaps_of_thousands_of_nats():
    belief = bayes_belief([-1e5, -3e3, -3e3], np.log([0.5, 0.25, 0.25]))
    np.testing.assert_array_equal(belief.probabilities, [0.0, 0.5, 0.5])
    assert belief.bound == pytest.approx(-3e3 + math.log(0.5), abs=1e-9)


@BELIEFS
def test_failed_candidates__have_probability_zero_and_change_nothing(form):
    L = np.array([-3.0, -math.inf, -4.0, math.nan, -2.5])
    p = np.array([0.1, 0.3, 0.2, 0.1, 0.3])
    kept = np.array([0, 2, 4])
    among_all, alone = form(L, np.log(p)), form(L[kept], np.log(p[kept] / p[kept].sum()))
    np.testing.assert_array_equal(among_all.probabilities[[1, 3]], 0.0)
    np.testing.assert_allclose(among_all.probabilities[kept], alone.probabilities, atol=1e-10)
    np.testing.assert_allclose(among_all.log_prior[kept], alone.log_prior, atol=1e-10)
    np.testing.assert_array_equal(among_all.log_prior[[1, 3]], -math.inf)
    assert among_all.bound == pytest.approx(alone.bound, abs=1e-9)


@BELIEFS
def test_candidate_of_prior_zero__takes_no_part(form):
    belief = form([1.0, 0.0, 5.0], [math.log(0.5), math.log(0.5), -math.inf])
    assert belief.probabilities[2] == 0.0
    assert belief.probabilities.sum() == pytest.approx(1.0, abs=1e-12)


@BELIEFS
def test_equal_candidates__share_their_mass_equally(form):
    belief = form([0.0, -1.0, -1.0, -3.0, -1.0], np.log(np.full(5, 0.2)))
    np.testing.assert_allclose(belief.probabilities[[2, 4]], belief.probabilities[1], atol=1e-9)


@BELIEFS
def test_copies_of_a_structure__count_once(form):
    L = {"SE": -1.0, "LIN": 0.0, "PER": -0.5}
    once, twice = ["SE", "LIN", "PER"], ["SE", "LIN", "PER", "SE"]
    alone = form([L[name] for name in once], uniform_prior(once)).probabilities
    copied = form([L[name] for name in twice], uniform_prior(twice)).probabilities
    if form is not vbks_belief:  # there the copies' g are two, of independent priors
        np.testing.assert_allclose(copied[1:3], alone[1:], atol=1e-6)
    assert copied[0] == pytest.approx(copied[3], abs=1e-9)


@BELIEFS
def test_order_of_candidates__does_not_matter(form):
    rng = np.random.default_rng(3)
    texts = ["SE", "SE * PER", "LIN + PER", "SE + LIN * PER", "RQ", "RQ * RQ"]
    L, prior = rng.normal(scale=3.0, size=6), np.array(grammar_prior(texts))
    L[4] = L[0]
    straight = form(L, prior)
    for _ in range(3):
        order = rng.permutation(6)
        other = form(L[order], prior[order])
        np.testing.assert_allclose(other.probabilities, straight.probabilities[order], atol=1e-8)
        assert other.bound == pytest.approx(straight.bound, abs=1e-8)


@BELIEFS
def test_single_candidate__is_certain(form):
    belief = form([-123.0], [0.0])
    np.testing.assert_allclose(belief.probabilities, [1.0], rtol=1e-12)


def test_single_candidate__has_its_evidence_as_bound():
    for form in (bayes_belief, vbks_belief):
        assert form([-123.0], [0.0]).bound == pytest.approx(-123.0, abs=1e-6)


def test_correlations__are_those_of_the_factor():
    factor = np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]])
    belief = KernelBelief("vbks", np.full(3, 1 / 3), np.zeros(3), 1.0, 0.0, np.zeros(3), factor)
    expected = [[1.0, 0.0, 0.6], [0.0, 0.0, 0.0], [0.6, 0.0, 1.0]]
    np.testing.assert_allclose(belief.correlations, expected, atol=1e-12)


def test_correlations__are_refused_where_there_is_no_gaussian():
    with pytest.raises(DataError, match=r"kind 'bayes' has no q\(g\)"):
        _ = bayes_belief([0.0], [0.0]).correlations


@BELIEFS
def test_all_failing__is_an_error(form):
    with pytest.raises(DataError, match=r"no candidate can take part .* each of the 2 is −inf"):
        form([-math.inf, math.nan], np.log([0.5, 0.5]))


@BELIEFS
@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_temperature__must_be_positive(form, temperature):
    with pytest.raises(
        SettingsError, match=f"temperature is {temperature}, expected a number above 0"
    ):
        form([0.0, 1.0], np.log([0.5, 0.5]), temperature=temperature)


@BELIEFS
def test_prior_of_another_length__is_refused(form):
    with pytest.raises(
        DataError, match="log_prior has 3 entries, expected one for each of the 2 c"
    ):
        form([0.0, 1.0], np.log([0.5, 0.25, 0.25]))


@BELIEFS
def test_evidence_beyond_all_bounds__is_refused(form):
    with pytest.raises(DataError, match="evidence of candidate 2 is inf"):
        form([0.0, math.inf], np.log([0.5, 0.5]))


@BELIEFS
def test_prior_that_is_not_a_number__is_refused(form):
    with pytest.raises(DataError, match="log_prior of candidate 1 is nan"):
        form([0.0, 1.0], [math.nan, 0.0])


@pytest.mark.parametrize("form", [bayes_belief, vbks_belief])
@pytest.mark.parametrize("values", [[], [[0.0, 1.0]], 0.0])
def test_evidences__are_one_number_per_candidate(form, values):
    with pytest.raises(DataError, match=r"log_evidences has shape .* one number per candidate"):
        form(values, np.log([0.5, 0.5]))
