"""Notices of what should not be trusted, whatever residuals say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.criticism.coverage import Coverage
from vbks.data.units import SMALLEST_SPREAD
from vbks.errors import GrammarError
from vbks.grammar.expression import Expression, leaves
from vbks.grammar.parser import parse
from vbks.inference.result import LocalFit
from vbks.words.numerals import rounded

CYCLIC = frozenset({"PER", "PER0"})
"""Families whose functions repeat."""

LEAST_R2 = 0.05
"""Means that explain less of the variance say almost nothing."""

STANDARD_ERRORS, LEAST_GAP = 4.0, 0.05
"""Coverage is off if it differs by more than this many standard errors of independent rows, and by
more than this share."""


def cycles_untried(fits: Sequence[LocalFit], untried: Sequence[str]) -> Iterator[str]:
    """A budget that ended before any kernel with a cycle was fitted, though there were some."""
    if any(fit.status == "fitted" and _is_cyclic(fit.expression) for fit in fits):
        return
    left = [text for text in untried if _is_cyclic_text(text)]
    dropped = [fit for fit in fits if fit.status == "dropped" and _is_cyclic(fit.expression)]
    if left and not dropped:
        have = "has" if len(left) == 1 else "have"
        yield (
            "The budget ended before any kernel with a cycle was tried: that nothing repeats is "
            f"not known. Of {len(untried)} kernels that were left out {len(left)} {have} one, such "
            f"as '{left[0]}'. Give a larger budget."
        )


def coverage_off(coverage: Sequence[Coverage]) -> Iterator[str]:
    """Intervals that hold far more or fewer of the rows left out than they should."""
    for own in coverage:
        error = np.sqrt(own.level * (1.0 - own.level) / own.num_rows)
        gap = own.share - own.level
        if abs(gap) > max(STANDARD_ERRORS * error, LEAST_GAP):
            way = "narrow" if gap < 0 else "wide"
            yield (
                f"{100 * own.level:.0f} % intervals hold {100 * own.share:.0f} % of the rows that "
                f"are left out: intervals are too {way}."
            )


def little_explained(r2: float, X: Array, names: Sequence[str]) -> Iterator[str]:
    """Means that explain next to nothing, with the reason if that is inputs without a scale."""
    if not r2 < LEAST_R2:
        return
    widths = np.ptp(X, axis=0)
    tiny = [
        f"{name} varies by {widths[place]:.2g} only, which counts as nothing: give it in larger "
        "units"
        for place, name in enumerate(names)
        if 0.0 < widths[place] <= SMALLEST_SPREAD
    ]
    because = f", since {' and '.join(tiny)}" if tiny else ""
    yield (
        f"The inputs explain almost nothing of the target: R² is {rounded(max(r2, 0.0))}{because}."
    )


def _is_cyclic_text(text: str) -> bool:
    """Whether an untried candidate, which may be followed by its warp, has a cycle."""
    expression, _, _ = text.partition(" of ")
    try:
        return _is_cyclic(parse(expression))
    except GrammarError:
        return False


def _is_cyclic(expression: Expression) -> bool:
    return any(leaf.family in CYCLIC for leaf in leaves(expression))
