"""What stochastic fits of a chunk of candidates need all along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.approximations.information import expected_information, parameter_information
from vbks.inference.approximations.laplace import Laplace, from_precision
from vbks.inference.candidate import Candidate
from vbks.inference.context import FitContext
from vbks.inference.objectives.log_posterior import ELEMENTS_AT_ONCE
from vbks.inference.objectives.natural_parameters import NaturalParameters
from vbks.inference.objectives.svgp import FixedTheta
from vbks.inference.seeds import Seed
from vbks.kernels.gpflow.bank import KernelBank, bank_of
from vbks.kernels.layout import NOISE_SLOT
from vbks.kernels.priors import Priors

LEAST_CURVATURE = 1e-6
"""A row's likelihood has at least this curvature, and is all but ignored with it: a numerical
constant."""

LEAST_BLOCK = 128
"""A block in passes over all rows has at least this many, for products of matrices to be fast: a
constant of the implementation."""


@dataclass(frozen=True)
class StochasticStage:
    """The candidates of a chunk with what all steps need."""

    context: FitContext
    bank: KernelBank
    priors: Priors
    Z: tf.Tensor
    jitter: Array

    @classmethod
    def of(cls, chunk: Sequence[Candidate], context: FitContext) -> StochasticStage:
        """The stage of some candidates."""
        bank = bank_of([c.expression for c in chunk], context.num_inputs, ard=context.ard)
        priors = Priors([context.final_priors(layout) for layout in bank.layouts], bank.num_slots)
        jitter = np.array([c.jitter for c in chunk])
        return cls(context, bank, priors, tf.constant(context.Z), jitter)

    def repeated(self, num: int) -> StochasticStage:
        """The stage in which every candidate is there several times, one after the other."""
        expressions = [layout.expression for layout in self.bank.layouts for _ in range(num)]
        c = self.context
        bank = bank_of(expressions, c.num_inputs, ard=c.ard)
        return replace(self, bank=bank, jitter=np.repeat(self.jitter, num))

    def at(self, theta: Array) -> FixedTheta:
        """The bound at θ [K, S, H]."""
        c = self.context
        return FixedTheta(self.bank, theta, self.Z, c.likelihood, c.num_rows, self.jitter)

    def curvature(self, theta: Array, value: Array, q: NaturalParameters) -> Laplace:
        """Gaussians from the expected information of all rows and the priors."""
        c = self.context
        X, y = c.data.sample(c.svgp.information_rows, c.rng(Seed.INFORMATION_ROWS))
        noise, about_parameter = None, np.zeros(len(theta))
        if not c.likelihood.is_gaussian:
            noise, about_parameter = self._noise(theta, X, y, q)
        information = expected_information(
            self.bank, theta, X, c.num_rows, c.screening_jitter, noise
        )
        information[:, NOISE_SLOT, NOISE_SLOT] += c.num_rows / len(y) * about_parameter
        prior = self.priors.precision[:, :, None] * np.eye(theta.shape[1])
        return from_precision(theta, information + prior, value, self.priors)

    def _noise(self, theta: Array, X: Array, y: Array, q: NaturalParameters) -> tuple[Array, Array]:
        """Variances of Gaussian noise that would tell as much as each row does [K, n], and what
        the rows tell about the likelihood's own parameter [K]."""
        here = self.at(theta[:, np.newaxis]).marginals(X, q.moments())
        mean, variance, noise = (part[:, 0] for part in here)
        likelihood, targets = self.context.likelihood, tf.constant(y)
        e = likelihood.expectations(targets, mean, variance, noise)
        curvature = np.maximum(-2.0 * e.by_variance.numpy(), LEAST_CURVATURE)
        about_parameter = parameter_information(likelihood, targets, mean, variance, noise)
        return 1.0 / curvature, about_parameter

    def block_size(self, num_samples: int = 1) -> int:
        """Rows of which the kernel matrices of all candidates and samples stay in the cache."""
        numbers_per_row = len(self.bank) * num_samples * len(self.context.Z)
        return max(LEAST_BLOCK, ELEMENTS_AT_ONCE // numbers_per_row)

    def no_q(self) -> NaturalParameters:
        """q(v) before any row was seen."""
        return NaturalParameters.prior(len(self.bank), len(self.context.Z))
