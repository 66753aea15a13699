"""Checks of residuals, each a statistic that is large where something is wrong."""

from vbks.criticism.checks.catalogue import CHECKS
from vbks.criticism.checks.check import Check, Measured

__all__ = ["CHECKS", "Check", "Measured"]
