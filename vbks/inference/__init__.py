"""Inference: what the data say about each candidate."""

from vbks.inference.evidence import CollapsedEvidence, ExactEvidence
from vbks.inference.laplace import Laplace, approximate
from vbks.inference.posterior import LogPosterior, maximise
from vbks.inference.quasi_newton import Minimum, minimise

__all__ = [
    "CollapsedEvidence",
    "ExactEvidence",
    "Laplace",
    "LogPosterior",
    "Minimum",
    "approximate",
    "maximise",
    "minimise",
]
