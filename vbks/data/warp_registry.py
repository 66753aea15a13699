"""Warps by name: those of vbks, and a user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from vbks.data.warp_checks import check_warp
from vbks.data.warps import Identity, Interval, InverseSoftplus, Log, Logit, Warp
from vbks.errors import DataError, SettingsError

MakeWarp = Callable[[float, Interval | None], Warp]
"""Makes a warp for targets of a mean and a range, which is None unless the warp needs it."""

TRIAL_MEAN, TRIAL_RANGE = 1.0, (-1.0, 3.0)
"""The mean and the range of targets for which a warp is made when it is checked."""


class WarpGraph(NamedTuple):
    """A warp's maps for tensors of TensorFlow, each a function of the warp and a tensor."""

    inverse: Callable[[Any, Any], Any]
    """Targets y of z."""
    forward: Callable[[Any, Any], Any]
    """z of targets y."""
    log_slope: Callable[[Any, Any], Any]
    """log dz/dy at targets y."""


@dataclass(frozen=True)
class NamedWarp:
    """A kind of warp that a name stands for."""

    kind: type[Warp]
    make: MakeWarp
    needs_range: bool = False
    """Whether it is made for a range of targets that the user has to give."""
    is_automatic: bool = False
    """Whether ``warps="auto"`` has it, where targets allow it."""
    graph: WarpGraph | None = None
    """Its maps for tensors, which gradients and exports need."""


def _without_arguments(kind: type[Any]) -> MakeWarp:
    return lambda mean, target_range: kind()


def _logit(mean: float, target_range: Interval | None) -> Warp:
    return Logit(*_pair("logit", target_range))


_NAMED: dict[str, NamedWarp] = {
    "identity": NamedWarp(Identity, _without_arguments(Identity), is_automatic=True),
    "log": NamedWarp(Log, _without_arguments(Log), is_automatic=True),
    # The slope of softplus falls as yᵃ with -a = (y/s) / (exp(y/s) - 1), which is 0.58 where y is
    # the scale s, about half way between the 0 of identity and the 1 of log. A scale of one
    # standard deviation would make it a copy of the identity where targets are far from 0, and one
    # of log where they have a long tail.
    "softplus": NamedWarp(
        InverseSoftplus, lambda mean, target_range: InverseSoftplus(float(mean)), is_automatic=True
    ),
    "logit": NamedWarp(Logit, _logit, needs_range=True, is_automatic=True),
}


def register_warp(
    kind: type[Any],
    make: MakeWarp | None = None,
    *,
    needs_range: bool = False,
    is_automatic: bool = False,
    graph: WarpGraph | None = None,
) -> None:
    """Have ``kind.name`` stand for a warp of your own in `vbks.fit(warps=...)` from now on.

    A warp is tried first, and refused if it does not increase, does not map its domain onto the
    whole line, or has another inverse or slope than it says.

    Args:
        kind: a frozen dataclass with the methods of `vbks.data.Warp`, whose fields are numbers:
            these are what a saved selection has of it, and loading needs the same registration.
        make: makes the warp for targets of this mean and range; by default one without arguments.
        needs_range: whether the user has to give ``target_range``.
        is_automatic: whether ``warps="auto"`` has it, where targets allow it.
        graph: its maps for tensors, without which it has no gradients and cannot be exported.
    """
    name = getattr(kind, "name", None)
    if not isinstance(name, str) or not name or name == "auto":
        raise SettingsError(
            f"{name!r} cannot name the warp {kind.__name__}. Give the class a text, such as "
            "name = 'arcsinh'."
        )
    if name in _NAMED:
        raise SettingsError(f"the warp {name!r} exists already. Choose another name.")
    named = NamedWarp(kind, make or _without_arguments(kind), needs_range, is_automatic, graph)
    made = named.make(TRIAL_MEAN, TRIAL_RANGE if needs_range else None)
    if type(made) is not kind:
        raise SettingsError(
            f"make= of the warp {name!r} gives a {type(made).__name__}, not a {kind.__name__}."
        )
    check_warp(made)
    _NAMED[name] = named


def warp_names() -> tuple[str, ...]:
    """Names of all warps, the simplest first."""
    return tuple(_NAMED)


def automatic_warps(has_range: bool) -> tuple[str, ...]:
    """Names of those that are tried where the user names none."""
    named = _NAMED.items()
    return tuple(n for n, w in named if w.is_automatic and (has_range or not w.needs_range))


def graph_of(warp: Warp) -> WarpGraph | None:
    """The maps for tensors that a warp was registered with."""
    known = _NAMED.get(warp.name)
    return known.graph if known is not None and known.kind is type(warp) else None


def make_warp(name: str, mean: float, target_range: Interval | None = None) -> Warp:
    """The warp of a name, for targets with this mean and range."""
    known = _NAMED.get(name) if isinstance(name, str) else None
    if known is None:
        raise DataError(f"unknown warp {name!r}. {_known_sentence()}.")
    return known.make(float(mean), _pair(name, target_range) if known.needs_range else None)


def domain_of(name: str, target_range: Interval | None = None) -> Interval:
    """The targets that a warp takes, known by its name before the mean of targets is."""
    return make_warp(name, TRIAL_MEAN, target_range).domain


def warp_to_values(warp: Warp) -> dict[str, float | str]:
    """The name of a warp and its numbers, to be written to a file."""
    known = _NAMED.get(warp.name)
    if known is None or known.kind is not type(warp):
        raise DataError(
            f"the warp {warp.name!r} cannot be saved: it is not registered. Call "
            "vbks.data.register_warp before fitting."
        )
    return {"name": warp.name, **vars(warp)}


def warp_from_values(values: Mapping[str, object]) -> Warp:
    """The warp that was written with `warp_to_values`."""
    name, numbers = values.get("name"), {k: v for k, v in values.items() if k != "name"}
    known = _NAMED.get(name) if isinstance(name, str) else None
    if known is None or not _are_its_numbers(known.kind, numbers):
        raise DataError(
            f"no warp is described by {dict(values)}. {_known_sentence()}, each with its numbers; "
            "register one of your own by vbks.data.register_warp before loading."
        )
    own: dict[str, Any] = {key: float(value) for key, value in numbers.items()}  # type: ignore[arg-type]
    return known.kind(**own)


def _are_its_numbers(kind: type[Any], numbers: Mapping[str, object]) -> bool:
    is_complete = {own.name for own in fields(kind)} == numbers.keys()
    return is_complete and all(type(value) in (float, int) for value in numbers.values())


def _known_sentence() -> str:
    return f"Known: {', '.join(sorted(_NAMED))}"


def _pair(name: str, target_range: Interval | None) -> Interval:
    if target_range is None:
        raise DataError(
            f"the warp {name!r} needs the ends of the target's range. Give "
            "target_range=(low, high)."
        )
    try:
        low, high = map(float, target_range)
    except (TypeError, ValueError):
        raise DataError(
            f"the ends of the target's range are {target_range!r}, expected two numbers "
            "(low, high)."
        ) from None
    return low, high
