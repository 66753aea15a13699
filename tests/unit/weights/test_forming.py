"""Tests of how fits become beliefs."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.data.warps import Identity, Log, Warp
from vbks.errors import DataError, SettingsError
from vbks.grammar.parser import parse
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.result import LocalFit, Mode
from vbks.weights.forming import (
    averaged_weights,
    form_belief,
    log_evidences,
    predicts_better,
)
from vbks.weights.policy import AveragingPolicy
from vbks.weights.prior import log_prior
from vbks.weights.settings import BeliefSettings, Weighting, paper_settings

IDENTITY = Identity()


def make_fit(text: str, elbo: float, warp: Warp = IDENTITY, status: str = "fitted") -> LocalFit:
    mode = Mode(np.zeros(3), np.zeros((3, 3)), 1.0, elbo, 0.0, 0.0, elbo)
    return LocalFit(
        parse(text), 1, 100, "exact", "full", 3, status, elbo=elbo, modes=(mode,), warp=warp
    )


def test_log_prior__copies_of_a_structure_share_one_weight() -> None:
    fits = [make_fit("SE", 0.0), make_fit("SE * SE", 0.0), make_fit("LIN", 0.0)]
    np.testing.assert_allclose(np.exp(log_prior(fits, "uniform")), [0.25, 0.25, 0.5])


def test_log_prior__warps_share_a_structure_evenly() -> None:
    fits = [make_fit("SE", 0.0), make_fit("SE", 0.0, Log()), make_fit("LIN", 0.0)]
    np.testing.assert_allclose(np.exp(log_prior(fits, "uniform")), [0.25, 0.25, 0.25])


def test_log_prior__grammar_favours_small_ones() -> None:
    small, large = log_prior([make_fit("SE", 0.0), make_fit("SE * PER + LIN", 0.0)], "grammar")
    assert small > large


def test_log_evidences__leave_out_what_was_not_fitted() -> None:
    fits = [
        make_fit("SE", 1.0), make_fit("LIN", 5.0, status="dropped"), make_fit("PER", np.nan)
    ]  # fmt: skip
    np.testing.assert_array_equal(log_evidences(fits, BeliefSettings()), [1.0, -np.inf, -np.inf])


def test_log_evidences__members_are_the_best() -> None:
    fits = [make_fit("SE", 1.0), make_fit("LIN", 5.0), make_fit("PER", 3.0)]
    values = log_evidences(fits, BeliefSettings(max_candidates=2))
    np.testing.assert_array_equal(values, [-np.inf, 5.0, 3.0])


def test_log_evidences__different_bounds_are_never_mixed() -> None:
    fits = [make_fit("SE", 1.0), replace(make_fit("LIN", 5.0), bound="collapsed")]
    with pytest.raises(DataError, match="different bounds cannot be compared"):
        log_evidences(fits, BeliefSettings())


@pytest.mark.parametrize("kind", ["vbks", "bayes"])
def test_form_belief__failed_candidates_have_none(kind: Literal["vbks", "bayes"]) -> None:
    fits = [make_fit("SE", 1.0), make_fit("LIN", 0.0), make_fit("PER", 9.0, status="failed")]
    belief = form_belief(fits, BeliefSettings(kind))
    assert belief.probabilities[2] == 0.0
    assert belief.probabilities.sum() == pytest.approx(1.0)


def test_form_belief__a_dropped_copy_takes_nothing_from_its_structure() -> None:
    fits = [make_fit("SE", 1.0), make_fit("SE * SE", 1.0), make_fit("LIN", 1.0)]
    both = form_belief(fits, BeliefSettings()).probabilities
    np.testing.assert_allclose(both, [0.25, 0.25, 0.5])
    dropped = [fits[0], replace(fits[1], status="dropped"), fits[2]]
    np.testing.assert_allclose(form_belief(dropped, BeliefSettings()).probabilities, [0.5, 0, 0.5])


def made_densities(*means: float, num: int = 200) -> Array:
    """Log densities [N, K] around some means, with noise that candidates share for the most."""
    rng = np.random.default_rng(0)
    return np.array(means) + rng.normal(size=(num, 1)) + 0.1 * rng.normal(size=(num, len(means)))


def test_weights__are_the_belief_unless_stacking_predicts_clearly_better() -> None:
    few = [make_fit("SE", 3.0), make_fit("LIN", 0.0)]
    fits = [replace(fit, num_rows=AveragingPolicy().min_stacking_rows) for fit in few]
    believed = form_belief(fits, BeliefSettings()).probabilities

    def weights(how: Weighting, *means: float) -> Array:
        settings = BeliefSettings(weights=how)
        return averaged_weights(fits, settings, believed, lambda: made_densities(*means))

    np.testing.assert_allclose(weights("belief", 0.0, 1.0), believed)
    np.testing.assert_allclose(weights("auto", 0.0, 0.0), believed)
    assert weights("auto", 0.0, 1.0)[1] > 0.9
    assert weights("stacking", 0.0, 1.0)[1] > 0.9
    auto = averaged_weights(few, BeliefSettings(), believed, lambda: made_densities(0.0, 1.0))
    np.testing.assert_allclose(auto, believed)


def test_weights__of_few_rows_are_the_belief() -> None:
    densities = made_densities(0.0, 0.2, num=5)
    stacked, believed = np.array([0.1, 0.9]), np.array([0.9, 0.1])
    assert not predicts_better(densities, stacked, believed)
    assert predicts_better(made_densities(0.0, 0.2, num=500), stacked, believed)


def test_weights__without_densities_are_the_belief_or_an_error() -> None:
    fits = [make_fit("SE", 3.0), make_fit("LIN", 0.0)]
    believed = form_belief(fits, BeliefSettings()).probabilities
    np.testing.assert_allclose(averaged_weights(fits, BeliefSettings(), believed), believed)
    with pytest.raises(DataError, match="stacking needs the log densities"):
        averaged_weights(fits, BeliefSettings(weights="stacking"), believed)


def test_layer__takes_any_mean_and_covariance_of_its_prior() -> None:
    fits = [make_fit("SE", 2.0), make_fit("RQ", 2.0), make_fit("LIN", 2.0)]
    plain = form_belief(fits, BeliefSettings("vbks"))
    together = form_belief(
        fits, BeliefSettings("vbks", prior_covariance={("RQ", "SE"): 9.0}, prior_mean={"LIN": 1.0})
    )
    expected = np.array([[10.0, 9.0, 0.0], [9.0, 10.0, 0.0], [0.0, 0.0, 10.0]])
    np.testing.assert_array_equal(together.prior_covariance, expected)
    assert together.prior_mean is not None
    np.testing.assert_allclose(together.prior_mean, [-np.log(3), -np.log(3), 1.0])
    assert together.correlations[0, 1] > 0.5 > abs(plain.correlations[0, 1])


def test_layer__candidates_of_different_warps_have_no_covariance() -> None:
    fits = [make_fit("SE", 2.0), make_fit("RQ", 2.0, Log())]
    settings = BeliefSettings("vbks", prior_covariance=lambda a, b: 4.0 if a == b else 3.0)
    belief = form_belief(fits, settings.resolved(fits))
    np.testing.assert_array_equal(belief.prior_covariance, 4.0 * np.eye(2))
    matrix = np.array([[4.0, 3.0], [3.0, 4.0]])
    same = [make_fit("SE", 2.0), make_fit("RQ", 2.0)]
    by_matrix = form_belief(same, replace(settings, prior_covariance=matrix).resolved(same))
    np.testing.assert_array_equal(by_matrix.prior_covariance, matrix)


def test_form_belief__bayes_is_the_posterior() -> None:
    belief = form_belief([make_fit("SE", 2.0), make_fit("LIN", 0.0)], BeliefSettings("bayes"))
    np.testing.assert_allclose(belief.probabilities[0], 1 / (1 + np.exp(-2.0)))


def test_form_belief__pruning_is_a_belief_over_the_best() -> None:
    fits = [make_fit("SE", 2.0), make_fit("LIN", 0.0), make_fit("PER", 1.0)]
    pruned = form_belief(fits, BeliefSettings("bayes", max_candidates=2)).probabilities
    alone = form_belief([fits[0], fits[2]], BeliefSettings("bayes")).probabilities
    np.testing.assert_allclose(pruned[[0, 2]], alone)
    assert pruned[1] == 0.0


def test_paper_settings__divide_by_half_the_minibatches() -> None:
    settings = paper_settings(PaperSettings(), 1280, 128)
    assert settings.temperature == 5.0
    assert (settings.kind, settings.max_candidates, settings.correction) == ("vbks", None, "none")
    assert (settings.prior_variance, settings.averaging_variance) == (0.1, 0.5)
    assert settings.max_averaged == 10


def test_averaged_weights__have_a_variance_of_their_own() -> None:
    fits = [make_fit("SE", 2.0), make_fit("LIN", 0.0), make_fit("PER", 1.0)]
    settings = BeliefSettings(
        "vbks", prior_variance=0.1, weights="belief", averaging_variance=0.5, max_averaged=2
    )
    believed = form_belief(fits, settings).probabilities
    alone = form_belief(
        fits, BeliefSettings("vbks", prior_variance=0.5, max_candidates=2)
    ).probabilities
    np.testing.assert_allclose(averaged_weights(fits, settings, believed), alone)
    assert np.count_nonzero(believed) == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "certain"}, "belief is 'certain', expected one of bayes, vbks"),
        ({"prior": "flat"}, "prior is 'flat', expected one of uniform, grammar, a mapping"),
        ({"prior": 3}, "prior is of the type int, expected a name, a mapping"),
        ({"weights": "equal"}, "weights is 'equal', expected one of auto, belief, stacking"),
        ({"kind": "vbks", "form": "t"}, "form is 't', expected one of gaussian, mixture, free"),
        ({"form": "free"}, "which only the belief 'vbks' has"),
        ({"prior_mean": {"SE": 1.0}}, "which only the belief 'vbks' has"),
        ({"max_candidates": 0}, "max_candidates is 0"),
    ],
)
def test_belief_settings__refuse_what_they_do_not_know(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        BeliefSettings(**settings)  # type: ignore[arg-type]
