"""The steps of Newton's method that one candidate's θ takes under a stochastic bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vbks.arrays import Array
from vbks.inference.candidate import Candidate
from vbks.inference.optimise import LEAST_JITTER, MORE_JITTER
from vbks.inference.svgp.policy import SvgpPolicy

MOST_JITTER = 1e-3
"""A candidate whose matrices cannot be factorised has this jitter at most: a numerical constant."""


class NewtonTrajectory:
    """The way of one candidate's θ [H] through the steps of Newton's method.

    It is at rest when a step promises no more than noise alone would. Then it takes a few more,
    ever shorter steps, and their average is the result.
    """

    def __init__(self, candidate: Candidate, theta: Array, policy: SvgpPolicy) -> None:
        self.candidate, self.policy = candidate, policy
        self.theta = self.start = self._before = theta
        self.covariance = np.zeros((len(theta), len(theta)))
        self.is_corrected = False
        self.rests = 0
        self._slope: Array | None = None
        self._highest = -np.inf
        self._total = np.zeros_like(theta)

    @property
    def is_going(self) -> bool:
        """Whether there are steps left to take."""
        return self.rests < self.policy.averaged_steps

    @property
    def result(self) -> Array:
        """Where the trajectory has led: [H]."""
        return self._total / self.rests if self.rests else self.theta

    def ended(self) -> Candidate:
        """The candidate with the result."""
        return replace(
            self.candidate, thetas=np.stack([self.result, self.start]), converged=self.rests > 0
        )

    def numbers(self) -> Array:
        """All that the steps to come depend on, in one row."""
        slope = np.full_like(self.theta, np.nan) if self._slope is None else self._slope
        others = [self.is_corrected, self.rests, self._highest, self.candidate.jitter]
        vectors = (self.theta, self.start, self._before, self._total, slope)
        return np.concatenate([*vectors, self.covariance.ravel(), others])

    def restore(self, numbers: Array) -> None:
        """Be where another trajectory of the same candidate was."""
        H = len(self.theta)
        self.theta, self.start, self._before, self._total, slope = numbers[: 5 * H].reshape(5, H)
        self._slope = None if np.isnan(slope).any() else slope
        self.covariance = numbers[5 * H : -4].reshape(H, H)
        self.is_corrected, self.rests = bool(numbers[-4]), int(numbers[-3])
        self._highest = float(numbers[-2])
        self.candidate = replace(self.candidate, jitter=float(numbers[-1]))

    def step(self, gradient: Array, noise_gain: float, value: float = np.nan) -> None:
        """Move along a gradient [H]; one that is not finite takes back the step before.

        So does a value that has fallen, if it is known, and steps become shorter.
        """
        noise_gain *= len(self.theta)
        if not np.isfinite(gradient).all():
            self._take_back()
            return
        if value < self._highest - self.policy.fallen:
            self.theta, self._slope = self._before, None
            self.covariance = self.policy.shrinkage * self.covariance
            self.is_corrected = True
            self._highest = -np.inf
            return
        self._highest = value
        clear = self.policy.clear_gain * noise_gain
        if 0.5 * float(gradient @ self.covariance @ gradient) > clear:
            self._correct(gradient)
        move = self.covariance @ gradient
        gain = 0.5 * float(gradient @ move)
        move /= 1.0 + self.rests / self.policy.half_length_after
        self._before, self._slope = self.theta, gradient
        self.theta = self.theta + move / max(np.abs(move).max() / self.policy.max_change, 1.0)
        if self.rests or gain < noise_gain:
            self.rests += 1
            self._total += self.theta

    def _correct(self, gradient: Array) -> None:
        """Let the change of the gradient over the last step correct the curvature (BFGS).

        Few inducing points make the bound bend more sharply than the information of rows says.
        """
        if self._slope is None:
            return
        step, change = self.theta - self._before, self._slope - gradient
        product = float(step @ change)
        if product > 1e-8 * np.linalg.norm(step) * np.linalg.norm(change):
            shift = np.eye(len(step)) - np.outer(step, change) / product
            self.covariance = shift @ self.covariance @ shift.T + np.outer(step, step) / product
            self.is_corrected = True

    def _take_back(self) -> None:
        self.theta, self._slope = self._before, None
        now = self.candidate.jitter
        more = max(now, min(max(now, LEAST_JITTER) * MORE_JITTER, MOST_JITTER))
        self.candidate = replace(self.candidate, jitter=more)
