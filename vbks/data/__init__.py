"""Rows of data and the units they came in."""

from vbks.data.sources import ArraySource, DatasetSource, Source
from vbks.data.training import TrainingData, prepare
from vbks.data.units import Units

__all__ = ["ArraySource", "DatasetSource", "Source", "TrainingData", "Units", "prepare"]
