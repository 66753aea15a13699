"""Predictions: GPflow models of fitted candidates, and their averages."""

from vbks.predict.leave_one_out import leave_one_out
from vbks.predict.mixture import KernelMixture
from vbks.predict.model_mixture import ModelMixture
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.predict.models.variational_svgp import VariationalSVGP
from vbks.predict.serving import ServedMixture
from vbks.predict.shifted_mixture import ShiftedMixture

__all__ = [
    "KernelMixture",
    "ModelMixture",
    "ServedMixture",
    "ShiftedMixture",
    "VariationalSVGP",
    "gpflow_model",
    "leave_one_out",
]
