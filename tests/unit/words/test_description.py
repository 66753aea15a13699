"""Kernels with values, and the exact texts that a person reads of them."""

import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from vbks.words import MOST_WORDS, Axes, Axis, Estimate, Target, Values, describe, parts_of

TABLE = json.loads(Path(__file__).with_name("sentences.json").read_text(encoding="utf-8"))
CASES = TABLE["cases"]


def estimate(given):
    if given is None:
        return None
    return Estimate(*given) if isinstance(given, list) else Estimate(given)


def axis(given):
    origin = given.get("origin")
    return Axis(**{**given, "origin": datetime.fromisoformat(origin) if origin else None})


def axes_named(name):
    given = TABLE["axes"][name]
    inputs = tuple(axis(each) for each in given.get("inputs", [{}]))
    return Axes(inputs, Target(**given.get("target", {})), given.get("warp", "identity"))


def values(given):
    if given is None:
        return None
    return Values(**{k: v if isinstance(v, str) else estimate(v) for k, v in given.items()})


def part_of(case):
    axes = axes_named(case["axes"])
    known = [values(given) for given in case.get("known", [])]
    part = parts_of(case["kernel"], len(axes.inputs), known)[case.get("part", 0)]
    return replace(
        part,
        probability=case.get("probability"),
        share=case.get("share"),
        amplitude=estimate(case.get("amplitude")),
        acts=tuple(map(estimate, case["acts"])) if "acts" in case else None,
    )


def test_table__has_sixty_kernels_with_different_sentences():
    assert len({(case["kernel"], case["detail"]) for case in CASES}) >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['axes']}: {c['kernel']}")
def test_describe__writes_the_sentences_of_the_table(case, breaches):
    sentence = describe(part_of(case), axes_named(case["axes"]))
    assert sentence.reading == case["reading"]
    assert sentence.summary == case["summary"]
    assert sentence.detail == case["detail"]
    assert not breaches(sentence.summary) and not breaches(sentence.detail)


def test_describe__leaves_out_details_until_the_text_fits():
    case = next(case for case in CASES if case["kernel"] == "SE * PER * LIN")
    long = axes_named("airline")
    long = replace(
        long, target=Target("passengers of all the airlines", "thousand of them a month")
    )
    short, longer = describe(part_of(case), axes_named("airline")), describe(part_of(case), long)
    assert "of the variance" in short.detail and "of the variance" not in longer.detail
    assert len(longer.detail.split()) <= MOST_WORDS
    assert "97 % of the belief" in longer.detail and "11.98–12.02" in longer.detail


def test_describe__says_nothing_of_what_is_not_known_or_cannot_be():
    part = replace(
        parts_of("SE", 1, [Values(lengthscale=Estimate(float("nan")))])[0],
        share=float("nan"),
        probability=1.5,
        amplitude=Estimate(-1.0),
    )
    assert describe(part).detail == "There is a smooth function. Outside the data it fades."


def test_sentence__as_a_text_is_its_detail():
    sentence = describe(parts_of("WN")[0])
    assert str(sentence) == sentence.detail


NUMBERS_AND_UNITS = re.compile(
    r"\b(seconds?|minutes?|hours?|days?|weeks?|months?|years?|kilo|k?W)\b|[\d.,–]+( %)?"
)


@pytest.mark.parametrize("unit, days", [("days", 1.0), ("years", 365.25), ("hours", 1 / 24)])
@pytest.mark.parametrize("name", ["airline", "airline_log"])
def test_describe__in_other_units_changes_only_numbers_and_units(name, unit, days):
    axes, factor = axes_named(name), 365.25 / 12 / days
    (month,) = axes.inputs
    origin = datetime(1949, 1, 1)
    other = replace(month, unit=unit, origin=origin, low=0.0, high=month.high * factor)
    others = replace(axes, inputs=(other,))
    for case in (case for case in CASES if case["axes"] == name):
        part = part_of(case)
        factors = tuple(
            replace(f, values=tuple(scaled(v, factor) for v in f.values)) for f in part.factors
        )
        here, there = describe(part, axes), describe(replace(part, factors=factors), others)
        assert plain(here.summary) == plain(there.summary)
        assert plain(here.reading) == plain(there.reading)
        assert plain(here.detail) == plain(there.detail)


def scaled(given, factor):
    """What is known, in a unit of the input that is so many times smaller."""
    lengths = {
        name: known.times(1 / factor if name == "slope" else factor)
        for name, known in vars(given).items()
        if isinstance(known, Estimate)
    }
    return replace(given, **lengths)


def plain(text):
    return NUMBERS_AND_UNITS.sub("#", text)


def test_describe__of_a_target_in_other_units_changes_only_numbers_and_units():
    axes = axes_named("load")
    kilo = replace(axes, target=Target("load", "kW"))
    for case in (case for case in CASES if case["axes"] == "load"):
        part = part_of(case)
        larger = replace(part, amplitude=part.amplitude.times(1000))
        megawatts = describe(part, axes).detail.replace(" MW", " kW")
        assert plain(megawatts) == plain(describe(larger, kilo).detail)
