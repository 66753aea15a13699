"""Rows of data and the units they came in."""

from vbks.data.units import Units

__all__ = ["Units"]
