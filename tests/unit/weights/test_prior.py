"""Tests of priors over structures that users give."""

from typing import Any

import numpy as np
import pytest
from support.fits import made_up_fit

from vbks.errors import DataError, GrammarError
from vbks.grammar.expression import Expression, num_leaves
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.weights.forming import form_belief
from vbks.weights.prior import check_prior, log_prior
from vbks.weights.settings import BeliefSettings


def fits_of(*texts: str) -> list[LocalFit]:
    return [made_up_fit(Proposal(parse(text)), 0.0) for text in texts]


def test_mapping__gives_structures_their_shares() -> None:
    fits = fits_of("SE", "SE * SE", "LIN + PER")
    weights = {"PER + LIN": 1.0, "SE": 3.0}
    np.testing.assert_allclose(np.exp(log_prior(fits, weights)), [0.375, 0.375, 0.25])


def test_function__is_of_the_structure() -> None:
    def prefer_small(expression: Expression) -> float:
        return 2.0 ** -num_leaves(expression)

    fits = fits_of("SE", "SE * SE", "LIN + PER")
    np.testing.assert_allclose(np.exp(log_prior(fits, prefer_small)), [1 / 3, 1 / 3, 1 / 3])


def test_zero__leaves_a_structure_out() -> None:
    fits = fits_of("SE", "LIN")
    belief = form_belief(fits, BeliefSettings(prior={"SE": 0.0, "LIN": 2.0}))
    np.testing.assert_array_equal(belief.probabilities, [0.0, 1.0])


def test_resolved__is_plain_and_says_the_same() -> None:
    fits = fits_of("SE", "LIN + SE")
    settings = BeliefSettings(prior=lambda expression: 1.0 / num_leaves(expression))
    plain = settings.resolved(fits)
    assert plain.prior == {"SE": 1.0, "LIN + SE": 0.5}
    np.testing.assert_array_equal(log_prior(fits, plain.prior), log_prior(fits, settings.prior))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"SE": -1.0, "LIN": 1.0}, "the prior of 'SE' is -1.0, expected a number from 0 on"),
        ({"SE": float("nan"), "LIN": 1.0}, "the prior of 'SE' is nan"),
        ({"SE": 0.0, "LIN": 0.0}, "the prior of all 2 structures is 0"),
        ({"SE": 1.0, "SE * SE": 2.0}, "two numbers, 1.0 and 2.0, for expressions of the structure"),
        ({"RBF": 1.0}, "unknown family 'RBF'"),
    ],
)
def test_wrong_numbers__are_refused_at_once(prior: dict[str, float], message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        BeliefSettings(prior=prior)


def test_expressions_without_a_number__are_named() -> None:
    with pytest.raises(GrammarError, match="the prior has no number for 'LIN'"):
        log_prior(fits_of("SE", "LIN"), {"SE": 1.0})


@pytest.mark.parametrize("prior", ["uniform", "grammar", lambda expression: 1.0])
def test_growing_space__takes_any_prior_but_a_list(prior: Any) -> None:
    check_prior(prior, is_growing=True)
    with pytest.raises(DataError, match=r"the space grows to others\. Give a function"):
        check_prior({"SE": 1.0}, is_growing=True)
