"""Texts of numbers, with decimal commas, thousands, percent and currency signs, and brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from vbks.arrays import Array, Mask
from vbks.data.cells.readings import Cells, Fault, Reading

Decimal: TypeAlias = Literal[".", ","]
"""What stands before the decimals of a number."""

CURRENCY = r"(?:[€$£¥₹₩₽₺₪₴฿]|R\$|US\$|CHF|EUR|USD|GBP|JPY|SEK|NOK|DKK|PLN|CZK|kr\.?|zł|Fr\.|Kč|Ft)"
"""Signs and letters of currencies, before or behind an amount."""

NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+−–]?)\s*(?P<before>{CURRENCY})?\s*(?P<inner>[-+−]?)\s*"
    r"(?P<core>\d[\d.,'’ ]*|[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"\s*(?P<after>%|{CURRENCY})?\s*(?P<behind>[-−]?)\s*(?P<close>\))?"
)
"""A number with what may stand around it."""

DECIMALS: dict[Decimal, re.Pattern[str]] = {
    ".": re.compile(
        r"\d+\.?|\d*\.\d+|[1-9]\d{0,2}(?:(?:,\d{2,3})*,\d{3}|(?:[ '’]\d{3})+)(?:\.\d*)?"
    ),
    ",": re.compile(r"\d+,?|\d*,\d+|[1-9]\d{0,2}(?:[. '’]\d{3})+(?:,\d*)?"),
}
"""Digits as they are written with a decimal point, and with a decimal comma."""

OPEN = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
"""Digits that may be thousands or have three decimals."""

CERTAIN_POINTS = 1000
"""Among this many cells one is looked for whose decimal point cannot stand between thousands."""

YES_AND_NO = {
    "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "wahr": 1.0, "falsch": 0.0, "ja": 1.0,
    "nein": 0.0, "vrai": 1.0, "faux": 0.0, "oui": 1.0, "non": 0.0, "t": 1.0, "f": 0.0,
    "y": 1.0, "n": 0.0,
}  # fmt: skip
"""Truth values by their texts in small letters."""

TRUTH = "as 1 where it is so and 0 where not"
"""How truth values are read."""


@dataclass(frozen=True)
class NumberTexts:
    """Texts [N] taken apart, and which of them are numbers under either decimal mark."""

    texts: Cells
    parts: pd.DataFrame
    fits: dict[Decimal, Mask]

    @property
    def is_open(self) -> bool:
        """Whether both marks fit all texts, and say different things of some."""
        return all(fits.all() for fits in self.fits.values()) and bool(self.marked.any())

    @property
    def marked(self) -> Mask:
        """Which texts have a point or a comma."""
        return np.asarray(self.parts["core"].str.contains("[.,]", na=False), bool)

    @property
    def decimal(self) -> Decimal | None:
        """The mark that alone fits all texts, if it is so."""
        fitting: list[Decimal] = [mark for mark, fits in self.fits.items() if fits.all()]
        return fitting[0] if len(fitting) == 1 else None


def take_apart(texts: Cells) -> NumberTexts:
    """What the texts [N] are made of, if they are numbers."""
    groups = [*NUMBER.groupindex]
    found = [NUMBER.fullmatch(text) for text in texts]
    rows = [[None] * len(groups) if match is None else match.groups() for match in found]
    parts = pd.DataFrame(rows, columns=groups, dtype=object)
    cores = parts["core"].str.rstrip()
    # A bracket alone, or two signs, are no number.
    bracketed = parts["open"].notna(), parts["close"].notna()
    signs = sum((parts[name].fillna("") != "").astype(int) for name in ("sign", "inner", "behind"))
    sound = np.asarray((bracketed[0] == bracketed[1]) & (signs + bracketed[0] <= 1), bool)
    fits = {
        mark: sound & np.array([isinstance(c, str) and bool(form.fullmatch(c)) for c in cores])
        for mark, form in DECIMALS.items()
    }
    return NumberTexts(texts, parts.assign(core=cores), fits)


def plain_numbers(texts: Cells) -> Array | None:
    """Texts [N] as numbers where all are written as programs write them, beyond doubt."""
    try:
        values = np.asarray(pd.to_numeric(pd.Series(texts, dtype=object)), np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    with_points = [text for text in texts[:CERTAIN_POINTS] if "." in text]
    if with_points and all(OPEN.fullmatch(text.lstrip("+-")) for text in with_points):
        return None
    return values


def read_numbers(
    texts: Cells, decimal: Decimal | None = None, hint: Decimal | None = None
) -> Reading | Fault | None:
    """Texts [N] as numbers, or none where hardly any is one.

    ``decimal`` was asked for; the ``hint``, from other columns, decides where both marks fit.
    """
    if (values := plain_numbers(texts)) is not None and decimal != ",":
        return Reading(pd.Series(values))
    found = take_apart(texts)
    fits = found.fits[decimal] if decimal else found.fits["."] | found.fits[","]
    if not fits.all():
        if fits.mean() <= 0.5:
            return None
        row = int(np.flatnonzero(~fits)[0])
        return Fault(row, "which is no number as the others are")
    mark = decimal or found.decimal or _mark_of_open(found, hint)
    if isinstance(mark, Fault):
        return mark
    if (fault := _unlike_signs(found)) is not None:
        return fault
    how, example = _how(found, mark)
    return Reading(pd.Series(_values(found, mark)), how, example)


def read_truth(texts: Cells) -> Reading | None:
    """Texts [N] that all say yes or no, as 1 and 0."""
    words = [text.lower() for text in texts]
    if not words or not {*words} <= YES_AND_NO.keys():
        return None
    return Reading(pd.Series([YES_AND_NO[word] for word in words]), TRUTH)


def _mark_of_open(found: NumberTexts, hint: Decimal | None) -> Decimal | Fault:
    """The mark where both fit every text, or where one fits some and the other the rest."""
    if not found.is_open:
        return _contradiction(found) if not found.fits["."].all() else "."
    cores = found.parts["core"]
    has_commas = bool(cores.str.contains(",").any())
    if has_commas and bool(cores.str.contains(".", regex=False).any()):
        return _contradiction(found)
    if hint is not None:
        return hint
    if has_commas:
        return "."
    whole = pd.to_numeric(cores[~found.marked], errors="coerce").max()
    if 100 <= whole < 1000:
        row = int(np.flatnonzero(found.marked)[0])
        return Fault(
            row, "where the mark may stand before decimals or between thousands. Say it by "
            "--decimal . or --decimal ,"
        )  # fmt: skip
    return "."


def _contradiction(found: NumberTexts) -> Fault:
    """Two cells of which one has a decimal point and the other a decimal comma."""
    points, commas = found.fits["."] & ~found.fits[","], found.fits[","] & ~found.fits["."]
    cores = found.parts["core"].astype(str)
    if not (points.any() and commas.any()):
        points, commas = (np.asarray(cores.str.contains(mark, regex=False)) for mark in ".,")
    other = found.texts[int(np.flatnonzero(commas)[0])]
    row = int(np.flatnonzero(points)[0])
    return Fault(row, f"while another has '{other}'. Write all with one decimal mark")


def _unlike_signs(found: NumberTexts) -> Fault | None:
    """Refuse cells with percent signs among others without, and several currencies."""
    after, before = found.parts["after"].fillna(""), found.parts["before"].fillna("")
    percent = np.asarray(after == "%")
    if percent.any() and not percent.all():
        row = int(np.flatnonzero(~percent)[0])
        return Fault(row, "while others have percent signs. Write all in one unit")
    signs = (before + after.where(~percent, "")).to_numpy()
    kinds = [sign for sign in dict.fromkeys(signs) if sign]
    if len(kinds) > 1:
        row = int(np.flatnonzero(signs == kinds[1])[0])
        return Fault(row, f"while others are in {kinds[0]}. Give amounts in one currency")
    return None


def _values(found: NumberTexts, mark: Decimal) -> Array:
    other = "," if mark == "." else "."
    cores = found.parts["core"].str.replace(rf"[{other} '’]", "", regex=True)
    texts = cores.str.replace(mark, ".", regex=False) + found.parts["power"].fillna("")
    minus = found.parts[["sign", "inner", "behind"]].isin(["-", "−", "–"]).any(axis=1)
    signs = np.where(minus | found.parts["open"].notna(), -1.0, 1.0)
    return np.asarray(signs * texts.to_numpy().astype(np.float64), np.float64)


def _how(found: NumberTexts, mark: Decimal) -> tuple[str, int]:
    """What was read that programs write otherwise, in words, and a row where it shows."""
    cores, parts = found.parts["core"], found.parts
    other = "," if mark == "." else "."
    signs = parts["before"].fillna("") + parts["after"].fillna("").replace("%", "")
    seen = {
        "a decimal comma": cores.str.contains(",") & (mark == ","),
        f"{'commas' if other == ',' else 'points'} between thousands": cores.str.contains(
            other, regex=False
        ),
        "spaces between thousands": cores.str.contains(" "),
        "apostrophes between thousands": cores.str.contains("['’]"),
        "percent signs": parts["after"] == "%",
        "currency signs": signs != "",
        "brackets around negative numbers": parts["open"].notna(),
        "minus signs behind": parts["behind"].fillna("") != "",
    }
    rows = {phrase: np.flatnonzero(mask.to_numpy()) for phrase, mask in seen.items()}
    told = {phrase: where for phrase, where in rows.items() if len(where)}
    if not told:
        return "", 0
    return f"with {' and '.join(told)}", int(max(where[0] for where in told.values()))
