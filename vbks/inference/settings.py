"""Settings of fits: one value that is checked when it is made, and passed down as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Literal, get_args

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.errors import SettingsError, check_bool, check_one_of, is_real
from vbks.grammar.expression import Expression
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.result import Ascent, Bound, Posterior
from vbks.kernels.given import GivenValues
from vbks.policies import Policies

Inference = Literal["auto", "exact", "collapsed", "stochastic"]
"""How the function is integrated out, or "auto" for what time and memory allow."""

ThetaPrior = Literal["vbks", "flat", "skc"]
"""Our priors of θ, none for maximum likelihood, or the partly improper ones of Kim and Teh."""


@dataclass(frozen=True, eq=False)
class FitSettings:
    """How candidates are fitted, as far as somebody says; None and "auto" leave it open.

    ``inducing`` are inducing inputs [M, D] in standardised units. ``given`` are values of θ of some
    candidates, to be held or to start from. ``restarts`` are starts of each candidate. ``ard`` says
    whether a leaf on several inputs has a lengthscale for each. ``prune`` says whether candidates
    far behind stop early, and ``importance`` whether evidences are found by importance sampling.
    """

    inference: Inference = "auto"
    posterior: Posterior | Literal["auto"] = "auto"
    num_inducing: int | None = None
    batch_size: int | None = None
    ascent: Ascent = "natural"
    likelihood: Likelihood = field(default_factory=Gaussian)
    prior: ThetaPrior = "vbks"
    restarts: int | None = None
    ard: bool = True
    jitter: float | None = None
    inducing: Array | None = None
    given: Mapping[Expression, GivenValues] = field(default_factory=dict)
    prune: bool = True
    importance: bool = False
    memory_limit: int | None = None
    seed: int = 0
    policies: Policies = field(default_factory=Policies)

    def __post_init__(self) -> None:
        check_one_of("inference", self.inference, get_args(Inference))
        check_one_of("posterior", self.posterior, ("auto", *get_args(Posterior)))
        check_one_of("ascent", self.ascent, get_args(Ascent))
        check_one_of("prior", self.prior, get_args(ThetaPrior))
        for name in ("restarts", "batch_size", "num_inducing"):
            check_count(name, getattr(self, name))
        for name in ("prune", "ard", "importance"):
            check_bool(name, getattr(self, name))
        if self.jitter is not None and not (is_real(self.jitter) and self.jitter >= 0):
            raise SettingsError(f"jitter is {self.jitter!r}, expected a number from 0 on.")
        if not isinstance(self.seed, Integral) or self.seed < 0:
            raise SettingsError(f"seed is {self.seed!r}, expected a whole number from 0 on.")
        if not isinstance(self.policies, Policies):
            raise SettingsError(f"policies is {self.policies!r}, expected vbks.Policies(...).")
        if self.memory_limit is not None and not is_real(self.memory_limit):
            raise SettingsError(f"memory_limit is {self.memory_limit!r}, expected bytes.")


@dataclass(frozen=True)
class FitStage:
    """The bound, posterior and inducing points of fits that are compared with each other.

    With ``num_rows``, fits are to about this many of the rows, in runs of neighbours.
    ``importance`` asks for evidences by importance sampling.
    """

    bound: Bound
    posterior: Posterior
    num_inducing: int | None = None
    num_rows: int | None = None
    importance: bool = False

    def part_of(self, rows: TrainingData) -> TrainingData:
        """The rows that fits are to."""
        return rows if self.num_rows is None else rows.in_runs(self.num_rows)

    def of(self, settings: FitSettings) -> FitSettings:
        """Settings of the fits of this stage."""
        return replace(
            settings,
            inference=self.bound,
            posterior=self.posterior,
            num_inducing=self.num_inducing,
            importance=self.importance,
        )


def check_count(name: str, count: object) -> None:
    """Refuse what is given as a number of something and is none."""
    if count is not None and (not isinstance(count, Integral) or count < 1):
        raise SettingsError(f"{name} is {count!r}, expected a whole number from 1 on.")
