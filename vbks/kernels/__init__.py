"""Kernels: formulas and parameters, GPflow kernels, starting values, and the bank."""

from vbks.kernels.bank import Bank, num_traces
from vbks.kernels.changes import Stretch, stretches
from vbks.kernels.conversion import assign, read_theta, to_gpflow
from vbks.kernels.families import Family
from vbks.kernels.first_steps import start_scales
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.given import GivenValues
from vbks.kernels.gpflow_bank import GPflowBank, KernelBank, bank_of
from vbks.kernels.inheritance import Parent
from vbks.kernels.layout import Layout, Slot, lay_out
from vbks.kernels.moved_changes import moved_changes
from vbks.kernels.moved_lines import moved_lines
from vbks.kernels.moved_periods import moved_periods
from vbks.kernels.parameters import (
    Fixed,
    Flat,
    InputSummary,
    Mixture,
    Normal,
    Parameter,
    Prior,
    StudentT,
)
from vbks.kernels.periodogram import period_candidates
from vbks.kernels.precision import check_precision
from vbks.kernels.priors import Priors, slot_priors
from vbks.kernels.reading import KernelReading, from_gpflow, read_standardised
from vbks.kernels.registry import family_of, register_family, registered_families
from vbks.kernels.starts import candidate_rng, draw_starts, halved_periods, long_to_short
from vbks.kernels.suggestions import num_waves
from vbks.kernels.summaries import measure_inputs, summarise_inputs
from vbks.kernels.terms import is_batchable

__all__ = [
    "Bank",
    "Family",
    "Fixed",
    "Flat",
    "GPflowBank",
    "GivenValues",
    "InputSummary",
    "KernelBank",
    "KernelReading",
    "Layout",
    "Mixture",
    "Normal",
    "Parameter",
    "Parent",
    "Prior",
    "Priors",
    "Slot",
    "Stretch",
    "StudentT",
    "assign",
    "bank_of",
    "candidate_rng",
    "check_precision",
    "draw_starts",
    "family_of",
    "from_gpflow",
    "halved_periods",
    "is_batchable",
    "lay_out",
    "long_to_short",
    "measure_inputs",
    "moved_changes",
    "moved_lines",
    "moved_periods",
    "num_free_parameters",
    "num_traces",
    "num_waves",
    "period_candidates",
    "read_standardised",
    "read_theta",
    "register_family",
    "registered_families",
    "slot_priors",
    "start_scales",
    "stretches",
    "summarise_inputs",
    "to_gpflow",
]
