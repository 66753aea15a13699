"""What checks say of residuals: of one model, and averaged over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.criticism.checks import CHECKS, Check, Measured
from vbks.criticism.p_values import adjusted, extended, ranked
from vbks.criticism.whitening import Residuals


@dataclass(frozen=True)
class CheckResult:
    """What a check says of the data.

    ``p_value`` is its own; ``adjusted`` holds for all checks together, and is what the verdict goes
    by. ``surprise`` orders findings: minus the decimal logarithm of a p-value that goes on beyond
    the largest replicate.
    """

    check: str
    statistic: float
    p_value: float
    adjusted: float
    surprise: float
    is_clear: bool
    sentence: str

    @property
    def verdict(self) -> str:
        """In a word: "clear", or "look"."""
        return "clear" if self.is_clear else "look"


def judge(
    models: Sequence[tuple[Residuals, float]], level: float, seed: int
) -> tuple[CheckResult, ...]:
    """The checks that can be asked, averaged over models with their weights.

    What speaks against a kernel that few believe in speaks against little.
    """
    tables = [_table(residuals, seed) for residuals, _ in models]
    weights = np.array([weight for _, weight in models])
    checks = [check for check in CHECKS if check.name in tables[0].findings]
    numbers = np.einsum("k,kfc->fc", weights, [table.numbers for table in tables])
    return tuple(
        _result(check, column, tables[0].findings[check.name], level)
        for check, column in zip(checks, numbers.T, strict=True)
    )


@dataclass(frozen=True, eq=False)
class _Table:
    """Statistics, p-values, adjusted p-values and surprises of one model [4, C], and findings."""

    numbers: Array
    findings: dict[str, str]


def _table(residuals: Residuals, seed: int) -> _Table:
    measured: dict[str, Measured] = {}
    for check in CHECKS:
        found = check.measure(residuals)
        if found is not None:
            measured[check.name] = found
    values = np.stack([own.values for own in measured.values()], axis=1)
    p_values = ranked(values, np.random.default_rng(seed))
    apart = extended(values, p_values)
    numbers = np.stack([values[0], p_values[0], adjusted(apart), -np.log10(apart[0])])
    return _Table(numbers, {name: own.finding for name, own in measured.items()})


def _result(check: Check, numbers: Array, finding: str, level: float) -> CheckResult:
    statistic, p_value, adjusted_p_value, surprise = map(float, numbers)
    is_clear = adjusted_p_value > level
    sentence = _begun(check.clear if is_clear else finding)
    return CheckResult(
        check.name, statistic, p_value, adjusted_p_value, surprise, is_clear, sentence
    )


def _begun(sentence: str) -> str:
    """A sentence with a capital and a full stop."""
    return f"{sentence[:1].upper()}{sentence[1:]}."
