"""The content of a report: all of its texts and numbers, which are also its JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from vbks.backtesting.results import Backtest
from vbks.errors import VbksError
from vbks.report.labels import Labels, labels_of, printable
from vbks.report.sections.belief import Belief, belief_of
from vbks.report.sections.criticism import Criticised, criticised
from vbks.report.sections.effects import Effects, effects_of
from vbks.report.sections.method import Method, method_of
from vbks.report.sections.outlook import Outlook, outlook_of
from vbks.report.sections.parts import Parts, average_of, parts_of
from vbks.report.sections.past import Past, past_of
from vbks.report.sections.properties import PropertyRows, properties_shown
from vbks.report.sections.summary import summary_of
from vbks.report.values import Missing
from vbks.selection.record import SelectionRecord
from vbks.words.phrases import listed

Section = TypeVar("Section")

MOST_NAMES = 3
"""Inputs that a title names one by one."""


@dataclass(frozen=True)
class Report:
    """What a report says, in its order; a section that failed says why in its place."""

    title: str
    target: str
    """What is explained, with its unit."""
    extent: str
    """How many rows there are, and from where to where."""
    summary: tuple[str, ...]
    warnings: tuple[str, ...]
    outlook: Outlook | Effects | Missing
    parts: Parts | Missing
    belief: Belief | Missing
    properties: PropertyRows | Missing
    criticism: Criticised | Missing
    past: Past | Missing
    method: Method | Missing


def report_of(record: SelectionRecord, backtest: Backtest | None = None) -> Report:
    """The report on a selection; none of its sections takes the others with it.

    The backtest is one of `vbks.backtest`. Without it, forecasts of the past are made by the
    selection as it is, where that is cheap.
    """
    labels = labels_of(record)
    outlook: Outlook | Effects | Missing
    if record.num_inputs == 1:
        outlook = attempt(lambda: outlook_of(record, labels))
    else:
        outlook = attempt(lambda: effects_of(record, labels))
    average = cache(lambda: average_of(record))
    parts = attempt(lambda: parts_of(record, labels, average()))
    belief = attempt(lambda: belief_of(record, labels))
    criticism = attempt(lambda: criticised(record, labels))
    return Report(
        title=title_of(labels),
        target=labels.target,
        extent=extent_of(record, labels),
        summary=summary_of(labels, outlook, parts, belief),
        warnings=() if isinstance(criticism, Missing) else criticism.notices,
        outlook=outlook,
        parts=parts,
        belief=belief,
        properties=attempt(lambda: properties_shown(record, labels, average())),
        criticism=criticism,
        past=attempt(lambda: past_of(record, labels, backtest)),
        method=attempt(lambda: method_of(record, labels)),
    )


def brief_report_of(record: SelectionRecord) -> Report:
    """The parts of a report that take no time, for a notebook."""
    labels = labels_of(record)
    belief = attempt(lambda: belief_of(record, labels))
    later = Missing("It is in the whole report: selection.report('report.html').")
    return Report(
        title=title_of(labels),
        target=labels.target,
        extent=extent_of(record, labels),
        summary=summary_of(labels, later, later, belief),
        warnings=(),
        outlook=later,
        parts=later,
        belief=belief,
        properties=later,
        criticism=later,
        past=later,
        method=later,
    )


def attempt(build: Callable[[], Section]) -> Section | Missing:
    """A section, or why there is none: a report is worth more than its weakest section."""
    try:
        return build()
    except VbksError as error:
        return Missing(printable(str(error)))
    except Exception as error:  # what breaks one section must not lose the others
        return Missing(printable(f"{type(error).__name__}: {error}"))


def title_of(labels: Labels) -> str:
    """What is explained by what."""
    names = labels.inputs
    if len(names) > MOST_NAMES:
        return f"{labels.target} explained by {len(names)} inputs"
    return f"{labels.target} by {listed(list(names))}"


def extent_of(record: SelectionRecord, labels: Labels) -> str:
    """How many rows there are and, of one input, from where to where."""
    rows = f"{record.num_rows:,} rows"
    if len(labels.inputs) > 1:
        return f"{rows} · {len(labels.inputs)} inputs"
    low, high = labels.ends[0]
    return f"{rows} · {labels.place(low)} to {labels.place(high)}"
