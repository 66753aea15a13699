"""Fits as in the VBKS paper: q(u) and q(θ) by stochastic gradient ascent on minibatches."""

from vbks.inference.paper.settings import PaperSettings

__all__ = ["PaperSettings"]
