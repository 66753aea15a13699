"""Candidates in a few words each: "yearly cycle × growth, slow drift"."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vbks.data.units import Units
from vbks.inference.result import LocalFit
from vbks.kernels.layout import lay_out
from vbks.parts.values import Samples, known_values
from vbks.words import Axes, read


def reading_of(fit: LocalFit, axes: Axes, units: Units) -> str:
    """What a candidate is made of, with periods and lengthscales at the mean of its q(θ).

    One without values, which has failed, is told by its structure alone.
    """
    own = replace(axes, warp=fit.warp.name)
    if not fit.modes:
        return read(fit.expression, own)
    samples = Samples(fit.theta[np.newaxis], np.ones(1))
    layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
    return read(fit.expression, own, known_values(layout, samples, units))
