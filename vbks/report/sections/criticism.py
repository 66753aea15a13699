"""Whether the model can be trusted: a verdict, checks of residuals, and coverage of intervals."""

from __future__ import annotations

from dataclasses import dataclass

from vbks.criticism.criticising import LEVEL, NUM_REPLICATES
from vbks.criticism.result import Criticism
from vbks.report.labels import Labels, printable
from vbks.report.values import Overlay, Points, numbers
from vbks.selection.criticism import criticism_of, sequence_of
from vbks.selection.record import SelectionRecord
from vbks.words.numerals import percent
from vbks.words.phrases import listed

USUAL = 1.96
"""Nineteen of twenty residuals lie within this many standard deviations."""


@dataclass(frozen=True)
class Checked:
    """A check of the residuals, and what it says; the p-value is corrected for all checks."""

    name: str
    sentence: str
    p_value: float
    is_clear: bool


@dataclass(frozen=True)
class Criticised:
    """What speaks against the model, or that nothing does, and what that is told from."""

    verdict: str
    notices: tuple[str, ...]
    """Sentences about what should not be trusted, whatever residuals say."""
    coverage: str
    r2: float
    residuals: Overlay
    checks: tuple[Checked, ...]
    about: str


def criticised(record: SelectionRecord, labels: Labels) -> Criticised:
    """The criticism of a selection, as its method `criticism` has it."""
    found = criticism_of(record, NUM_REPLICATES, LEVEL, seed=0)
    return criticism_shown(found, sequence_of(record).along, labels)


def criticism_shown(found: Criticism, along: int | None, labels: Labels) -> Criticised:
    """A criticism as the report shows it; rows are in order of the input ``along``."""
    table = found.residuals
    positions = table["position"].to_numpy(float) + float(along is None)
    dots = Points(numbers(positions), numbers(table["residual"].to_numpy(float)))
    checks = sorted(found.checks, key=lambda own: (own.is_clear, -own.surprise))
    return Criticised(
        printable(found.verdict),
        tuple(map(printable, found.notices)),
        _coverage(found),
        found.r2,
        Overlay(
            "row" if along is None else labels.inputs[along],
            "residual, in standard deviations",
            "number" if along is None else labels.kinds[along],
            dots,
            has_zero=True,
            usual=USUAL,
        ),
        tuple(
            Checked(own.check, printable(own.sentence), own.adjusted, own.is_clear)
            for own in checks
        ),
        printable(found.about),
    )


def _coverage(found: Criticism) -> str:
    """How many rows lie within the intervals that all others predict; nothing if not known."""
    if not found.coverage:
        return ""
    held = [
        f"{100.0 * own.share:.0f} % lie within their {percent(own.level)} interval"
        for own in found.coverage
    ]
    return (
        f"Of {found.coverage[0].num_rows:,} rows, each predicted from all others, {listed(held)}."
    )
