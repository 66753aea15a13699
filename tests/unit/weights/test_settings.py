"""Tests of how a belief is said to be formed."""

import numpy as np
import pytest
from support.fits import made_up_fit

from vbks.data.warps import Log
from vbks.errors import VbksError
from vbks.grammar.parser import parse
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.proposal import Proposal
from vbks.weights.settings import (
    BeliefSettings,
    belief_fields,
    layer_covariance,
    layer_mean,
    paper_settings,
)

FITS = [
    made_up_fit(Proposal(parse("SE")), 0.0),
    made_up_fit(Proposal(parse("PER + SE")), 1.0),
    made_up_fit(Proposal(parse("SE"), Log()), 2.0),
]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "best"}, "belief is 'best'"),
        ({"weights": "equal"}, "weights is 'equal'"),
        ({"temperature": 0.0}, "temperature"),
        ({"prior_variance": -1.0}, "prior_variance"),
        ({"max_candidates": 0}, "max_candidates is 0, expected 1 or more"),
        ({"form": "mixture"}, "which only the belief 'vbks' has"),
        ({"prior_mean": {"SE": 1.0}}, "which only the belief 'vbks' has"),
    ],
)
def test_settings__that_cannot_be_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(VbksError, match=message):
        BeliefSettings(**settings)


def test_stacking__is_bayes_with_other_weights() -> None:
    assert BeliefSettings("vbks").changed("stacking") == BeliefSettings(weights="stacking")
    assert belief_fields("vbks") == {"kind": "vbks"}
    assert belief_fields(None) == {}
    with pytest.raises(VbksError, match=r"unknown setting 'heat'\. Known: kind, temp"):
        BeliefSettings().changed(None, heat=2.0)


def test_averages__have_fewer_candidates_and_their_own_variance() -> None:
    settings = BeliefSettings("vbks", max_candidates=7, max_averaged=3, averaging_variance=0.2)
    own = settings.for_averages
    assert (own.max_candidates, own.prior_variance) == (3, 0.2)
    assert own.for_averages == own
    assert BeliefSettings(max_candidates=7).for_averages.max_candidates == 7


def test_paper__divides_bounds_by_half_the_number_of_minibatches() -> None:
    own = paper_settings(PaperSettings(), 1280, 128)
    assert (own.kind, own.temperature, own.correction) == ("vbks", 5.0, "none")


def test_layer_mean__is_the_prior_where_nothing_is_said() -> None:
    log_prior = np.log([0.5, 0.3, 0.2])
    found = layer_mean(FITS, {"SE + PER": 4.0}, log_prior)
    np.testing.assert_array_equal(found, [log_prior[0], 4.0, log_prior[2]])
    found = layer_mean(FITS, lambda expression: float(len(str(expression))), log_prior)
    np.testing.assert_array_equal(found, [2.0, 8.0, 2.0])


def test_layer_covariance__is_symmetric_and_zero_between_warps() -> None:
    found = layer_covariance(FITS, {("SE", "PER + SE"): 0.1}, 0.5)
    np.testing.assert_array_equal(found, [[0.5, 0.1, 0.0], [0.1, 0.5, 0.0], [0.0, 0.0, 0.5]])
