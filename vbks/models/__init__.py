"""GPflow models: SVGP with a posterior of θ, fitted candidates as models, and mixtures of them."""

from vbks.models.leave_one_out import leave_one_out
from vbks.models.members import gpflow_model
from vbks.models.mixture import KernelMixture
from vbks.models.model_mixture import ModelMixture
from vbks.models.serving import ServedMixture
from vbks.models.shifted_mixture import ShiftedMixture
from vbks.models.variational_svgp import VariationalSVGP

__all__ = [
    "KernelMixture",
    "ModelMixture",
    "ServedMixture",
    "ShiftedMixture",
    "VariationalSVGP",
    "gpflow_model",
    "leave_one_out",
]
