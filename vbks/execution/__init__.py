"""Execution: where and with which settings candidates are fitted."""

from vbks.execution.workshop import Stage, Workshop

__all__ = ["Stage", "Workshop"]
