"""The steps of a series, found from its rows or read from what was asked for."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
from pandas.tseries.offsets import BaseOffset

from vbks.arrays import Array, Mask
from vbks.data.steps import EvenSteps, MonthSteps, OffsetSteps, Steps, dates
from vbks.errors import DataError, SettingsError

LEAST_ROWS = 3
"""Fewer different inputs than this have no steps that could be compared."""

ROUNDED_NUMBERS, ROUNDED_TIMES = 0.1, 0.05
"""Shares of a step that inputs may be off a grid of even steps: years with two decimals, and days
of a zone in which clocks are changed."""

EXACT = 1e-6
"""Shares of a step below which inputs are on the grid but for rounding."""

USUAL_SHARE = 0.5
"""At least this share of the steps are one period long; others are gaps of several."""

LEAST_WEEKDAYS = 6
"""Fewer dates on weekdays alone may have missed their weekends by chance."""

CALENDAR = {"M": 1, "MONTH": 1, "Q": 3, "QUARTER": 3, "Y": 12, "A": 12, "YEAR": 12}
"""Months of the calendar units that are counted from the dates of the rows."""

EVEN = {"W": 7.0, "WEEK": 7.0, "D": 1.0, "DAY": 1.0, "DAI": 1.0, "H": 1 / 24, "HOUR": 1 / 24}
"""Days of the units that are counted from the last row. Pandas would go on from a Sunday."""

OLD_NAMES = {"T": "min", "S": "s", "MINUTE": "min", "SECOND": "s"}
"""Units that pandas has had other letters for."""

EXAMPLES = "'D', 'B', 'W', 'M', 'Q', 'Y', 'h' or '15min'"


def find_steps(x: Array, *, is_time: bool, freq: Any = None) -> Steps:
    """The steps between inputs [N] in any order, which may be dates as days since 1970.

    ``freq`` says what they are where it is given: a text or an offset of pandas for dates, the
    step for numbers. Without it they have to be even, or those of a calendar; gaps may be in them.
    """
    inputs = np.unique(np.asarray(x, np.float64))
    if freq is not None:
        return _given_steps(freq, inputs) if is_time else _given_number(freq, inputs)
    if len(inputs) < LEAST_ROWS:
        raise DataError(
            f"there are only {len(inputs)} different inputs, from which no steps can be told."
            f"{_advice(is_time)}"
        )
    found = _calendar_steps(dates(inputs)) if is_time else None
    found = found or _even_steps(inputs, is_time)
    if found is None:
        raise DataError(
            f"rows are not evenly spaced: {_spread(inputs, is_time)}.{_advice(is_time)}"
        )
    return found


def _advice(is_time: bool) -> str:
    such = "'D' or 'M'" if is_time else "1.0"
    return f" Say how to go on by freq=, such as {such}, or predict at inputs of your own."


def _spread(inputs: Array, is_time: bool) -> str:
    gaps = np.diff(inputs)
    unit = " days" if is_time else ""
    return f"steps go from {gaps.min():.4g} to {gaps.max():.4g}{unit}, mostly {np.median(gaps):.4g}"


def _calendar_steps(found: pd.DatetimeIndex) -> Steps | None:
    """Months, business days and what else pandas knows, where the dates are in such steps."""
    months = _month_steps(found)
    if months is not None:
        return months
    if _are_business_days(found):
        return OffsetSteps(pd.offsets.BusinessDay())
    name = pd.infer_freq(found)
    offset = None if name is None else pd.tseries.frequencies.to_offset(name)
    if offset is None or isinstance(offset, pd.offsets.Tick | pd.offsets.Week):
        return None
    return OffsetSteps(offset)


def _month_steps(found: pd.DatetimeIndex) -> MonthSteps | None:
    """Steps of months, if all dates are on one day of the month at one time of day."""
    day = _day_of_month(found)
    if day is None:
        return None
    gaps = np.diff(np.asarray(12 * found.year + found.month))
    step = int(np.gcd.reduce(gaps))
    return MonthSteps(step, day) if step and _are_usual(gaps == step) else None


def _day_of_month(found: pd.DatetimeIndex) -> int | None:
    """The day of the month that all dates are on, 31 for the last one."""
    if len(found.normalize().unique()) != len(found) or len(set(found - found.normalize())) > 1:
        return None
    if bool(found.is_month_end.all()):
        return 31
    latest = int(found.day.max())
    return latest if np.all(np.minimum(latest, found.days_in_month) == found.day) else None


def _are_business_days(found: pd.DatetimeIndex) -> bool:
    midnights = found.normalize()
    if len(found) < LEAST_WEEKDAYS or bool((found.dayofweek >= 5).any()):
        return False
    if len(set(found - midnights)) > 1:
        return False
    whole = midnights.to_numpy().astype("datetime64[D]")
    gaps, weekdays = np.diff(whole).astype(int), np.busday_count(whole[:-1], whole[1:])
    return _are_usual(weekdays == 1) and bool(np.any(gaps != weekdays))


def _even_steps(inputs: Array, is_time: bool) -> EvenSteps | None:
    """Steps of one length, with gaps of several; inputs may be rounded a little."""
    gaps = np.diff(inputs)
    usual = float(np.median(gaps))
    counts = np.round(gaps / usual)
    if counts.min() < 1 or not _are_usual(counts == 1):
        return None
    places = np.concatenate([[0.0], np.cumsum(counts)])
    if is_time:
        usual = round(usual * 86_400e6) / 86_400e6
    if np.max(np.abs(inputs - inputs[0] - usual * places)) <= EXACT * usual:
        return EvenSteps(usual, float(inputs[-1]), is_time)
    slope, start = np.polyfit(places, inputs, 1)
    for step in (usual, 1.0 / max(1, round(1.0 / slope)), float(slope)):
        start = float(np.median(inputs - step * places))
        worst = np.max(np.abs(inputs - start - step * places))
        if worst <= (ROUNDED_TIMES if is_time else ROUNDED_NUMBERS) * step:
            return EvenSteps(step, float(inputs[-1]) if is_time else start, is_time)
    return None


def _are_usual(is_one: Mask) -> bool:
    return bool(np.mean(is_one) >= USUAL_SHARE)


def _given_number(freq: Any, inputs: Array) -> Steps:
    try:
        step = float(freq)
    except (TypeError, ValueError):
        step = np.nan
    if not (np.isfinite(step) and step > 0.0) or isinstance(freq, bool):
        raise SettingsError(
            f"freq is {freq!r}, and the input has numbers: expected the step between them, above "
            "zero, such as 1.0."
        )
    return EvenSteps(step, float(inputs[-1]))


def _given_steps(freq: Any, inputs: Array) -> Steps:
    """Steps as they were asked for, from the last date on."""
    if isinstance(freq, str):
        amount, unit = _amount_and_unit(freq)
        if amount and unit in CALENDAR:
            found = dates(inputs)
            day = _day_of_month(found) or int(found[-1].day)
            return MonthSteps(amount * CALENDAR[unit], day)
        if amount and unit in EVEN:
            return EvenSteps(amount * EVEN[unit], float(inputs[-1]), True)
        freq = f"{amount}{OLD_NAMES[unit]}" if amount and unit in OLD_NAMES else freq
    offset = _offset(freq)
    if isinstance(offset, pd.offsets.Tick):
        return EvenSteps(offset.nanos / 86_400e9, float(inputs[-1]), True)
    return OffsetSteps(offset)


def _amount_and_unit(text: str) -> tuple[int, str]:
    """'3M' as 3 and 'M'; 'monthly' and 'months' are months, and 0 says that it is nothing such."""
    match = re.fullmatch(r"\s*(\d*)\s*([A-Za-z]+)\s*", text)
    if match is None:
        return 0, ""
    unit = match[2].upper()
    if len(unit) > 2:
        unit = unit.removesuffix("S").removesuffix("LY")
    return int(match[1] or 1), unit


def _offset(freq: Any) -> BaseOffset:
    """An offset of pandas from whatever stands for one."""
    if isinstance(freq, np.timedelta64 | timedelta):
        freq = pd.offsets.Nano(pd.Timedelta(freq).value)
    offset = None
    if isinstance(freq, str | BaseOffset):
        with warnings.catch_warnings():
            # Old names of pandas' offsets are still read.
            warnings.simplefilter("ignore", FutureWarning)
            with suppress(ValueError):
                offset = pd.tseries.frequencies.to_offset(freq)
    if offset is None or offset.n <= 0:
        raise SettingsError(f"freq is {freq!r}, expected a step of dates such as {EXAMPLES}.")
    return offset
