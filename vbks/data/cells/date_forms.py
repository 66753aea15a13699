"""The forms in which people write dates, weeks, months and quarters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from vbks.data.cells.months import NUMBERS

TIME = (
    r"(?:(?:\s*,\s*|\s+|T|:)(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}"
    r"(?:[.,]\d+)?))?)?\s*(?P<half>[ap]\.?m\.?)?\s*(?P<zone>Z|UTC|GMT|[-+]\d{2}(?::?\d{2})?)?)?"
)
"""A time of day behind a date, if there is one."""

NAME = "(?P<name>" + "|".join(sorted(map(re.escape, NUMBERS), key=len, reverse=True)) + r")\.?"
"""The name of a month."""

WEEKDAY = r"(?:[^\W\d]{2,10}\.?,?\s+)?"
"""The name of a day before a date, which says nothing more."""

YEAR = r"(?P<year>\d{4}|'?\d{2})"
"""A year of four digits or two."""

QUARTER = r"(?:Q|QTR\s?|T)(?P<quarter>[1-4])"
"""A quarter by its number."""

WEEK = r"(?:W|KW|WK|WEEK)[-\s]?(?P<week>\d{1,2})"
"""A week by its number."""


@dataclass(frozen=True)
class Form:
    """A form of dates by its pattern, and what it is called where dates do not say it."""

    pattern: re.Pattern[str]
    name: str = ""

    @property
    def is_of_two_orders(self) -> bool:
        """Whether the pattern alone does not say what is the day and what the month."""
        return "first" in self.pattern.groupindex


def _form(pattern: str, name: str = "") -> Form:
    return Form(re.compile(pattern, re.IGNORECASE), name)


FORMS = (
    _form(r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})" + TIME),
    _form(r"(?P<year>\d{4})[-/](?P<month>\d{1,2})"),
    _form(r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:[T ](?P<hour>\d\d):?(?P<minute>\d\d)"
          r"(?::?(?P<second>\d\d))?(?P<zone>Z)?)?", "year, month and day in one number"),
    _form(r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_part>\d{1,2})(?P=mark)(?P<year>\d{4})"
          + TIME),
    _form(r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_part>\d{1,2})(?P=mark)(?P<year>\d{2})"
          + TIME),
    _form(r"(?P<month>\d{1,2})[-/.](?P<year>\d{4})", "month/year"),
    _form(r"(?P<year>\d{4})[-/\s]?" + WEEK + r"(?:-?(?P<weekday>[1-7]))?", "ISO weeks"),
    _form(WEEK + r"[-/,\s]+(?P<year>\d{4})", "ISO weeks"),
    _form(r"(?P<year>\d{4})[-/:\s]*" + QUARTER, "quarters"),
    _form(QUARTER + r"[-/,\s]*" + YEAR, "quarters"),
    _form(r"(?P<quarter>[1-4])Q[-/,\s]*" + YEAR, "quarters"),
    _form(WEEKDAY + r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[-/\s]*(?:de\s+)?" + NAME
          + r"[-/,\s]*(?:de\s+)?" + YEAR + TIME, "day, name of the month, year"),
    _form(WEEKDAY + NAME + r"\s*(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:\s*,\s*|\s+)(?P<year>\d{4})"
          + TIME, "name of the month, day, year"),
    _form(NAME + r"[-/,\s]*(?:de\s+)?(?P<year>\d{4})", "names of months"),
    _form(NAME + r"\s*[-/']\s*(?P<year>\d{2})", "names of months and years of two digits"),
    _form(r"(?P<year>\d{4})[-/,\s]*" + NAME + r"(?:[-/,\s]*(?P<day>\d{1,2}))?" + TIME,
          "year, name of the month"),
)  # fmt: skip
"""All forms, those first that others would take for theirs."""

WITHOUT_YEAR = re.compile(
    rf"\d{{1,2}}[-/\s.]*{NAME}|" + NAME.replace("?P<name>", "?:") + r"\s*\d{1,2}", re.IGNORECASE
)
"""Days of a year that is not said."""


def parts_of(form: Form, text: str) -> dict[str, Any] | None:
    """What a text has of the parts of a date, if it is of the form."""
    found = form.pattern.fullmatch(text)
    return None if found is None else found.groupdict()
