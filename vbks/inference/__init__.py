"""Inference: what the data say about each candidate."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vbks.inference.bounds.fourier_features import fourier_features, stochastic_log_det
    from vbks.inference.bounds.sandwich import Bounds, sandwich, sandwich_of
    from vbks.inference.evaluator import Evaluator, fit_candidates
    from vbks.inference.learned_inducing import learn_inducing
    from vbks.inference.likelihoods.registry import (
        likelihood_names,
        make_likelihood,
        register_likelihood,
    )
    from vbks.inference.likelihoods.targets import Domain
    from vbks.inference.objectives.evidence import CollapsedEvidence, ExactEvidence
    from vbks.inference.objectives.log_posterior import LogPosterior, maximise
    from vbks.inference.result import LocalFit, Mode, PruningStep
    from vbks.inference.screening import Rung, ScreeningPolicy
    from vbks.inference.settings import FitSettings, FitStage
    from vbks.inference.svgp.policy import SvgpPolicy

__all__ = [
    "Bounds",
    "CollapsedEvidence",
    "Domain",
    "Evaluator",
    "ExactEvidence",
    "FitSettings",
    "FitStage",
    "LocalFit",
    "LogPosterior",
    "Mode",
    "PruningStep",
    "Rung",
    "ScreeningPolicy",
    "SvgpPolicy",
    "fit_candidates",
    "fourier_features",
    "learn_inducing",
    "likelihood_names",
    "make_likelihood",
    "maximise",
    "register_likelihood",
    "sandwich",
    "sandwich_of",
    "stochastic_log_det",
]

_HOMES = {
    "Bounds": "bounds.sandwich",
    "CollapsedEvidence": "objectives.evidence",
    "Domain": "likelihoods.targets",
    "Evaluator": "evaluator",
    "ExactEvidence": "objectives.evidence",
    "FitSettings": "settings",
    "FitStage": "settings",
    "LocalFit": "result",
    "LogPosterior": "objectives.log_posterior",
    "Mode": "result",
    "PruningStep": "result",
    "Rung": "screening",
    "ScreeningPolicy": "screening",
    "SvgpPolicy": "svgp.policy",
    "fit_candidates": "evaluator",
    "fourier_features": "bounds.fourier_features",
    "learn_inducing": "learned_inducing",
    "likelihood_names": "likelihoods.registry",
    "make_likelihood": "likelihoods.registry",
    "maximise": "objectives.log_posterior",
    "register_likelihood": "likelihoods.registry",
    "sandwich": "bounds.sandwich",
    "sandwich_of": "bounds.sandwich",
    "stochastic_log_det": "bounds.fourier_features",
}
"""Where the names are that are imported when they are first used.

Policies and settings, which all the rest needs, can then be imported without it.
"""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"vbks.inference.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'vbks.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
