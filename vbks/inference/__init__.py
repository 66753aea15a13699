"""Inference: what the data say about each candidate."""

from vbks.inference.evaluator import Evaluator, fit_candidates
from vbks.inference.learn_inducing import learn_inducing
from vbks.inference.likelihoods.registry import make_likelihood, register_likelihood
from vbks.inference.likelihoods.targets import Domain
from vbks.inference.objectives.evidence import CollapsedEvidence, ExactEvidence
from vbks.inference.objectives.log_posterior import LogPosterior, maximise
from vbks.inference.progress import Progress
from vbks.inference.result import LocalFit, Mode, PruningStep

__all__ = [
    "CollapsedEvidence",
    "Domain",
    "Evaluator",
    "ExactEvidence",
    "LocalFit",
    "LogPosterior",
    "Mode",
    "Progress",
    "PruningStep",
    "fit_candidates",
    "learn_inducing",
    "make_likelihood",
    "maximise",
    "register_likelihood",
]
