"""Weights: how sure to be of each kernel, and what predictions are averaged with."""

from vbks.weights.belief import KernelBelief, bayes_belief
from vbks.weights.forming import form_belief
from vbks.weights.gaussian import vbks_belief
from vbks.weights.prior import KernelPrior
from vbks.weights.settings import BeliefKind, BeliefSettings, Weighting
from vbks.weights.stacking import stacking_belief

__all__ = [
    "BeliefKind",
    "BeliefSettings",
    "KernelBelief",
    "KernelPrior",
    "Weighting",
    "bayes_belief",
    "form_belief",
    "stacking_belief",
    "vbks_belief",
]
