"""Tests of the search methods behind `vbks.fit`, on few rows and with few families."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import vbks
from vbks.arrays import Array
from vbks.errors import GrammarError, SettingsError, VbksError
from vbks.search.methods import (
    ABCD,
    BO,
    CKS,
    METHODS,
    SKC,
    Method,
    RandomSearch,
    method_of,
    register_method,
)
from vbks.search.strategies.acquisition import UpperConfidenceBound

FEW = {"families": ("SE", "LIN"), "restarts": 2, "progress": False}
QUICK: dict[str, Method] = {
    "cks": CKS(max_depth=1),
    "abcd": ABCD(max_depth=1),
    "skc": SKC(max_depth=1),
    "bo": BO(),
    "random": RandomSearch(),
}


@cache
def rows() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 10, 40))
    return X, np.sin(X) + 0.5 * X + 0.1 * rng.normal(size=40)


@cache
def found(name: str) -> vbks.Selection:
    settings: dict[str, Any] = dict(FEW)
    if name in ("bo", "random"):
        settings["budget"] = vbks.Budget(candidates=8)
    if name == "skc":
        settings["num_inducing"] = 20
    return vbks.fit(*rows(), method=QUICK[name], **settings)


@pytest.mark.parametrize("name", sorted(QUICK))
def test_method__chooses_one_kernel_and_predicts_by_it(name: str) -> None:
    selection = found(name)
    assert selection.probabilities.max() == 1.0
    assert {fit.warp.name for fit in selection.fits} == {"identity"}
    X, y = rows()
    mean, variance = selection.predict_y(X)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.3
    assert (variance > 0).all()


@pytest.mark.parametrize("name", sorted(QUICK))
def test_method__keeps_its_path(name: str) -> None:
    path = found(name).search_path
    assert list(path.columns) == ["seconds", "candidates", "expression", "warp", "score"]
    assert len(path) >= 1
    assert path["seconds"].is_monotonic_increasing
    assert path["candidates"].is_monotonic_increasing
    assert path["expression"].iloc[-1] in set(found(name).belief["expression"])


def test_cks__scores_on_its_path_only_rise() -> None:
    selection = found("cks")
    assert selection.search_path["score"].is_monotonic_increasing
    assert selection.search_path["score"].iloc[-1] == -0.5 * selection.belief["bic"].min()


def test_skc__has_intervals_that_hold_the_exact_likelihood() -> None:
    selection = found("skc")
    fits = [fit for fit in selection.fits if fit.status == "fitted"]
    assert all(fit.modes[0].log_likelihood <= fit.upper + 1e-9 for fit in fits)
    X, y = selection.data[fits[0].warp].arrays()
    for fit in fits:
        evidence = vbks.inference.ExactEvidence(X, y, 0.0)
        bank = vbks.Bank([fit.expression])
        exact = float(evidence(bank, fit.theta[np.newaxis, np.newaxis])[0, 0])
        assert fit.elbo - 1e-6 <= exact <= fit.upper + 1e-6


def test_skc__lower_bounds_alone_are_an_option() -> None:
    selection = vbks.fit(*rows(), method=SKC(max_depth=1, uppers=0), num_inducing=20, **FEW)
    assert np.isnan(selection.belief["upper"]).all()


@pytest.mark.parametrize("preconditioner", ["pic", "fic", None])
def test_skc__bounds_are_nearly_the_same_by_any_preconditioner(preconditioner: Any) -> None:
    method = SKC(max_depth=1, uppers=2, preconditioner=preconditioner)
    selection = vbks.fit(*rows(), method=method, num_inducing=20, **FEW)
    usual = found("skc").belief.set_index("expression")["upper"]
    own = selection.belief.set_index("expression")["upper"].dropna()
    assert len(own) >= 2
    np.testing.assert_allclose(own, usual[own.index], atol=0.2)


def test_skc__refuses_an_unknown_preconditioner() -> None:
    with pytest.raises(vbks.SettingsError, match="preconditioner"):
        SKC(preconditioner="jacobi")  # type: ignore[arg-type]


@pytest.mark.parametrize("criterion", ["aic", "aicc", "laplace", "held_out"])
def test_cks__may_go_by_other_criteria(criterion: Any) -> None:
    selection = vbks.fit(*rows(), method=CKS(criterion=criterion, max_depth=1), **FEW)
    best = max(
        (fit for fit in selection.fits if fit.status == "fitted"),
        key=lambda fit: fit.log_evidence(criterion),
    )
    assert selection.best is best
    assert np.isfinite(selection.search_path["score"]).all()


def test_methods__other_beliefs_and_warps_are_for_the_asking() -> None:
    X, y = rows()
    selection = vbks.fit(
        X, np.exp(y), method=CKS(max_depth=1), belief="bayes", warps=("identity", "log"), **FEW
    )
    assert {fit.warp.name for fit in selection.fits} == {"identity", "log"}
    assert (selection.probabilities < 1.0).all()


def test_methods__same_seed_same_answer() -> None:
    settings = {**FEW, "budget": vbks.Budget(candidates=6), "method": "random"}
    one, two = (vbks.fit(*rows(), seed=3, **settings).belief for _ in range(2))
    assert list(one["expression"]) == list(two["expression"])


def test_methods__are_saved_with_their_path(tmp_path: Any) -> None:
    selection = found("skc")
    selection.save(tmp_path / "skc")
    again = vbks.load(tmp_path / "skc")
    assert again.search_steps == selection.search_steps
    np.testing.assert_array_equal(again.belief["upper"], selection.belief["upper"])


def test_methods__unknown_names_and_fixed_spaces_are_refused() -> None:
    with pytest.raises(SettingsError, match="method is 'abc', expected one of vbks, cks"):
        vbks.fit(*rows(), method="abc")
    with pytest.raises(GrammarError, match="makes its own candidates"):
        vbks.fit(*rows(), method="cks", space=vbks.K12)
    with pytest.raises(SettingsError, match="variant is 'best', expected one of accuracy, inter"):
        vbks.fit(*rows(), method=ABCD(variant="best"))  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="batch_size is 0"):
        BO(batch_size=0)
    assert set(METHODS) == {"vbks", *QUICK}


@pytest.mark.usefixtures("scoped_registries")
def test_register_method__makes_a_name_known_once() -> None:
    register_method("cks_aic", lambda: CKS(criterion="aic"))
    assert method_of("cks_aic") == CKS(criterion="aic")
    with pytest.raises(SettingsError, match="the method 'cks_aic' exists already"):
        register_method("cks_aic", CKS)
    with pytest.raises(SettingsError, match="'' is no text"):
        register_method("", CKS)


def test_acquisitions__are_known_by_name_or_given() -> None:
    assert BO(acquisition=UpperConfidenceBound(1.0)).acquisition == UpperConfidenceBound(1.0)
    with pytest.raises(VbksError, match="acquisition is 'entropy', expected one of ei, ucb"):
        BO(acquisition="entropy")
