"""Kernels: formulas and parameters, GPflow kernels, starting values, and the bank."""

from vbks.kernels.bank.bank import Bank
from vbks.kernels.family import Family
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.gpflow.conversion import assign, read_theta, to_gpflow
from vbks.kernels.gpflow.form import GPflowForm
from vbks.kernels.gpflow.reading import KernelReading, from_gpflow
from vbks.kernels.layout import Layout, Slot, lay_out
from vbks.kernels.parameters import NormalPrior, Parameter
from vbks.kernels.registry import family_of, register_family, registered_families
from vbks.kernels.starts.policy import StartPolicy

__all__ = [
    "Bank",
    "Family",
    "GPflowForm",
    "KernelReading",
    "Layout",
    "NormalPrior",
    "Parameter",
    "Slot",
    "StartPolicy",
    "assign",
    "family_of",
    "from_gpflow",
    "lay_out",
    "num_free_parameters",
    "read_theta",
    "register_family",
    "registered_families",
    "to_gpflow",
]
