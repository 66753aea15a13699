"""Kernels: formulas and parameters, GPflow kernels, starting values, and the bank."""

from vbks.kernels.bank.bank import Bank, num_traces
from vbks.kernels.family import Family
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.given import GivenValues
from vbks.kernels.gpflow.bank import GPflowBank, KernelBank, bank_of
from vbks.kernels.gpflow.conversion import assign, read_theta, to_gpflow
from vbks.kernels.gpflow.reading import KernelReading, from_gpflow
from vbks.kernels.layout import Layout, Slot, lay_out
from vbks.kernels.parameters import (
    FixedPrior,
    FlatPrior,
    MixturePrior,
    NormalPrior,
    Parameter,
    Prior,
    StudentTPrior,
)
from vbks.kernels.priors import Priors, slot_priors
from vbks.kernels.registry import family_of, register_family, registered_families
from vbks.kernels.starts.policy import StartPolicy

__all__ = [
    "Bank",
    "Family",
    "FixedPrior",
    "FlatPrior",
    "GPflowBank",
    "GivenValues",
    "KernelBank",
    "KernelReading",
    "Layout",
    "MixturePrior",
    "NormalPrior",
    "Parameter",
    "Prior",
    "Priors",
    "Slot",
    "StartPolicy",
    "StudentTPrior",
    "assign",
    "bank_of",
    "family_of",
    "from_gpflow",
    "lay_out",
    "num_free_parameters",
    "num_traces",
    "read_theta",
    "register_family",
    "registered_families",
    "slot_priors",
    "to_gpflow",
]
