"""GPflow models: SVGP with a posterior of θ, and fitted candidates as ordinary models."""

from vbks.models.members import gpflow_model
from vbks.models.variational_svgp import VariationalSVGP

__all__ = ["VariationalSVGP", "gpflow_model"]
