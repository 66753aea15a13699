"""Any product up to eight leaves reads as English, whatever is known of it."""

import math
import random
from dataclasses import replace
from datetime import date, datetime

import pytest
from support.strategies import BUILT_IN, random_expression

from vbks.words import (
    Axes,
    Axis,
    Course,
    Estimate,
    Factor,
    Part,
    Target,
    Values,
    describe,
    parts_of,
    read,
)
from vbks.words.summaries import summarise

FAMILIES = (*BUILT_IN, "SE", "PER", "LIN", "LIN")
NUM_EXPRESSIONS = 5_000
MAX_PARTS = 2
NAMES = ("age", "blast_furnace slag", "water", "hour", "year", "load (kW)", "x", "temperature")
UNITS = ("months", "d", "years", "hours", "kg/m³", None, "°C", "min")


@pytest.mark.parametrize("seed", range(10))
def test_random_kernels__read_as_english(seed, breaches):
    rng = random.Random(seed)
    for _ in range(NUM_EXPRESSIONS // 10):
        num_inputs = rng.choice((1, 1, 2, 3, 8))
        expression = random_expression(rng, 8, FAMILIES, num_inputs)
        axes = random_axes(rng, num_inputs)
        parts = parts_of(expression, num_inputs)
        for part in rng.sample(parts, min(MAX_PARTS, len(parts))):
            told = with_values(rng, part, axes)
            sentence = describe(told, axes)
            assert not breaches(sentence.summary), (expression, sentence.summary)
            assert not breaches(sentence.detail), (expression, sentence.detail)
            assert not breaches(sentence.reading, is_sentence=False), (expression, sentence)
            assert len(sentence.reading) < 150, sentence.reading


@pytest.mark.parametrize("seed", range(3))
def test_random_kernels__have_a_reading_with_nothing_but_names(seed, breaches):
    rng = random.Random(seed)
    for _ in range(200):
        expression = random_expression(rng, 6, FAMILIES, 3)
        text = read(expression, ("month", "price", "volume"))
        assert set(breaches(text, is_sentence=False)) <= {"more than sixty words"}, text


@pytest.mark.parametrize("seed", range(4))
def test_random_parts__have_a_summary_that_reads_as_english(seed, breaches):
    rng = random.Random(seed)
    for _ in range(150):
        num_inputs = rng.choice((1, 1, 2, 4))
        axes = random_axes(rng, num_inputs)
        parts = parts_of(random_expression(rng, 6, FAMILIES, num_inputs), num_inputs)
        told = [with_values(rng, part, axes) for part in parts[:5]]
        found = summarise(told, axes, rng.choice((None, 0.98)))
        assert 1 <= len(found) <= 5
        for text in found:
            assert not breaches(text), text


def random_axes(rng: random.Random, num_inputs: int) -> Axes:
    axes = tuple(random_axis(rng, number) for number in range(num_inputs))
    target = Target(rng.choice(("", "passengers", "CO2_level")), rng.choice((None, "ppm", "MW")))
    return Axes(axes, target, rng.choice(("identity", "identity", "log", "logit", "softplus")))


def random_axis(rng: random.Random, number: int) -> Axis:
    unit = rng.choice(UNITS)
    is_time = unit not in ("kg/m³", "°C") and rng.random() < 0.4
    origin = rng.choice((None, date(1949, 1, 31), datetime(2020, 5, 1, 12))) if is_time else None
    low = rng.choice((0.0, 1610.0, -3.5, 1e5))
    ends = (low, low + 10 ** rng.uniform(-2, 4)) if rng.random() < 0.7 else (None, None)
    return Axis(rng.choice(("", NAMES[number])), unit, is_time, origin, *ends)


def with_values(rng: random.Random, part: Part, axes: Axes) -> Part:
    factors = tuple(
        Factor(
            f.family,
            f.inputs,
            tuple(random_values(rng, axes[number]) for number in f.inputs),
        )
        for f in part.factors
    )
    gates = tuple(replace(g, values=random_values(rng, axes[g.input])) for g in part.gates)
    acts = (Estimate(3.0), Estimate(9.0)) if rng.random() < 0.2 else None
    share, probability = rng.choice((None, rng.random())), rng.choice((None, rng.random(), 1.0))
    return Part(
        factors,
        gates,
        random_size(rng),
        share,
        probability,
        acts,
        courses=random_courses(rng, axes) if len(axes.inputs) > 1 else (),
        swings=rng.choice((None, "growing", "shrinking")),
        elsewhere=rng.choice((0.0, 0.0, 0.19)),
    )


def random_courses(rng: random.Random, axes: Axes) -> tuple[Course, ...]:
    numbers = rng.sample(range(1, len(axes.inputs) + 1), rng.choice((0, 1, 2)))
    return tuple(
        Course(
            number,
            replace(random_values(rng, axes[number]), direction=rng.choice(("up", "down"))),
            rng.choice((None, (1, "low"), (2, "high"))),
        )
        for number in numbers
    )


def random_values(rng: random.Random, axis: Axis) -> Values:
    if rng.random() < 0.2:
        return Values()
    start = random_place(rng, axis)
    end = random_place(rng, axis)
    if start and end and end.value < start.value:
        start, end = end, start
    return Values(
        lengthscale=random_size(rng),
        period=rng.choice((random_size(rng), Estimate(12.0, 11.98, 12.02))),
        zero=random_place(rng, axis),
        slope=rng.choice((None, Estimate(rng.gauss(0, 1)), Estimate(0.01, -0.01, 0.03))),
        direction=rng.choice((None, None, "up", "down")),
        pace=rng.choice((None, None, "faster", "slower")),
        levels_off=random_place(rng, axis) if rng.random() < 0.2 else None,
        turns=random_turns(rng, axis) if rng.random() < 0.3 else (),
        start=start,
        end=end,
        transition=random_size(rng),
    )


def random_turns(rng: random.Random, axis: Axis) -> tuple[Estimate, ...]:
    found = [random_place(rng, axis) for _ in range(rng.choice((1, 2)))]
    return tuple(sorted((turn for turn in found if turn), key=lambda turn: turn.value))


def random_size(rng: random.Random) -> Estimate | None:
    value = rng.choice((10 ** rng.uniform(-3, 4), 10 ** rng.uniform(-12, 12), math.nan, math.inf))
    if rng.random() < 0.2:
        return None
    spread = math.exp(10 ** rng.uniform(-5, 0)) if rng.random() < 0.6 else None
    return Estimate(value, value / spread, value * spread) if spread else Estimate(value)


def random_place(rng: random.Random, axis: Axis) -> Estimate | None:
    if rng.random() < 0.2:
        return None
    low = axis.low or 0.0
    covered = axis.range or 100.0
    value = low + covered * rng.uniform(-0.2, 1.2)
    half = covered * 10 ** rng.uniform(-6, 0)
    return Estimate(value, value - half, value + half) if rng.random() < 0.5 else Estimate(value)
