"""Figures of the report: pure functions from plain values to SVG with text as text."""
