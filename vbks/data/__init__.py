"""Rows of data, the units they came in and warps of their targets."""

from vbks.data.columns import num_columns, read_columns, read_noise_columns
from vbks.data.files.choosing import FileRows, read_rows
from vbks.data.files.opening import FileTable, open_file
from vbks.data.files.settings import FileSettings
from vbks.data.known_noise import read_noise
from vbks.data.sources import ArraySource, DatasetSource, Source
from vbks.data.tables import Inputs, read_inputs
from vbks.data.training import TrainingData, prepare
from vbks.data.units import Units
from vbks.data.warp_choice import choose_warps
from vbks.data.warp_registry import (
    WarpGraph,
    make_warp,
    register_warp,
    warp_from_values,
    warp_names,
    warp_to_values,
)
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit, Warp

__all__ = [
    "ArraySource",
    "DatasetSource",
    "FileRows",
    "FileSettings",
    "FileTable",
    "Identity",
    "Inputs",
    "InverseSoftplus",
    "Log",
    "Logit",
    "Source",
    "TrainingData",
    "Units",
    "Warp",
    "WarpGraph",
    "choose_warps",
    "make_warp",
    "num_columns",
    "open_file",
    "prepare",
    "read_columns",
    "read_inputs",
    "read_noise",
    "read_noise_columns",
    "read_rows",
    "register_warp",
    "warp_from_values",
    "warp_names",
    "warp_to_values",
]
