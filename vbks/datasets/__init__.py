"""Data to try vbks on: two series that come with it, and readers for public files of others."""

from __future__ import annotations

from vbks.datasets.bodc import read_bodc
from vbks.datasets.dataset import Dataset
from vbks.datasets.gefcom import read_gefcom
from vbks.datasets.intel_lab import read_intel_lab
from vbks.datasets.shipped import airline, mauna_loa
from vbks.datasets.swissgrid import read_swissgrid

__all__ = [
    "Dataset",
    "airline",
    "mauna_loa",
    "read_bodc",
    "read_gefcom",
    "read_intel_lab",
    "read_swissgrid",
]
