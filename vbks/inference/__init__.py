"""Inference: what the data say about each candidate."""

from vbks.inference.evaluator import Evaluator, fit_candidates
from vbks.inference.evidence import CollapsedEvidence, ExactEvidence
from vbks.inference.inducing import choose_inducing
from vbks.inference.laplace import Laplace, approximate
from vbks.inference.learning import learn_inducing
from vbks.inference.likelihoods import make_likelihood
from vbks.inference.local_fit import InducingPosterior, LocalFit, Mode, RaceStep
from vbks.inference.minibatch import FixedTheta, NaturalParameters
from vbks.inference.posterior import LogPosterior, maximise
from vbks.inference.progress import Progress
from vbks.inference.quasi_newton import Minimum, minimise

__all__ = [
    "CollapsedEvidence",
    "Evaluator",
    "ExactEvidence",
    "FixedTheta",
    "InducingPosterior",
    "Laplace",
    "LocalFit",
    "LogPosterior",
    "Minimum",
    "Mode",
    "NaturalParameters",
    "Progress",
    "RaceStep",
    "approximate",
    "choose_inducing",
    "fit_candidates",
    "learn_inducing",
    "make_likelihood",
    "maximise",
    "minimise",
]
