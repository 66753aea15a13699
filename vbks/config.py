"""Every setting of a fit in one value, checked once when it is made."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from numbers import Integral
from os import PathLike
from typing import Literal, TypeAlias, cast, get_args

from gpflow.kernels import Kernel

from vbks.errors import GrammarError, SettingsError, check_one_of, is_real
from vbks.execution.fingerprint import NOT_IN_FITS, Plain, flat, in_fits, plain_fields
from vbks.execution.work import Executor
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K144, parse_space
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.result import Posterior
from vbks.inference.settings import FitSettings
from vbks.kernels.gpflow.reading import KernelReading
from vbks.policies import BudgetPolicy
from vbks.progress import Progress
from vbks.search.budget import Budget, budget_of
from vbks.search.method import Method
from vbks.search.methods import VBKS
from vbks.search.paper import Callback
from vbks.weights.prior import KernelPrior, check_prior
from vbks.weights.settings import BeliefSettings, Weighting, belief_fields

Member: TypeAlias = Expression | Kernel | KernelReading
"""What a space may have beside texts."""

Space: TypeAlias = str | Sequence[Member | str]
"""Candidates: "grow" starts small and expands what the data favour; or a list of them, or a text
with the name of one or expressions between commas."""

Targets: TypeAlias = Literal["separate", "shared"]
"""How much to believe in kernels: for each of several targets, or for all of them."""

Speed: TypeAlias = Literal["fast", "medium", "best"]
"""Presets that are budgets: fields of `vbks.policies.BudgetPolicy` have their seconds."""

ONE_WARP = (
    "The space has GPflow kernels, whose values are about the targets as they are, so no warp was "
    "tried."
)
"""What is said where warps are left to us and the space has GPflow kernels."""

ONE_WARP_BY_UNITS = (
    "A mean function or known noise is about the targets as they are, so no warp was tried."
)
"""What is said where warps are left to us and there is a mean function or known noise."""

NO_UPPERS = (
    "method '{}' needs upper bounds of likelihoods, which known noise of each row does not go "
    "with. Leave out noise_variance, or choose another method."
)
"""Why known noise is refused by methods that bound likelihoods from above."""


@dataclass(frozen=True, eq=False)
class FitConfig:
    """Every setting of a call of `vbks.fit`, whose arguments have the same names.

    ``fits`` are those of the fits themselves, and ``belief`` is how the belief is formed. Without a
    ``space`` candidates are searched for, without ``warps`` all are tried that go with the data and
    the other settings, and without a ``budget`` the search takes as long as it usually does.
    ``speed`` is the preset that the budget is of, if it is.

    What has no effect on fits is marked: work that is kept in a checkpoint goes on with other
    values of it. ``noise_variance`` and ``mean_function`` are known by the rows that they leave.
    """

    fits: FitSettings = field(default_factory=FitSettings)
    method: Method = field(default_factory=VBKS)
    space: tuple[Member, ...] | None = None
    families: tuple[str, ...] | None = None
    warps: tuple[str, ...] | None = None
    target_range: tuple[float, float] | None = None
    preset: PaperSettings | None = None
    trace: int = 0
    belief: BeliefSettings = field(default_factory=BeliefSettings, metadata=in_fits("prior"))
    targets: Targets = field(default="separate", metadata=NOT_IN_FITS)
    noise_variance: object = field(default=None, metadata=NOT_IN_FITS)
    mean_function: object = field(default=None, metadata=NOT_IN_FITS)
    budget: Budget | None = field(default=None, metadata=NOT_IN_FITS)
    speed: Speed | None = field(default=None, metadata=NOT_IN_FITS)
    callback: Callback | None = field(default=None, metadata=NOT_IN_FITS)
    executor: Executor | None = field(default=None, metadata=NOT_IN_FITS)
    checkpoint: str | PathLike[str] | None = field(default=None, metadata=NOT_IN_FITS)
    progress: bool | Progress = field(default=True, metadata=NOT_IN_FITS)

    def __post_init__(self) -> None:
        check_one_of("targets", self.targets, get_args(Targets))
        if self.families is not None and not self.families:
            raise GrammarError("there are no families to search in. Give at least one.")
        _check_range(self.target_range)
        check_prior(self.belief.prior, is_growing=self.space is None)
        if not isinstance(self.trace, Integral) or self.trace < 0:
            raise SettingsError(f"trace is {self.trace!r}, expected a whole number from 0 on.")
        if self.preset is None and self.callback is not None:
            raise SettingsError(
                "a callback goes with preset='paper'. Leave it out, or use progress=."
            )
        self._check_executor()
        self._check_units()
        if self._has_kernels and len(set(self.warps or ())) > 1:
            raise SettingsError(
                "the values of GPflow kernels go with one warp. Give warps= only one."
            )

    def _check_executor(self) -> None:
        if self.executor is None or hasattr(self.executor, "run"):
            return
        wrote = "Ray()" if str(self.executor).lower() == "ray" else "Devices()"
        raise SettingsError(
            f"executor is {self.executor!r}, expected an object with a method `run`. Write "
            f"executor=vbks.execution.{wrote}."
        )

    def _check_units(self) -> None:
        """Refuse what is about targets as they are where the function is on another scale."""
        likelihood = self.fits.likelihood
        for name in ("noise_variance", "mean_function"):
            if getattr(self, name) is None:
                continue
            if self.preset is not None:
                raise SettingsError(
                    f"{name} is no part of the VBKS paper. Leave out it or preset=."
                )
            if not likelihood.is_gaussian:
                raise SettingsError(
                    f"{name} goes with Gaussian noise, and the likelihood is {likelihood.name}. "
                    "Leave out one of the two."
                )
            if self.warps is not None and {*self.warps} != {"identity"}:
                raise SettingsError(
                    f"{name} is about targets as they are, which goes with no warp. Leave out "
                    "warps=, or give targets after the warp."
                )
        if self.noise_variance is not None and self.method.needs_upper_bounds:
            raise SettingsError(NO_UPPERS.format(self.method.name))

    @property
    def _has_kernels(self) -> bool:
        return any(not isinstance(member, Expression) for member in self.space or ())

    @property
    def tried_warps(self) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
        """Names of the warps that are tried, none for all that the data allow; and why not all."""
        if self.warps is not None:
            return self.warps, ()
        if not self.method.forms_belief or self.preset is not None:
            return ("identity",), ()
        if self._has_kernels:
            return ("identity",), (ONE_WARP,)
        if self.noise_variance is not None or self.mean_function is not None:
            return ("identity",), (ONE_WARP_BY_UNITS,)
        return None if self.fits.likelihood.is_gaussian else ("identity",), ()

    @property
    def expressions(self) -> tuple[Expression, ...] | None:
        """The members of a fixed space, once the kernels among them were read as expressions."""
        if self.space is None:
            return None
        return tuple(member for member in self.space if isinstance(member, Expression))

    def digest(self) -> dict[str, Plain]:
        """All settings that fits depend on, by their names, for the folder that keeps them."""
        found = flat(plain_fields(self))
        return {name.removeprefix("fits."): value for name, value in found.items()}


def _check_range(given: object) -> None:
    """Refuse what is no range of targets."""
    if given is None:
        return
    ends = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if len(ends) != 2 or not all(map(is_real, ends)) or not -inf < ends[0] < ends[1] < inf:
        raise SettingsError(
            f"target_range is {given!r}, expected two numbers, the lower one first, such as "
            "target_range=(0, 100)."
        )


def as_in_paper(config: FitConfig) -> FitConfig:
    """The same with what the VBKS paper has, and with nothing that it does not have."""
    fits = config.fits
    for name, is_other, expected in (
        ("method", config.method != VBKS(), "vbks"),
        ("inference", fits.inference not in ("auto", "stochastic"), "stochastic"),
        (
            "posterior",
            fits.posterior not in ("auto", "point", "full", "diagonal"),
            "point, full or diagonal",
        ),
        ("likelihood", not fits.likelihood.is_gaussian, "gaussian"),
        ("warps", config.warps not in (None, ("identity",)), "identity"),
        ("families", config.families is not None, "none, as the space is fixed"),
    ):
        if is_other:
            raise SettingsError(f"preset='paper' goes with {name} {expected}. Leave out {name}=.")
    known: dict[str, Posterior] = {"full": "full", "diagonal": "diagonal"}
    posterior = known.get(fits.posterior, "point")
    return replace(
        config,
        fits=replace(fits, posterior=posterior, prune=False, ard=False),
        warps=("identity",),
        space=K144 if config.space is None else config.space,
    )


def read_space(space: Space) -> tuple[Member, ...] | None:
    """The members of a fixed space; none if candidates are searched for."""
    if isinstance(space, Kernel | KernelReading | Expression):
        what = "expression" if isinstance(space, Expression) else "kernel"
        raise GrammarError(f"the space is one {what}, expected a list. Write space=[{what}].")
    if isinstance(space, str):
        return None if space == "grow" else parse_space(space)
    if not isinstance(space, Iterable):
        raise GrammarError(f"space is {space!r}, expected 'grow' or a list of expressions.")
    members = tuple(
        member if isinstance(member, Kernel | KernelReading) else parse(member) for member in space
    )
    if not members:
        raise GrammarError("the space is empty. Give at least one expression.")
    return members


def read_names(setting: str, names: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Names as they are given: one of them, or several."""
    if names is None:
        return None
    if not isinstance(names, Iterable):
        raise SettingsError(f"{setting} is {names!r}, expected a name or a list of names.")
    return (names,) if isinstance(names, str) else tuple(names)


def read_preset(preset: str | PaperSettings | None) -> tuple[PaperSettings | None, Speed | None]:
    """The settings of the paper, as they are or from the name of the preset, or how fast it is."""
    if preset is None or isinstance(preset, PaperSettings):
        return preset, None
    check_one_of("preset", preset, (*get_args(Speed), "paper"))
    return (PaperSettings(), None) if preset == "paper" else (None, cast(Speed, preset))


def read_budget(
    budget: float | Budget | None, speed: Speed | None, policy: BudgetPolicy, began: float
) -> Budget | None:
    """The budget that is given, which runs since the call ``began``, or that of a preset.

    The latter begins now, once everything is imported.
    """
    if speed is None:
        return budget_of(budget, began)
    seconds = policy.seconds_of(speed)
    if budget is not None:
        raise SettingsError(
            f"preset='{speed}' is a budget of {seconds:g} s, and budget={budget!r} is another. "
            "Leave out one of the two."
        )
    return budget_of(seconds, time.perf_counter())


def read_belief(
    method: Method,
    belief: str | BeliefSettings | None,
    temperature: float,
    prior: KernelPrior,
    weights: Weighting | None,
    preset: PaperSettings | None,
    seed: int,
) -> BeliefSettings:
    """The belief asked for, or that of the method."""
    if preset is not None and (belief, temperature, weights) != (None, 1.0, None):
        raise SettingsError(
            "preset='paper' goes with belief of its own, which PaperSettings has. Leave belief out."
        )
    if isinstance(belief, BeliefSettings):
        return belief
    asked = replace(
        BeliefSettings(temperature=temperature, prior=prior, seed=seed), **belief_fields(belief)
    )
    if weights is not None:
        asked = replace(asked, weights=weights)
    return method.default_belief(asked) if belief is None else asked
