"""Numbers as a person writes them: rounded, grouped, with "about" where they are not exact."""

from __future__ import annotations

import math

from vbks.words.estimate import Estimate

_LARGE = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def counted(number: int) -> str:
    """A count, in letters up to twelve."""
    return _WORDS[number] if number < len(_WORDS) else str(number)


def decimals_for(value: float, digits: int) -> int:
    """Digits after the point that leave this many significant ones; negative for tens and more."""
    if value == 0:
        return 0
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - exponent)
    return digits - 1 - math.floor(math.log10(abs(rounded)))


def fixed(value: float, decimals: int) -> str:
    """A number with this many digits after the point, in groups of thousands."""
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-5:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa.replace('-', '−')} × 10{str(int(exponent)).translate(_RAISED)}"
    for unit, word in _LARGE:
        if size >= unit:
            shown = min(max(decimals + round(math.log10(unit)), 0), 3)
            return f"{value / unit:,.{shown}f} {word}".replace("-", "−")
    return f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}".replace("-", "−")


def rounded(value: float, digits: int = 2) -> str:
    """A number with this many significant digits, and no zeros at its end that say nothing."""
    return trimmed(fixed(value, decimals_for(value, digits)))


def trimmed(text: str) -> str:
    """A number without zeros at the end of its decimals."""
    number, _, word = text.partition(" ")
    short = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{short} {word}".strip()


def stated(estimate: Estimate) -> str:
    """A number without its interval: exact if it is known well, "about" so much if not."""
    if not estimate.is_precise:
        return f"about {rough(estimate)}"
    return fixed(estimate.value, decimals_for(estimate.value, 3))


def rough(estimate: Estimate) -> str:
    """A number as it is remembered: "9" and not "9.2", unless that is known."""
    return rounded(estimate.value, _digits(estimate))


def remembered(estimate: Estimate) -> str:
    """A number with two digits at most, however well it is known."""
    return rounded(estimate.value, min(_digits(estimate), 2))


def _digits(estimate: Estimate) -> int:
    if estimate.is_precise:
        return 3
    width = estimate.width
    is_known = width is not None and width <= 0.2 * abs(estimate.value)
    return 2 if is_known or not 5 <= abs(estimate.value) < 10 else 1


def ends(estimate: Estimate, decimals: int | None = None) -> tuple[str, str] | None:
    """The ends of an interval, as fine as the number that is told and as tells them apart."""
    width = estimate.width
    if estimate.low is None or estimate.high is None or not width:
        return None
    least = decimals_for(estimate.value, _digits(estimate)) if decimals is None else decimals
    shown = max(least, math.ceil(math.log10(1.5 / width) - 1e-9))
    low, high = fixed(estimate.low, shown), fixed(estimate.high, shown)
    return None if low == high else (low, high)


def interval(estimate: Estimate, unit: str = "") -> str:
    """An interval in brackets after a number, with a space before it; nothing if there is none."""
    both = ends(estimate)
    return f" ({span(*both)}{unit})" if both else ""


def span(low: str, high: str) -> str:
    """From one number to another; with a dash unless it would stand beside a minus."""
    return f"{low} to {high}" if "−" in low + high else f"{low}–{high}"


def percent(share: float) -> str:
    """A share of a whole in percent, told as finely near its ends as matters there."""
    if share < 0.01:
        return "less than 1 %"
    if share > 0.999:
        return "more than 99.9 %"
    return f"{100 * share:.1f} %" if share > 0.99 else f"{100 * share:.0f} %"
