"""Inference: what the data say about each candidate."""

from vbks.inference.evaluator import Evaluator, fit_candidates
from vbks.inference.learn_inducing import learn_inducing
from vbks.inference.likelihoods.registry import make_likelihood, register_likelihood
from vbks.inference.likelihoods.targets import Domain
from vbks.inference.objectives.evidence import CollapsedEvidence, ExactEvidence
from vbks.inference.objectives.log_posterior import LogPosterior, maximise
from vbks.inference.progress import Progress
from vbks.inference.result import LocalFit, Mode, PruningStep
from vbks.inference.screening import Rung, ScreeningPolicy
from vbks.inference.settings import FitSettings, FitStage
from vbks.inference.svgp.policy import SvgpPolicy

__all__ = [
    "CollapsedEvidence",
    "Domain",
    "Evaluator",
    "ExactEvidence",
    "FitSettings",
    "FitStage",
    "LocalFit",
    "LogPosterior",
    "Mode",
    "Progress",
    "PruningStep",
    "Rung",
    "ScreeningPolicy",
    "SvgpPolicy",
    "fit_candidates",
    "learn_inducing",
    "make_likelihood",
    "maximise",
    "register_likelihood",
]
