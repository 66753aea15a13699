"""Tests of the settings that a selection keeps."""

from __future__ import annotations

import json

import gpflow

from vbks.config import FitConfig
from vbks.grammar.parser import parse
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.settings import FitSettings
from vbks.kernels.given import GivenValues
from vbks.policies import Policies, SearchPolicy
from vbks.search.budget import Budget
from vbks.selection.settings import settings_of


def test_settings__are_plain_and_have_every_policy() -> None:
    policies = Policies(search=SearchPolicy(slack=5.0))
    found = settings_of(FitConfig(fits=FitSettings(seed=3, policies=policies)))
    assert json.loads(json.dumps(found))
    assert (found["seed"], found["policies.search.slack"], found["method"]) == (3, 5.0, "VBKS")
    assert found["likelihood"] == "Gaussian"


def test_settings__name_likelihoods_that_cannot_be_saved() -> None:
    own = make_likelihood(gpflow.likelihoods.StudentT(df=11.0))
    assert settings_of(FitConfig(fits=FitSettings(likelihood=own)))["likelihood"] == own.name


def test_settings__have_mappings_as_pairs() -> None:
    given = {parse("SE"): GivenValues((1.0, 2.0), (1,))}
    found = settings_of(FitConfig(fits=FitSettings(given=given)))["given"]
    assert found == (("SE", (("kind", "GivenValues"), ("theta", (1.0, 2.0)), ("fixed", (1,)))),)


def test_settings__keep_a_preset_and_the_seconds_of_a_budget() -> None:
    found = settings_of(FitConfig(speed="fast", budget=Budget(seconds=2.0)))
    assert (found["preset"], found["budget"]) == ("fast", 2.0)
    assert "budget" not in settings_of(FitConfig(budget=Budget(candidates=3)))
