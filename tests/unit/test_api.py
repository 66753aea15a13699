"""Tests of the one call, on data so small that every fit is quick."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import rows

import vbks
from vbks.errors import DataError, GrammarError, SettingsError
from vbks.grammar.expression import num_leaves
from vbks.selection.selection import Selection

SPACE = ("SE", "LIN", "SE * SE", "LIN + PER")


make_rows = partial(
    rows.make_rows, signal=lambda x: 0.5 * x + np.sin(2 * np.pi * x / 1.3), ends=(0.0, 8.0)
)


@pytest.fixture(scope="module")
def selection() -> Selection:
    return vbks.fit(
        *make_rows(), space=SPACE, warps=("identity",), restarts=2, prune=False, progress=False
    )


def test_fit__finds_the_wave_on_a_line(selection: Selection) -> None:
    assert str(selection.best.expression) == "LIN + PER"
    assert selection.probabilities.sum() == pytest.approx(1.0)
    assert len(selection.fits) == len(SPACE)


def test_fit__belief_is_a_table_that_says_what_it_holds(selection: Selection) -> None:
    table = selection.belief
    assert list(table.columns[:8]) == [
        "expression",
        "reading",
        "warp",
        "probability",
        "weight",
        "log_evidence",
        "standard_error",
        "evidence",
    ]
    assert table.loc[0, "expression"] == "LIN + PER"
    shares = ["probability", "weight", "vbks", "bayes", "stacking"]
    np.testing.assert_allclose(table[shares].sum(), 1.0)
    np.testing.assert_array_equal(table["probability"], table["bayes"])
    assert (table["status"] == "fitted").all()
    assert (table["evidence"] == "importance").all()
    assert table["standard_error"].between(0.0, 1.0).all()
    assert table["log_evidence"].is_monotonic_decreasing
    for _, row in table.iterrows():
        fit = selection.fit_of(row["expression"])
        assert row["elbo"] == fit.elbo
        assert row["log_evidence"] == fit.log_evidence()
        assert row["bic"] == pytest.approx(
            -2 * fit.modes[0].log_likelihood + fit.num_free * np.log(fit.num_rows)
        )


def test_elbo__is_there_only_where_it_is_a_bound() -> None:
    selection = vbks.fit(
        *make_rows(), space=("SE", "LIN"), posterior="laplace", restarts=1, progress=False
    )
    assert selection.belief["elbo"].isna().all()


def test_fit__takes_an_own_prior_over_kernels() -> None:
    rows = make_rows()
    settings: dict[str, Any] = {"warps": ("identity",), "restarts": 2, "progress": False}
    space = ("LIN + PER", "LIN + PER + SE")
    plain = vbks.fit(*rows, space=space, **settings)
    odds = plain.probabilities[0] / plain.probabilities[1]
    for prior in ({"PER + LIN": 5.0, space[1]: 1.0}, lambda e: 5.0 if num_leaves(e) == 2 else 1.0):
        own = vbks.fit(*rows, space=space, prior=prior, **settings)
        assert own.probabilities[0] / own.probabilities[1] == pytest.approx(5 * odds, rel=1e-6)
        again = plain.with_belief(prior=prior)
        np.testing.assert_allclose(again.probabilities, own.probabilities)
    with pytest.raises(DataError, match="the space grows to others"):
        vbks.fit(*rows, prior={"SE": 1.0}, **settings)


def test_fit__takes_a_gaussian_prior_of_the_layer() -> None:
    settings = vbks.BeliefSettings("vbks", prior_covariance={("SE", "RQ"): 9.0}, form="mixture")
    selection = vbks.fit(
        *make_rows(), space=("SE", "RQ", "LIN"), warps=("identity",), belief=settings,
        restarts=1, progress=False,
    )  # fmt: skip
    assert selection.kernel_belief.prior_covariance is not None
    assert selection.kernel_belief.prior_covariance[0, 1] == 9.0
    assert selection.correlations().loc["SE", "RQ"] > 0.2


def test_structures__add_up_copies_and_warps() -> None:
    selection = vbks.fit(
        *make_rows(), space=("SE", "SE * SE", "LIN"), warps=("identity",), restarts=1, prune=False,
        progress=False,
    )  # fmt: skip
    table = selection.structures
    assert set(table["structure"]) == {"SE", "LIN"}
    assert table["probability"].sum() == pytest.approx(1.0)
    by_name = dict(zip(table["structure"], table["probability"], strict=True))
    assert by_name["SE"] == pytest.approx(selection.probabilities[:2].sum())


def test_fit__predictions_are_in_the_users_units(selection: Selection) -> None:
    x, y = make_rows()
    mean, variance = selection.predict_y(x)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.2
    assert np.all(variance > 0)
    f_mean, f_variance = selection.predict_f(x)
    np.testing.assert_allclose(f_mean, mean, atol=1e-8)
    assert np.all(f_variance < variance)
    quantiles = selection.predict_quantiles(x)
    assert quantiles.shape == (40, 3)
    assert np.all(np.diff(quantiles, axis=1) > 0)
    assert selection.predict_f_samples(x, 4).shape == (4, 40)
    assert selection.predict_log_density((x, y)).shape == (40,)
    assert selection.predict_f(x[:5], full_cov=True)[1].shape == (5, 5)


def test_fit__a_member_is_a_gpflow_model_with_the_same_predictions(selection: Selection) -> None:
    x, _ = make_rows()
    model, units = selection.model("PER + LIN"), selection.units
    mean, variance = model.predict_y(units.standardise_inputs(x[:, np.newaxis]))
    fit = selection.fit_of("PER + LIN")
    point = replace(
        fit, modes=(replace(fit.modes[0], factor=0.0 * fit.modes[0].factor, weight=1.0),)
    )
    alone = replace(selection, fits=(point,))
    expected = alone.predict_y(x)
    np.testing.assert_allclose(units.restore_targets(mean[:, 0]), expected[0], rtol=1e-8)
    np.testing.assert_allclose(units.restore_variances(variance[:, 0]), expected[1], rtol=1e-8)


def test_fit__the_order_of_candidates_does_not_matter(selection: Selection) -> None:
    other = vbks.fit(
        *make_rows(), space=SPACE[::-1], warps=("identity",), restarts=2, prune=False,
        progress=False,
    )  # fmt: skip
    np.testing.assert_allclose(other.probabilities[::-1], selection.probabilities, atol=1e-6)


def test_fit__growing_with_a_budget_in_candidates_can_be_repeated() -> None:
    rows = make_rows(30)
    settings = {"budget": vbks.Budget(candidates=8), "families": ("SE", "LIN"), "restarts": 1}
    first, second = (vbks.fit(*rows, progress=False, **settings) for _ in range(2))  # type: ignore[arg-type]
    assert len(first.fits) == 8
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    assert "larger budget" in first.notices[-1]
    assert first.untried
    assert first.untried == second.untried


def test_fit__a_tiny_budget_gives_an_answer_and_says_what_was_not_tried() -> None:
    selection = vbks.fit(
        *make_rows(30), space=vbks.K144, warps=("identity",), restarts=1, budget=1e-3,
        progress=False,
    )  # fmt: skip
    assert len(selection.fits) == 4
    assert len(selection.untried) == 140
    assert selection.probabilities.sum() == pytest.approx(1.0)
    assert {fit.posterior for fit in selection.fits} == {"laplace"}
    search, last = selection.notices[-2:]
    names = ", ".join(selection.untried[:3])
    assert f"and 140 more were not: {names} and 137 others. Give a larger budget=" in search
    assert last == "There was no time for final fits, so those of the search are used."


def test_fit__a_budget_that_suffices_changes_nothing(selection: Selection) -> None:
    again = vbks.fit(
        *make_rows(), space=SPACE, warps=("identity",), restarts=2, prune=False, budget=1000.0,
        progress=False,
    )  # fmt: skip
    np.testing.assert_array_equal(again.probabilities, selection.probabilities)
    assert again.untried == selection.untried == ()


def test_fit__multiplicative_data_choose_log() -> None:
    rng = np.random.default_rng(1)
    x = np.linspace(0.0, 6.0, 50)
    y = np.exp(0.6 * x + np.sin(3.0 * x) + 0.15 * rng.normal(size=50))
    selection = vbks.fit(x, y, space=("SE", "LIN"), restarts=2, progress=False)
    assert selection.best.warp.name == "log"
    assert set(selection.belief["warp"]) == {"identity", "log", "softplus"}
    assert np.all(selection.predict_quantiles(x) > 0)


def test_update__the_belief_moves_and_units_stay(selection: Selection) -> None:
    rng = np.random.default_rng(2)
    x = np.linspace(8.1, 10.0, 8)
    y = 0.5 * x + np.sin(2 * np.pi * x / 1.3) + 0.1 * rng.normal(size=8)
    updated = selection.update(x, y)
    assert updated.num_rows == 48
    assert selection.num_rows == 40
    assert updated.units.y_scale == selection.units.y_scale
    assert updated.best.expression == selection.best.expression
    before, after = (np.mean(s.predict_y(x)[1]) for s in (selection, updated))
    assert after < before


def test_update__refuses_rows_of_another_shape(selection: Selection) -> None:
    with pytest.raises(DataError, match="2 inputs, but those before have 1"):
        selection.update(np.ones((3, 2)), np.ones(3))
    with pytest.raises(DataError, match="missing value"):
        selection.update([9.0, np.nan], [1.0, 2.0])


def test_fit__trace_is_a_table_of_beliefs() -> None:
    selection = vbks.fit(
        *make_rows(), space=("SE", "LIN"), warps=("identity",), restarts=1, trace=3, progress=False
    )
    trace = selection.trace
    assert trace is not None
    np.testing.assert_allclose(trace.index, [1 / 3, 2 / 3, 1.0])
    np.testing.assert_allclose(trace.sum(axis=1), 1.0)
    np.testing.assert_array_equal(trace.iloc[-1], selection.probabilities)


def test_trace__has_all_that_were_tried_not_only_what_survived() -> None:
    space = ("LIN", "SE", "RQ", "PER", "OU", "LIN * LIN", "LIN + SE", "LIN * SE", "LIN + PER")
    selection = vbks.fit(
        *make_rows(), space=space, warps=("identity",), restarts=1, trace=2, progress=False
    )
    dropped = {str(fit.expression) for fit in selection.fits if fit.status == "dropped"}
    assert dropped
    assert selection.trace is not None
    assert set(selection.trace.columns.get_level_values("expression")) == set(space)
    np.testing.assert_allclose(selection.trace.sum(axis=1), 1.0)
    # With half of the rows more seemed possible than with all of them.
    early = selection.trace.iloc[0].droplevel("warp")
    assert (
        early[list(dropped)].sum() > selection.trace.iloc[-1].droplevel("warp")[list(dropped)].sum()
    )


def test_pruned__forms_the_belief_again(selection: Selection) -> None:
    pruned = selection.top(2)
    assert np.count_nonzero(pruned.probabilities) == 2
    assert pruned.fits is selection.fits


def test_with_belief__changes_the_averaging(selection: Selection) -> None:
    flat = selection.with_belief("bayes", temperature=1e6)
    np.testing.assert_allclose(sorted(flat.probabilities), [1 / 6, 1 / 6, 1 / 3, 1 / 3], atol=1e-3)
    with pytest.raises(SettingsError, match="unknown setting 'heat'"):
        selection.with_belief("bayes", heat=1.0)


def test_similarity__is_one_with_itself(selection: Selection) -> None:
    table = selection.with_belief("bayes", temperature=1e6).similarity()
    np.testing.assert_allclose(np.diag(table), 1.0)
    np.testing.assert_allclose(table, table.T)


def test_paper_preset__has_the_authors_settings() -> None:
    preset = vbks.PaperSettings(steps=30)
    selection = vbks.fit(*make_rows(), space=("SE", "LIN"), preset=preset, progress=False)
    assert selection.belief_settings.kind == "vbks"
    assert {fit.posterior for fit in selection.fits} == {"point"}
    assert {fit.warp.name for fit in selection.fits} == {"identity"}


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"space": "shrink"}, GrammarError, "space is 'shrink', expected 'grow', 'K12', 'K144' or"),
        ({"space": ()}, GrammarError, "the space is empty"),
        ({"space": ("RBF",)}, GrammarError, "unknown family 'RBF'"),
        ({"method": "luck"}, SettingsError, "method is 'luck', expected one of vbks, cks"),
        ({"preset": "mine"}, SettingsError, "preset is 'mine'"),
        ({"belief": "faith"}, SettingsError, "belief is 'faith'"),
        ({"warps": ("root",)}, DataError, "unknown warp 'root'"),
        ({"budget": -3}, SettingsError, "expected more than 0"),
        ({"inference": "guess"}, SettingsError, "inference is 'guess'"),
    ],
)
def test_fit__refuses_settings_it_does_not_know(
    settings: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        vbks.fit(*make_rows(), progress=False, **settings)  # type: ignore[arg-type]


def test_predictions__refuse_other_inputs(selection: Selection) -> None:
    with pytest.raises(DataError, match="2 columns, but the fit had 1"):
        selection.predict_y(np.ones((3, 2)))


def test_predictions__dates_and_numbers_are_not_mixed() -> None:
    x, y = make_rows(20)
    dates = np.datetime64("2020-01-01") + (30 * x).astype("timedelta64[D]")
    selection = vbks.fit(
        dates,
        pd.Series(y, name="sold"),
        space=("SE",),
        warps=("identity",),
        restarts=1,
        posterior="point",
        progress=False,
    )
    assert selection.target_name == "sold"
    assert selection.predict_y(dates)[0].shape == (20,)
    with pytest.raises(DataError, match="has numbers, but had times"):
        selection.predict_y([2020.5])
    with pytest.raises(DataError, match="has numbers, but had times"):
        selection.update([2020.5], [1.0])


def test_fit_of__names_what_was_not_tried(selection: Selection) -> None:
    with pytest.raises(DataError, match="'RQ' was not tried"):
        selection.model("RQ")
