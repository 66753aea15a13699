"""What model criticism gives back: plain values, a table, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd

from vbks.arrays import Array
from vbks.criticism.coverage import Coverage
from vbks.criticism.judging import CheckResult
from vbks.printable import printable

MOST_FINDINGS = 3
"""The verdict names up to this many findings, the most surprising first."""

COLUMNS = ("check", "statistic", "p_value", "adjusted_p_value", "verdict", "sentence")
"""The columns of the table of checks."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A function of residuals: values [K] at places [K].

    ``limit`` is what 95 % of data sets of the model stay below everywhere, in size.
    """

    places: Array
    values: Array
    limit: float


@dataclass(frozen=True, eq=False)
class Criticism:
    """What the data say against the models of a selection, and what should not be trusted.

    P-values compare the data with replicates drawn from the models, each treated as if it had been
    fitted, and are uniform where a model is right. ``residuals`` has the rows that were checked, in
    the order ``order_name``: their numbers and positions, errors of predictions one row ahead and
    errors of each row given all others, both over their standard deviations. ``periodogram`` is
    over frequencies, in cycles per unit of the input.
    """

    checks: tuple[CheckResult, ...]
    notices: tuple[str, ...]
    """Sentences about what should not be trusted, whatever the residuals say."""
    coverage: tuple[Coverage, ...]
    """Shares of rows left out that lie within intervals, where that has a closed form."""
    r2: float
    """The share of the variance of the targets that the mean of the function explains."""
    residuals: pd.DataFrame
    autocorrelation: Curve
    periodogram: Curve | None
    order_name: str
    num_replicates: int
    num_rows: int
    """Rows of the data, of which `residuals` may have a part."""
    about: str
    """What residuals are here, and what of it is approximate."""

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """Checks that speak against the models, the most surprising first."""
        found = [check for check in self.checks if not check.is_clear]
        return tuple(sorted(found, key=lambda check: -check.surprise))

    @property
    def p_value(self) -> float:
        """The p-value of all checks together: the smallest, corrected for their number."""
        return min(check.adjusted for check in self.checks)

    @property
    def verdict(self) -> str:
        """One plain sentence."""
        if not self.findings:
            return (
                f"Nothing speaks against this model: the smallest p-value of {len(self.checks)} "
                f"checks, corrected for their number, is {self.p_value:.2g}."
            )
        named = [_continued(check.sentence) for check in self.findings[:MOST_FINDINGS]]
        more = len(self.findings) - len(named)
        others = f"; and {more} more check{'s' * (more > 1)}" if more else ""
        return f"Look at: {'; '.join(named)}{others}."

    @property
    def table(self) -> pd.DataFrame:
        """A row for each check."""
        rows = [
            (c.check, c.statistic, c.p_value, c.adjusted, c.verdict, c.sentence)
            for c in self.checks
        ]
        return pd.DataFrame(rows, columns=COLUMNS)

    def __str__(self) -> str:
        lines = [self.verdict, *(f"Notice: {notice}" for notice in self.notices)]
        lines += [f"  {c.check:15} p = {c.p_value:<6.2g} {c.sentence}" for c in self.checks]
        return "\n".join(map(printable, [*lines, self.about]))

    def _repr_html_(self) -> str:
        notices = "".join(f"<li>{escape(printable(notice))}</li>" for notice in self.notices)
        shown = self.table.assign(sentence=[printable(c.sentence) for c in self.checks])
        table = shown.to_html(index=False, escape=True, float_format="{:.3g}".format)
        said = f"<p><strong>{escape(printable(self.verdict))}</strong></p>"
        return f"{said}<ul>{notices}</ul>{table}<p>{escape(self.about)}</p>"


def _continued(sentence: str) -> str:
    """A sentence within another one."""
    return f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}"
