"""How it was done: all candidates, settings, versions, what was not tried, how to do it again."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from vbks.inference.result import LocalFit
from vbks.report.labels import Labels, printable, told_candidate
from vbks.selection.record import SelectionRecord
from vbks.version import __version__

PACKAGES = ("gpflow", "tensorflow", "numpy", "scipy", "pandas")
"""Packages whose versions may matter to somebody who wants the same numbers."""

MOST_CANDIDATES = 1000
"""The page lists this many candidates; `report.json` has no more, either."""

ARGUMENTS: Mapping[str, object] = {
    "method": "vbks",
    "space": None,
    "families": None,
    "inference": "auto",
    "posterior": "auto",
    "num_inducing": None,
    "batch_size": None,
    "likelihood": "gaussian",
    "warps": None,
    "target_range": None,
    "restarts": None,
    "prune": True,
    "seed": 0,
}
"""Settings that `vbks.fit` takes by the same names, and what they are if nobody gives them."""


@dataclass(frozen=True)
class Candidate:
    """A candidate with what is known of it; what is not known is None."""

    expression: str
    reading: str
    warp: str
    status: str
    probability: float | None
    log_evidence: float | None
    bic: float | None
    parameters: int
    seconds: float
    reason: str


@dataclass(frozen=True)
class Method:
    """Everything that somebody needs who wants to check or repeat the fit."""

    candidates: tuple[Candidate, ...]
    num_candidates: int
    untried: tuple[str, ...]
    notices: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    code: str


def method_of(record: SelectionRecord, labels: Labels) -> Method:
    """How the fit was done."""
    order = sorted(
        range(len(record.fits)),
        key=lambda k: (
            _RANKS[record.fits[k].status],
            -record.probabilities[k],
            -_finite_or(record.fits[k].log_evidence(), -math.inf),
        ),
    )
    candidates = tuple(
        _candidate(record.fits[k], float(record.probabilities[k]), record, labels)
        for k in order[:MOST_CANDIDATES]
    )
    return Method(
        candidates,
        len(record.fits),
        tuple(map(printable, record.untried)),
        tuple(map(printable, record.notices)),
        _settings(record.settings),
        _versions(),
        _code(record),
    )


_RANKS = {"fitted": 0, "dropped": 1, "failed": 2}


def _candidate(
    fit: LocalFit, probability: float, record: SelectionRecord, labels: Labels
) -> Candidate:
    correction = record.belief_settings.correction
    return Candidate(
        str(fit.expression),
        told_candidate(fit, record, labels),
        fit.warp.name,
        fit.status,
        probability if fit.status == "fitted" else None,
        finite(fit.log_evidence(correction)) if fit.modes else None,
        finite(fit.bic),
        fit.num_free,
        fit.seconds,
        printable(fit.reason),
    )


def finite(value: float) -> float | None:
    """The number, or None where it is not known."""
    return float(value) if math.isfinite(value) else None


def _finite_or(value: float, other: float) -> float:
    return value if math.isfinite(value) else other


def _settings(settings: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Settings of the call; numbers that trade time for quality are in the saved selection."""
    left_out = ("fits", "policies", "given", "belief")
    return tuple(
        (name, _shown(value))
        for name, value in settings.items()
        if name not in left_out and not name.startswith("policies.")
    )


def _shown(value: object) -> str:
    if value is None:
        return "default"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return printable(str(value))


def _versions() -> tuple[tuple[str, str], ...]:
    found = [("vbks", __version__), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def _code(record: SelectionRecord) -> str:
    """The call that fits again, as far as settings tell: own objects have only their names."""
    if not record.settings:
        return ""
    settings = {**record.settings, "likelihood": record.likelihood.name}
    for name in ("method", "likelihood"):
        settings[name] = str(settings.get(name, ARGUMENTS[name])).lower()
    given = [
        f"{name}={_literal(settings[name])}"
        for name, usual in ARGUMENTS.items()
        if name in settings and (name == "seed" or settings[name] != usual)
    ]
    return f"import vbks\n\nselection = vbks.fit({', '.join(['X', 'y', *given])})\n"


def _literal(value: object) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
