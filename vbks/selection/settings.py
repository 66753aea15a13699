"""Settings of a fit as its selection keeps them."""

from __future__ import annotations

import math
from dataclasses import replace

from vbks.config import FitConfig
from vbks.execution.fingerprint import Plain
from vbks.inference.likelihoods.likelihood import Gaussian
from vbks.selection.record import PlainValue


def settings_of(config: FitConfig) -> dict[str, PlainValue]:
    """All settings and policies that affect fits, by their names; a likelihood by its own.

    A preset that is a budget is among them, and so are the seconds of a budget.
    """
    named = replace(config, fits=replace(config.fits, likelihood=Gaussian()))
    values = {**named.digest(), "likelihood": config.fits.likelihood.name}
    if config.speed is not None:
        values["preset"] = config.speed
    if config.budget is not None and math.isfinite(config.budget.seconds):
        values["budget"] = config.budget.seconds
    return {name: _value(value) for name, value in values.items()}


def _value(value: Plain) -> PlainValue:
    """Lists as tuples, and mappings as tuples of pairs."""
    if isinstance(value, dict):
        return tuple((name, _value(own)) for name, own in value.items())
    return tuple(map(_value, value)) if isinstance(value, list) else value
