"""Tests of how fits become beliefs."""

from dataclasses import replace

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.data import Identity, Log, Warp
from vbks.errors import DataError
from vbks.grammar import parse
from vbks.inference import LocalFit, Mode
from vbks.selection import BeliefSettings, form_belief, log_evidences, log_prior, paper_settings

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
    values = log_evidences(fits, BeliefSettings(members=2))
    np.testing.assert_array_equal(values, [-np.inf, 5.0, 3.0])


def test_log_evidences__different_bounds_are_never_mixed() -> None:
    fits = [make_fit("SE", 1.0), replace(make_fit("LIN", 5.0), bound="collapsed")]
    with pytest.raises(DataError, match="different bounds cannot be compared"):
        log_evidences(fits, BeliefSettings())


@pytest.mark.parametrize("kind", ["vbks", "bayes", "stacking"])
def test_form_belief__failed_candidates_have_none(kind: str) -> None:
    fits = [make_fit("SE", 1.0), make_fit("LIN", 0.0), make_fit("PER", 9.0, status="failed")]
    rng = np.random.default_rng(0)

    def densities() -> Array:
        return np.column_stack([rng.normal(size=(50, 2)), np.full(50, -np.inf)])

    belief = form_belief(fits, BeliefSettings(kind), densities)  # type: ignore[arg-type]
    assert belief.probabilities[2] == 0.0
    assert belief.probabilities.sum() == pytest.approx(1.0)


def test_form_belief__bayes_is_the_posterior() -> None:
    belief = form_belief([make_fit("SE", 2.0), make_fit("LIN", 0.0)], BeliefSettings("bayes"))
    np.testing.assert_allclose(belief.probabilities[0], 1 / (1 + np.exp(-2.0)))


def test_form_belief__pruning_is_a_belief_over_the_best() -> None:
    fits = [make_fit("SE", 2.0), make_fit("LIN", 0.0), make_fit("PER", 1.0)]
    pruned = form_belief(fits, BeliefSettings("bayes", members=2)).probabilities
    alone = form_belief([fits[0], fits[2]], BeliefSettings("bayes")).probabilities
    np.testing.assert_allclose(pruned[[0, 2]], alone)
    assert pruned[1] == 0.0


def test_form_belief__stacking_without_densities_says_so() -> None:
    with pytest.raises(DataError, match="leave-one-out"):
        form_belief([make_fit("SE", 2.0)], BeliefSettings("stacking"))


def test_paper_settings__divide_by_half_the_minibatches() -> None:
    settings = paper_settings(1280, 128)
    assert settings.temperature == 5.0
    assert (settings.kind, settings.members, settings.correction) == ("vbks", 10, "none")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "certain"}, "belief is 'certain', expected one of vbks, bayes, stacking"),
        ({"prior": "flat"}, "prior is 'flat'"),
        ({"members": 0}, "members is 0"),
    ],
)
def test_belief_settings__refuse_what_they_do_not_know(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        BeliefSettings(**settings)  # type: ignore[arg-type]
