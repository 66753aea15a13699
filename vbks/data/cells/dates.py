"""Texts of dates, by the form of all of a column; the order of day and month by evidence."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from vbks.arrays import Mask
from vbks.data.cells.date_forms import FORMS, WITHOUT_YEAR, Form, parts_of
from vbks.data.cells.months import NUMBERS
from vbks.data.cells.readings import Cells, Fault, Reading

FIRST_YEAR_OF_TWO_DIGITS = 69
"""Years of two digits from here on are of the last century, as in POSIX."""

SEEN = 1000
"""With this many texts of ISO 8601 all of a column are tried as such."""

LETTERS = {"yyyy": "%Y", "yy": "%y", "mmmm": "%B", "mmm": "%b", "mm": "%m", "m": "%m"}
LETTERS |= {"dd": "%d", "d": "%d", "hh": "%H", "h": "%H", "nn": "%M", "ss": "%S"}
"""What spreadsheets call the parts of a date, as Python does."""

OPEN = "and no row says whether days or months come first. Say it by --date-format {0} or {1}"
"""Why dates in which no number is above 12 are not read."""

MONTH_AND_YEAR = re.compile(r"(?:0[1-9]|1[0-2])\.(?:1[7-9]|2[01])\d\d")
"""Months with two digits before years."""


def read_dates(texts: Cells, date_format: str | None = None) -> Reading | Fault | None:
    """Texts [N] as instants in UTC, or none where hardly any is a date.

    Texts that are of no form, among others that are, and dates that can be read in two ways are
    faults.
    """
    if date_format is not None:
        return _by_format(texts, date_format)
    if (instants := by_iso(texts)) is not None:
        return Reading(instants)
    best: tuple[Form, list[dict[str, Any] | None]] | None = None
    most = 0.5 * len(texts)
    for form in FORMS:
        if parts_of(form, texts[0]) is None and parts_of(form, texts[-1]) is None:
            continue
        found = [parts_of(form, text) for text in texts]
        count = sum(parts is not None for parts in found)
        if count > most:
            best, most = (form, found), count
        if count == len(texts):
            break
    if best is None:
        has_years = not all(WITHOUT_YEAR.fullmatch(text) for text in texts)
        return None if has_years else Fault(0, "a day without its year. Add the year")
    form, found = best
    for row, parts in enumerate(found):
        if parts is None:
            return Fault(row, "which is no date in the form of the others")
    return _by_form(form, pd.DataFrame(found), texts)


def read_months(texts: Cells) -> Reading | None:
    """Texts [N] such as 01.2014, which numbers are not written as, as months."""
    if not all(MONTH_AND_YEAR.fullmatch(text) for text in texts) or all(
        text[0] == "1" for text in texts
    ):
        return None
    found = pd.to_datetime(pd.Series(texts, dtype=object), format="%m.%Y", utc=True)
    return Reading(found, "as month.year")


def python_format(text: str) -> str:
    """A format of dates such as dd/mm/yyyy as Python has it, %d/%m/%Y; that of Python as it is."""
    if "%" in text:
        return text
    with_minutes = re.sub(r"(?i)(h\W?)mm", r"\1nn", text)
    return re.sub(r"[A-Za-z]+", lambda word: LETTERS.get(word[0].lower(), word[0]), with_minutes)


def by_iso(texts: Cells) -> pd.Series[Any] | None:
    """Texts of ISO 8601 with months or days as instants, quickly; none where one is not."""
    if not are_iso(texts[:SEEN]).all():
        return None
    found = pd.to_datetime(
        pd.Series(texts, dtype=object), format="ISO8601", errors="coerce", utc=True
    )
    return None if found.isna().any() else found


def _by_format(texts: Cells, date_format: str) -> Reading | Fault | None:
    found = pd.to_datetime(
        pd.Series(texts, dtype=object), format=python_format(date_format), errors="coerce", utc=True
    )
    missing = np.flatnonzero(found.isna())
    if len(missing) == len(texts):
        return None
    if len(missing):
        return Fault(int(missing[0]), f"which is not of the format {date_format}")
    return Reading(found, f"as {date_format}")


def _by_form(form: Form, parts: pd.DataFrame, texts: Cells) -> Reading | Fault:
    """Instants of texts that are all of one form."""
    name = form.name
    if form.is_of_two_orders:
        order = _order(parts, texts)
        if isinstance(order, Fault):
            return order
        name = order
        places = dict(zip(re.split(r"\W", order), ("first", "second_part", "year"), strict=True))
        parts = parts.assign(**{name: parts[place] for name, place in places.items()})
    found = _instants(parts)
    wrong = np.flatnonzero(found.isna())
    if len(wrong):
        return Fault(int(wrong[0]), "which is no day of the calendar")
    return Reading(found, name and f"as {name}")


def _order(parts: pd.DataFrame, texts: Cells) -> str | Fault:
    """Which of two numbers is the day: the one that is above 12 in some row."""
    first, second = parts["first"].astype(int), parts["second_part"].astype(int)
    mark = str(parts["mark"].iloc[0])
    above = first > 12, second > 12
    has_years = len(str(parts["year"].iloc[0])) == 2
    if has_years and bool((first > 31).all()):
        return "year/month/day"
    orders = [mark.join(names) for names in (("day", "month", "year"), ("month", "day", "year"))]
    if above[0].any() and above[1].any():
        row, other = int(np.flatnonzero(above[1])[0]), int(np.flatnonzero(above[0])[0])
        return Fault(row, f"and another row has '{texts[other]}': days and months change places")
    if above[0].any() or bool((first == second).all()):
        return orders[0]
    if above[1].any():
        return orders[1]
    if mark == ".":  # nobody writes months first with points
        return orders[0]
    letters = "yy" if has_years else "yyyy"
    shown = [mark.join(names) for names in (("dd", "mm", letters), ("mm", "dd", letters))]
    return Fault(0, OPEN.format(*shown))


def _instants(parts: pd.DataFrame) -> pd.Series[Any]:
    """Instants of the parts of dates, or NaT where there is no such day or time."""
    years = parts["year"].str.lstrip("'").astype(int)
    centuries = np.where(years < FIRST_YEAR_OF_TWO_DIGITS, 2000, 1900)
    years = years.where(years >= 100, years + centuries)
    if "week" in parts:
        return _weeks(years, parts)
    months, days = _numbers(parts, "month", 1), _numbers(parts, "day", 1)
    if "quarter" in parts:
        months = 3 * parts["quarter"].astype(int) - 2
    if "name" in parts:
        months = parts["name"].str.lower().map(NUMBERS)
    fields = {"year": years, "month": months, "day": days}
    found = pd.to_datetime(pd.DataFrame(fields), errors="coerce")
    if "hour" in parts and parts["hour"].notna().any():
        found = found + _times(parts)
        return _in_utc(found, parts.get("zone"))
    return found.dt.tz_localize("UTC")


def _weeks(years: pd.Series[Any], parts: pd.DataFrame) -> pd.Series[Any]:
    """The Mondays of ISO weeks, or the days in them that are named."""
    days = _numbers(parts, "weekday", 1)
    texts = years.astype(str) + "-" + parts["week"].str.zfill(2) + "-" + days.astype(str)
    return pd.Series(pd.to_datetime(texts, format="%G-%V-%u", errors="coerce", utc=True))


def _times(parts: pd.DataFrame) -> pd.Series[Any]:
    """Times of day, NaT where there is none such; 24:00 ends a day."""
    hours, minutes = _numbers(parts, "hour", 0), _numbers(parts, "minute", 0)
    seconds = pd.Series(0.0, parts.index)
    if "second" in parts:
        seconds = parts["second"].str.replace(",", ".").astype(float).fillna(0.0)
    if "half" in parts and parts["half"].notna().any():
        half = parts["half"].str.lower().str.replace(".", "")
        is_sound = half.isna() | hours.between(1, 12)
        hours = hours.where(half.isna(), hours % 12 + 12 * (half == "pm")).where(is_sound, 99)
    total = 3600 * hours + 60 * minutes + seconds
    is_time = (hours < 24) & (minutes < 60) & (seconds < 61) | (total == 86_400)
    return pd.to_timedelta(total.where(is_time), unit="s")


def _in_utc(local: pd.Series[Any], zones: pd.Series[Any] | None) -> pd.Series[Any]:
    """Instants of local times and their distances from UTC, which is meant where none is given."""
    if zones is None:
        return pd.Series(local.dt.tz_localize("UTC"))
    texts = zones.fillna("+00").str.upper().replace({"Z": "+00", "UTC": "+00", "GMT": "+00"})
    digits = texts.str.replace(":", "").str.ljust(5, "0")
    minutes = 60 * digits.str[1:3].astype(int) + digits.str[3:5].astype(int)
    signed = minutes.where(digits.str[0] == "+", -minutes)
    return (local - pd.to_timedelta(signed, unit="min")).dt.tz_localize("UTC")


def _numbers(parts: pd.DataFrame, name: str, missing: int) -> pd.Series[Any]:
    """One of the parts as whole numbers."""
    if name not in parts:
        return pd.Series(missing, parts.index)
    return pd.to_numeric(parts[name]).fillna(missing).astype(int)


ISO = re.compile(
    r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)?)?"
    r"|\d{4}-?W\d\d(?:-?[1-7])?|\d{4}-?Q[1-4]"
)
"""Dates that can be read in one way alone: ISO 8601, and quarters."""


def are_iso(texts: Cells) -> Mask:
    """Which of the texts [N] are dates that begin with the year."""
    return np.fromiter((bool(ISO.fullmatch(text)) for text in texts), bool, len(texts))
