"""Tests of the settings of a fit: what is refused, and what tells one call from another."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import gpflow
import numpy as np
import pytest

import vbks
from vbks.config import (
    FitConfig,
    as_in_paper,
    read_belief,
    read_budget,
    read_names,
    read_preset,
    read_space,
)
from vbks.errors import GrammarError, SettingsError
from vbks.execution.devices import Devices
from vbks.execution.fingerprint import NOT_IN_FITS, plain
from vbks.grammar.parser import parse
from vbks.inference.choices import make_context
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.settings import FitSettings
from vbks.kernels.given import GivenValues
from vbks.policies import BudgetPolicy, Policies, ScreeningPolicy, SearchPolicy
from vbks.search.methods import CKS, SKC, VBKS
from vbks.weights.settings import BeliefSettings

SE = parse("SE")

OTHERS: dict[str, Any] = {
    "inference": "exact",
    "posterior": "point",
    "num_inducing": 7,
    "batch_size": 9,
    "ascent": "plain",
    "likelihood": make_likelihood("poisson"),
    "prior": "flat",
    "restarts": 3,
    "ard": False,
    "jitter": 1e-3,
    "inducing": np.ones((3, 1)),
    "given": {SE: GivenValues((0.0, 1.0, 2.0), (1,))},
    "prune": False,
    "importance": True,
    "memory_limit": 2**30,
    "seed": 5,
    "policies": Policies(search=SearchPolicy(slack=5.0)),
    "method": CKS(max_depth=3),
    "space": (SE,),
    "families": ("SE", "LIN"),
    "warps": ("log",),
    "target_range": (0.0, 1.0),
    "preset": vbks.PaperSettings(steps=3),
    "speed": "fast",
    "trace": 2,
    "belief": BeliefSettings(prior="grammar"),
    "targets": "shared",
    "noise_variance": [1.0],
    "mean_function": "linear",
    "budget": vbks.Budget(3.0),
    "callback": print,
    "executor": Devices(),
    "checkpoint": Path("here"),
    "progress": False,
}
"""A value of each setting that is not the usual one."""

FIT_FIELDS = [own.name for own in fields(FitSettings)]
OTHER_FIELDS = [own for own in fields(FitConfig) if own.name != "fits"]


def test_others__has_every_setting() -> None:
    assert sorted(OTHERS) == sorted([*FIT_FIELDS, *(own.name for own in OTHER_FIELDS)])


@pytest.mark.parametrize("name", FIT_FIELDS)
def test_digest__changes_with_every_setting_of_fits(name: str) -> None:
    other = FitConfig(fits=FitSettings(**{name: OTHERS[name]}))
    before, after = FitConfig().digest(), other.digest()
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    assert {key.split(".")[0] for key in changed} == {name}


@pytest.mark.parametrize("own", OTHER_FIELDS, ids=lambda own: own.name)
def test_digest__changes_with_all_that_is_not_marked(own: Any) -> None:
    more = {"preset": vbks.PaperSettings()} if own.name == "callback" else {}
    usual = FitConfig(**more)
    other = FitConfig(**{**more, own.name: OTHERS[own.name]})
    is_marked = own.metadata == NOT_IN_FITS
    assert (usual.digest() == other.digest()) == is_marked


@pytest.mark.parametrize("name", [own.name for own in fields(Policies)])
def test_digest__knows_every_number_of_policies(name: str) -> None:
    digest, policy = FitConfig().digest(), getattr(Policies(), name)
    assert {f"policies.{name}.{own.name}" for own in fields(policy)} <= digest.keys()


def test_digest__only_the_prior_of_a_belief_affects_fits() -> None:
    usual = FitConfig().digest()
    assert FitConfig(belief=BeliefSettings(temperature=3.0)).digest() == usual
    assert FitConfig(belief=BeliefSettings(prior=lambda e: 1.0)).digest() != usual


def test_digest__settings_of_a_method_that_leave_fits_alone_are_not_in_it() -> None:
    waits, goes_on = FitConfig(method=SKC()), FitConfig(method=SKC(wait=False))
    assert waits.digest() == goes_on.digest() != FitConfig(method=SKC(buffer=4)).digest()


def test_plain__refuses_what_it_cannot_tell() -> None:
    class Mine:
        pass

    with pytest.raises(TypeError, match="Mine cannot be told"):
        plain(Mine())


def test_plain__is_what_json_takes() -> None:
    @dataclass(frozen=True)
    class Mine:
        number: float = np.inf
        values: tuple[int, ...] = (1, 2)
        loud: bool = field(default=True, metadata=NOT_IN_FITS)

    assert is_dataclass(Mine)
    assert plain(Mine()) == {"kind": "Mine", "number": "inf", "values": [1, 2]}
    assert plain({SE: np.float64(2.0)}) == {"SE": 2.0}
    assert plain(np.zeros(2)) != plain(np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"executor": "ray"}, r"Write executor=vbks.execution.Ray\(\)"),
        ({"executor": "gpu"}, r"Write executor=vbks.execution.Devices\(\)"),
        ({"trace": -1}, "trace is -1, expected a whole number from 0 on"),
        ({"targets": "both"}, "targets is 'both', expected one of separate, shared"),
        ({"callback": print}, "a callback goes with preset='paper'"),
        ({"noise_variance": [1.0], "method": SKC()}, "'skc' needs upper bounds"),
        ({"mean_function": "linear", "warps": ("log",)}, "which goes with no warp"),
    ],
)
def test_config__refuses_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        FitConfig(**settings)
    assert "\n" not in str(caught.value)


def test_warps__are_those_that_go_with_the_other_settings() -> None:
    assert FitConfig().tried_warps == (None, ())
    assert FitConfig(warps=("log",)).tried_warps == (("log",), ())
    assert FitConfig(method=CKS()).tried_warps == (("identity",), ())
    for settings in ({"noise_variance": [1.0]}, {"space": (gpflow.kernels.SquaredExponential(),)}):
        warps, notices = FitConfig(**settings).tried_warps  # type: ignore[arg-type]
        assert warps == ("identity",)
        assert "no warp was tried" in notices[0]


def test_space__takes_texts_expressions_kernels_and_readings() -> None:
    kernel = gpflow.kernels.SquaredExponential()
    reading = vbks.from_gpflow(kernel)
    found = read_space(["SE", SE, kernel, reading])
    assert found == (SE, SE, kernel, reading)
    assert read_space("grow") is None


def test_space__may_be_a_name_or_a_text() -> None:
    assert read_space("K12") == vbks.K12
    assert read_space("K144") == vbks.K144
    found = read_space("CP(SE, (LIN + PER) * RQ), SE")
    assert found == (vbks.parse("CP(SE, (LIN + PER) * RQ)"), SE)


@pytest.mark.parametrize(
    "space", [SE, gpflow.kernels.White(), vbks.from_gpflow(gpflow.kernels.White())]
)
def test_space__of_one_is_a_list_all_the_same(space: Any) -> None:
    with pytest.raises(GrammarError, match=r"Write space=\["):
        read_space(space)


def test_names__may_be_one() -> None:
    assert read_names("families", "SE") == ("SE",)
    assert read_names("families", ["SE", "LIN"]) == ("SE", "LIN")
    assert read_names("families", None) is None


def test_belief__is_that_of_the_method_unless_one_is_named() -> None:
    def read(method: Any, belief: Any) -> BeliefSettings:
        return read_belief(method, belief, 2.0, "grammar", None, None, 3)

    assert read(VBKS(), None) == BeliefSettings(temperature=2.0, prior="grammar", seed=3)
    assert read(CKS(), None).max_candidates == 1
    assert read(CKS(), "bayes") == read(VBKS(), None)
    assert read(VBKS(), "stacking").weights == "stacking"
    own = BeliefSettings(max_candidates=4)
    assert read(CKS(), own) is own


def test_paper__has_points_and_nothing_else() -> None:
    config = as_in_paper(FitConfig(preset=vbks.PaperSettings()))
    assert config.space == vbks.K144
    assert (config.fits.posterior, config.fits.prune, config.fits.ard) == ("point", False, False)
    full = replace(FitConfig(preset=vbks.PaperSettings()), fits=FitSettings(posterior="full"))
    assert as_in_paper(full).fits.posterior == "full"
    with pytest.raises(SettingsError, match="goes with method vbks"):
        as_in_paper(FitConfig(method=CKS(), preset=vbks.PaperSettings()))


def test_policies__reach_the_contexts_of_fits() -> None:
    policies = Policies(screening=ScreeningPolicy(screening_rows=123))
    context, _ = make_context(
        (np.arange(9.0), np.sin(np.arange(9.0))), 1, FitSettings(policies=policies)
    )
    assert context.screening.screening_rows == 123


def test_presets__are_those_of_the_paper_or_budgets_from_now_on() -> None:
    assert read_preset(None) == (None, None)
    assert read_preset("paper") == (vbks.PaperSettings(), None)
    assert read_preset("fast") == (None, "fast")
    with pytest.raises(SettingsError, match="one of fast, medium, best, paper"):
        read_preset("slow")
    for speed, seconds in (("fast", 2.0), ("medium", 10.0), ("best", 60.0)):
        before = time.perf_counter()
        budget = read_budget(None, speed, BudgetPolicy(), began=-5.0)
        assert (budget.seconds, budget.began >= before) == (seconds, True)
    assert read_budget(7.0, None, BudgetPolicy(), began=-5.0).began == -5.0
    with pytest.raises(SettingsError, match=r"preset='fast' is a budget of 2 s, and budget=7\.0"):
        read_budget(7.0, "fast", BudgetPolicy(), began=0.0)
