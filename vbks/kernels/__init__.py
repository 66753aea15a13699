"""Kernels: formulas and parameters, GPflow kernels, starting values, and the bank."""

from vbks.kernels.bank import Bank, num_traces
from vbks.kernels.families import Family, family_of, register_family, registered_families
from vbks.kernels.layout import Layout, Slot, lay_out
from vbks.kernels.parameters import InputSummary, Normal, Parameter
from vbks.kernels.terms import is_batchable

__all__ = [
    "Bank",
    "Family",
    "InputSummary",
    "Layout",
    "Normal",
    "Parameter",
    "Slot",
    "family_of",
    "is_batchable",
    "lay_out",
    "num_traces",
    "register_family",
    "registered_families",
]
