"""Answers: what a user holds after a fit, and what can be asked of it."""

from vbks.prediction.selection import Selection
from vbks.prediction.selections import Selections

__all__ = ["Selection", "Selections"]
