"""Properties of the belief that people see: Bayes' posterior over structures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fits import made_up_fit

from vbks.grammar.canonical import structures
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.weights.belief import bayes_belief
from vbks.weights.forming import form_belief
from vbks.weights.settings import BeliefSettings

STRUCTURES = tuple(structures(K144))
SIZES = st.integers(2, 1000)
GAPS = st.floats(1e-9, 1e3)
SEEDS = st.integers(0, 2**32 - 1)


def believed(values: np.ndarray, prior: np.ndarray | None = None) -> np.ndarray:
    size = len(values)
    log_prior = np.full(size, -np.log(size)) if prior is None else prior
    return bayes_belief(values, log_prior).probabilities


def drawn(size: int, gap: float, seed: int) -> np.ndarray:
    return gap * np.random.default_rng(seed).standard_normal(size)


def fits_of(values: list[float]) -> list[LocalFit]:
    pairs = zip(STRUCTURES, values, strict=False)
    return [made_up_fit(Proposal(structure), value) for structure, value in pairs]


@given(SIZES, GAPS, SEEDS)
def test_belief__is_in_the_order_of_the_evidences(size, gap, seed):
    values = drawn(size, gap, seed)
    order = np.argsort(values)
    assert np.all(np.diff(believed(values)[order]) >= 0.0)


@given(SIZES, GAPS, SEEDS)
def test_belief__is_continuous_in_the_evidences(size, gap, seed):
    values = drawn(size, gap, seed)
    step = 1e-6 * np.random.default_rng(seed + 1).uniform(-1.0, 1.0, size)
    np.testing.assert_allclose(believed(values + step), believed(values), atol=1.1e-6)


@given(SIZES, GAPS, SEEDS, st.floats(200.0, 1e4))
def test_odds__stay_when_others_far_behind_come_or_go(size, gap, seed, distance):
    values = drawn(size, gap, seed)
    best = np.sort(values)[-2:]
    alone = believed(best)
    behind = np.concatenate([best, np.minimum(values[: size - 2], best[0]) - distance])
    np.testing.assert_allclose(believed(behind)[:2], alone, atol=1e-12)


@given(SIZES, GAPS, SEEDS)
def test_belief__does_not_depend_on_the_order_of_candidates(size, gap, seed):
    values, order = drawn(size, gap, seed), np.random.default_rng(seed).permutation(size)
    np.testing.assert_allclose(believed(values[order]), believed(values)[order], atol=1e-12)


@given(SIZES, GAPS)
def test_equal_evidences__are_believed_alike(size, gap):
    p = believed(np.concatenate([np.zeros(2), np.full(size, -gap)]))
    assert p[0] == p[1]
    assert np.ptp(p[2:]) == 0.0


@pytest.mark.parametrize("rivals", [0, 6, 60, 998])
@pytest.mark.parametrize("gap", [1e-9, 0.3, 5.0])
def test_odds_of_two__are_those_of_bayes_above_any_number_of_rivals(rivals, gap):
    p = believed(np.array([0.0, -gap, *[-30.0] * rivals]))
    assert np.log(p[0] / p[1]) == pytest.approx(gap, abs=1e-9)
    assert p[0] == pytest.approx(1 / (1 + np.exp(-gap)), abs=1e-9)


@pytest.mark.parametrize("num", [2, 5, 100])
def test_default_belief_of_fits__is_bayes_over_structures(num):
    rng = np.random.default_rng(num)
    values = list(rng.normal(size=num))
    belief = form_belief(fits_of(values), BeliefSettings())
    assert belief.kind == "bayes"
    np.testing.assert_allclose(belief.probabilities, np.exp(values) / np.exp(values).sum())


def test_copies__change_nothing_for_others():
    one = fits_of([0.1 * place for place in range(20)])
    place = next(k for k, fit in enumerate(one) if str(fit.expression) == "SE")
    copy = made_up_fit(Proposal(parse("SE * SE")), one[place].log_evidence())
    before = form_belief(one, BeliefSettings()).probabilities
    after = form_belief([*one, copy], BeliefSettings()).probabilities
    others = [k for k in range(len(one)) if k != place]
    np.testing.assert_allclose(after[others], before[others])
    assert after[place] + after[-1] == pytest.approx(before[place])
