"""The page of a report: one HTML file without a request, whose texts from data are escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from vbks.report.content import Report
from vbks.report.figures.curve import curve_figure, series_figure
from vbks.report.figures.density import density_figure
from vbks.report.figures.frame import NARROW, WIDE, Size
from vbks.report.figures.marks import compared_figure, lines_figure, probability_bar
from vbks.report.figures.parts import SPARK, overlay_figure, spark_figure
from vbks.words.numerals import counted, fixed, percent, rounded

Data = TypeVar("Data")

SQUARE, SQUARE_NARROW = Size(440, 400), Size(336, 320)
"""Predictions beside targets have axes of about one length."""

LOW_WIDE, LOW_NARROW = Size(346, 190), Size(336, 190)
"""Effects of inputs stand side by side where there is room."""

MIDDLE_WIDE, MIDDLE_NARROW = Size(720, 220), Size(336, 210)
"""Pictures of parts are lower than that of the forecast: there are several below each other."""

DENSITY = Size(300, 96)
"""Densities stand below their sentence."""


def page_of(report: Report) -> str:
    """The report as a page of HTML, with everything it needs inside."""
    style, script = _source("style.css"), _source("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = _environment().get_template("report.html")
    return page.render(
        report=report, style=Markup(style), script=Markup(script), policy=policy, **_FIGURES
    )


def notebook_of(report: Report) -> str:
    """A compact piece of the report for a notebook: the summary and the belief."""
    return (
        _environment().get_template("notebook.html").render(report=report, warnings=report.warnings)
    )


def for_both(
    draw: Callable[[Data, Size, str], Markup], wide: Size = WIDE, narrow: Size = NARROW
) -> Callable[[Data, str], Markup]:
    """A figure in two sizes, of which the page shows the one that fits."""

    def drawn(data: Data, label: str) -> Markup:
        pair = Markup('<div class="wide">{}</div><div class="narrow">{}</div>')
        return pair.format(draw(data, wide, label), draw(data, narrow, label))

    return drawn


_FIGURES = {
    "curve": for_both(curve_figure),
    "effect": for_both(series_figure, LOW_WIDE, LOW_NARROW),
    "compared": for_both(compared_figure, SQUARE, SQUARE_NARROW),
    "lines": for_both(lines_figure),
    "bar": probability_bar,
    "part_figure": for_both(series_figure, MIDDLE_WIDE, MIDDLE_NARROW),
    "overlay": for_both(overlay_figure, MIDDLE_WIDE, MIDDLE_NARROW),
    "density": lambda likely, label: density_figure(likely, DENSITY, label),
    "spark": lambda series, ends, label: spark_figure(series, ends, SPARK, label),
}


def unbroken(value: object) -> object:
    """A text whose signs stay on the line of their numbers."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return value.replace(" %", "\u00a0%").replace("± ", "±\u00a0").replace("× ", "×\u00a0")
    return value


def short_percent(share: float) -> str:
    """A share of a whole in percent, where there is little room."""
    return percent(share).replace("less than", "<").replace("more than", ">")


def signed_percent(share: float) -> str:
    """A share of a whole in percent, which may be negative."""
    return f"{fixed(100.0 * share, 0 if abs(share) >= 0.1 else 1)} %"


def scale_of_warp(name: str) -> str:
    """What kernels of a warp explain."""
    known = {"identity": "values as they are", "log": "logarithms of values"}
    return known.get(name, f"{name} of values")


def opening(text: str) -> str:
    """A text with a capital at its beginning, and all else as it is."""
    return text[:1].upper() + text[1:]


@cache
def _environment() -> Environment:
    loader = PackageLoader("vbks.report", "templates")
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=unbroken,
    )
    made.filters |= {
        "percent": percent,
        "fixed": fixed,
        "rounded": lambda value: rounded(value, 3),
        "counted": counted,
        "short": short_percent,
        "signed": signed_percent,
        "part_of": lambda share: short_percent(share) if share >= 0.0 else signed_percent(share),
        "scale": scale_of_warp,
        "opening": opening,
    }
    made.tests["missing"] = lambda section: hasattr(section, "reason")
    return made


def _source(name: str) -> str:
    source, _, _ = _environment().loader.get_source(_environment(), name)  # type: ignore[union-attr]
    return source


def _hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline style or script by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
