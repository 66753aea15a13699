"""A user's own families in files: which have to be registered before a file is read.

A formula cannot be saved, so a file says the names of families and their parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vbks.errors import FileError
from vbks.grammar.expression import Expression, leaves
from vbks.kernels.family import Family
from vbks.kernels.registry import own_families
from vbks.storage.codec import Codec, Kind
from vbks.storage.records import Packing, Record, Unpacking


@dataclass(frozen=True)
class SavedParameter:
    """What is saved of a parameter: what decides about the numbers of θ and their priors."""

    name: str
    mean: float
    sd: float
    positive: bool
    per_input: bool

    @property
    def call(self) -> str:
        """How it is written in a program."""
        positive = "" if self.positive else ", positive=False"
        per_input = ", per_input=True" if self.per_input else ""
        prior = f"NormalPrior({self.mean}, {self.sd})"
        return f"Parameter({self.name!r}, {prior}{positive}{per_input})"


@dataclass(frozen=True)
class SavedFamily:
    """What is saved of a family: all but its formula, and what only starts and rules need."""

    name: str
    stationary: bool
    parameters: tuple[SavedParameter, ...]

    @classmethod
    def of(cls, family: Family) -> SavedFamily:
        """What is to be saved of a family."""
        parameters = (
            SavedParameter(p.name, p.prior.mean, p.prior.sd, p.positive, p.per_input)
            for p in family.parameters
        )
        return cls(family.name, family.stationary, tuple(parameters))

    @property
    def call(self) -> str:
        """The call that registers it, in one line."""
        parameters = ", ".join(parameter.call for parameter in self.parameters)
        stationary = ", stationary=True" if self.stationary else ""
        return f"vbks.register_family({self.name!r}, formula, [{parameters}]{stationary})"


@dataclass(frozen=True)
class SavedFamilies:
    """All families of a user's own that a file needs."""

    families: tuple[SavedFamily, ...]


_CODEC = Codec(
    (
        Kind(SavedFamilies),
        Kind(SavedFamily, noun="family"),
        Kind(SavedParameter, noun="parameter", finite=("mean", "sd")),
    ),
    {},
)


def encode_families(expressions: Iterable[Expression]) -> dict[str, Any]:
    """The families of a user's own that occur in expressions, each once."""
    known = own_families()
    names = {leaf.family for expression in expressions for leaf in leaves(expression)}
    own = tuple(SavedFamily.of(known[name]) for name in sorted(names & known.keys()))
    return _CODEC.encode(SavedFamilies(own), Packing(()))


def check_families(record: Record) -> None:
    """Refuse a file whose families are not registered here, or are others of the same names."""
    needed = _CODEC.decode(SavedFamilies, record, Unpacking({}, record.place))
    known = own_families()
    for family in needed.families:
        if family.name not in known:
            raise FileError(
                f"{record.place} needs the family {family.name!r}, which is not registered. "
                f"Call {family.call} with its formula first."
            )
        registered = SavedFamily.of(known[family.name])
        if registered != family:
            raise FileError(
                f"{record.place} needs another family {family.name!r} than the one that is "
                f"registered, by {registered.call}. Call {family.call} with its formula first."
            )
