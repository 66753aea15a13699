"""Fitted candidates as GPflow models, with or without their posterior of θ."""

__all__: list[str] = []
