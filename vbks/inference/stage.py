"""What stochastic fits of a chunk of candidates need all along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.candidate import Candidate
from vbks.inference.comparison import Comparison
from vbks.inference.information import expected_information
from vbks.inference.laplace import Laplace, from_precision
from vbks.inference.minibatch import FixedTheta, NaturalParameters
from vbks.inference.posterior import ELEMENTS_AT_ONCE
from vbks.kernels import KernelBank, Priors, bank_of

INFORMATION_ROWS = 256
"""Rows from which the information of all is computed."""

LEAST_BLOCK = 128
"""Rows of a block in passes over all of them at least, for products of matrices to be fast."""


@dataclass(frozen=True)
class StochasticStage:
    """The candidates of a chunk with what all rounds need."""

    comparison: Comparison
    bank: KernelBank
    priors: Priors
    Z: tf.Tensor
    jitter: Array

    @classmethod
    def of(cls, chunk: Sequence[Candidate], comparison: Comparison) -> StochasticStage:
        """The stage of some candidates."""
        bank = bank_of([c.expression for c in chunk], comparison.num_inputs, ard=comparison.ard)
        priors = Priors([comparison.prior_of(layout) for layout in bank.layouts], bank.num_slots)
        jitter = np.array([c.jitter for c in chunk])
        return cls(comparison, bank, priors, tf.constant(comparison.Z), jitter)

    def at(self, theta: Array) -> FixedTheta:
        """The bound at θ [K, S, H]."""
        c = self.comparison
        return FixedTheta(self.bank, theta, self.Z, c.likelihood, c.num_rows, self.jitter)

    def curvature(self, theta: Array, value: Array) -> Laplace:
        """Gaussians from the expected information of all rows and the priors."""
        c = self.comparison
        X, _ = c.data.sample(INFORMATION_ROWS, c.rng("information"))
        information = expected_information(self.bank, theta, X, c.num_rows, c.look_jitter)
        prior = self.priors.precision[:, :, None] * np.eye(theta.shape[1])
        return from_precision(theta, information + prior, value, self.priors)

    def block_size(self, num_samples: int = 1) -> int:
        """Rows of which the kernel matrices of all candidates and samples stay in the cache."""
        numbers_per_row = len(self.bank) * num_samples * len(self.comparison.Z)
        return max(LEAST_BLOCK, ELEMENTS_AT_ONCE // numbers_per_row)

    def no_q(self) -> NaturalParameters:
        """q(v) before any row was seen."""
        return NaturalParameters.prior(len(self.bank), len(self.comparison.Z))
