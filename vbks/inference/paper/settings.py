"""The settings of the VBKS paper: what its text and its authors' program do, to be changed."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Literal, get_args

from vbks.errors import SettingsError, check_one_of

Optimiser = Literal["adam", "sga"]
"""Adam, or plain stochastic gradient ascent."""

ThetaPrior = Literal["vbks", "flat"]
"""Our priors of θ, or the same ten times wider. The paper names none."""

LEARNING_RATES: dict[Optimiser, float] = {"adam": 1e-3, "sga": 1e-6}
"""Adam's own default, as the authors have it. A plain step of q(u) is stable up to about twice the
jitter of Kuu, since u is not whitened."""

BATCH_SIZE = 128
"""Minibatches have this many rows in the experiments of the paper, or half of all if there are
fewer."""

VALUE_BATCHES = 100
"""The authors average a local ELBO over at least this many minibatches."""


@dataclass(frozen=True)
class PaperSettings:
    """How kernels are selected as in the VBKS paper (Teng et al., 2020), with its authors' numbers.

    Args:
        steps: minibatches, and steps of all variables; the authors take 30 times 500.
        optimiser: "adam", or "sga" for plain stochastic gradient ascent.
        learning_rate: of each step; that of `LEARNING_RATES` by default.
        num_samples: samples of u, and of θ if it has a width, in each step.
        sample_inducing: whether u is sampled, as the paper has it, or integrated out, which is the
            same bound with less noise.
        value_batches: minibatches over which a local ELBO is averaged; max(100, N/B/2) by default.
        value_samples: samples of θ over which it is averaged.
        theta_prior: p(θ), of which the paper says nothing: "vbks" for ours, or "flat". A point
            estimate goes without.
        belief_variance: prior variance of g in the belief.
        averaging_variance: prior variance of g in the weights that predictions are averaged with.
        max_averaged: how many of the best predictions are averaged over, with q(g) optimised again.
        temperature: local ELBOs are divided by it; by half the number of minibatches by default.
        every: steps between two calls of a callback, and two records of the belief.
    """

    steps: int = 15_000
    optimiser: Optimiser = "adam"
    learning_rate: float | None = None
    num_samples: int = 4
    sample_inducing: bool = True
    value_batches: int | None = None
    value_samples: int = 32
    theta_prior: ThetaPrior = "vbks"
    belief_variance: float = 0.1
    averaging_variance: float = 0.5
    max_averaged: int = 10
    temperature: float | None = None
    every: int = 500

    def __post_init__(self) -> None:
        check_one_of("optimiser", self.optimiser, get_args(Optimiser))
        check_one_of("theta_prior", self.theta_prior, get_args(ThetaPrior))
        for name in (
            "steps",
            "num_samples",
            "value_batches",
            "value_samples",
            "max_averaged",
            "every",
        ):
            count = getattr(self, name)
            if count is None:
                continue
            if not isinstance(count, Integral) or count < 1:
                raise SettingsError(f"{name} is {count!r}, expected a whole number from 1 on.")
            object.__setattr__(self, name, int(count))
        for name in ("learning_rate", "belief_variance", "averaging_variance", "temperature"):
            number = getattr(self, name)
            if number is not None and not 0 < number < float("inf"):
                raise SettingsError(f"{name} is {number!r}, expected a number above 0.")

    @property
    def rate(self) -> float:
        """The learning rate."""
        return self.learning_rate or LEARNING_RATES[self.optimiser]

    def temperature_of(self, num_rows: int, batch_size: int) -> float:
        """What local ELBOs are divided by: half the number of minibatches, but one at least."""
        return self.temperature or max(1.0, 0.5 * num_rows / batch_size)

    def value_batches_of(self, num_rows: int, batch_size: int) -> int:
        """Minibatches over which local ELBOs are averaged."""
        return self.value_batches or max(VALUE_BATCHES, num_rows // batch_size // 2)


def batch_size_of(num_rows: int, wanted: int | None) -> int:
    """Rows of a minibatch, which are fewer than there are."""
    if wanted is None:
        return min(BATCH_SIZE, max(1, num_rows // 2))
    if wanted >= num_rows:
        raise SettingsError(
            f"batch_size is {wanted}, but there are {num_rows} rows. The paper has minibatches: "
            "give fewer rows than there are."
        )
    return wanted
