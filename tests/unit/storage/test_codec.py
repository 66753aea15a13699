"""Dataclasses as plain values and arrays, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.errors import DataError, FileError
from vbks.storage.codec import Codec, Kind, PlainKind, StandIn
from vbks.storage.records import Packing, Record, Unpacking


@dataclass(frozen=True, eq=False)
class Part:
    mean: Array
    factor: Array | None = None


@dataclass(frozen=True, eq=False)
class Whole:
    name: str
    kind: Literal["one", "two"]
    count: int
    is_good: bool
    value: float
    level: float
    parts: tuple[Part, ...]
    table: Array | None
    pair: tuple[str, int]
    numbers: Mapping[str, float] | Callable[[str], float] | None
    prior: Literal["flat"] | Mapping[tuple[str, str], float]
    letters: frozenset[str]
    point: complex
    clock: float = 7.0

    def __post_init__(self) -> None:
        if self.level < 0:
            raise DataError(f"level is {self.level}, expected 0 or more.")


@dataclass(frozen=True)
class Plane:
    x: float
    y: float


def check_good(whole: Whole, place: str) -> None:
    if not whole.is_good:
        raise FileError(f"{place} is not good.")


CODEC = Codec(
    [
        Kind(
            Whole,
            sizes={"count": "P", "parts": "P", "table": "M D"},
            own="M",
            left_out=("clock",),
            finite=("level",),
            shared=("table",),
            check=check_good,
        ),
        Kind(Part, "part", sizes={"mean": "M", "factor": "M M"}, prefix="part_"),
        Kind(Plane),
    ],
    {
        frozenset[str]: PlainKind(
            lambda value: "".join(sorted(value)), lambda value, what: frozenset(str(value))
        )
    },
    {complex: StandIn(Plane, lambda c: Plane(c.real, c.imag), lambda p: complex(p.x, p.y))},
)


def make_whole(**changes: Any) -> Whole:
    whole = Whole(
        name="a µ",
        kind="two",
        count=2,
        is_good=True,
        value=math.nan,
        level=0.5,
        parts=(Part(np.arange(3.0), np.eye(3)), Part(np.ones(3))),
        table=np.arange(6.0).reshape(3, 2),
        pair=("x", 4),
        numbers={"SE": 1.0, "LIN": -math.inf},
        prior={("SE", "LIN"): 0.5},
        letters=frozenset("abc"),
        point=1.0 + 2.0j,
    )
    return replace(whole, **changes)


def encoded(*wholes: Whole) -> tuple[list[dict[str, Any]], dict[str, Array]]:
    packing = Packing(CODEC.array_names)
    values = [CODEC.encode(whole, packing) for whole in wholes]
    return json.loads(json.dumps(values, allow_nan=False)), packing.arrays()


def decoded(values: list[Any], arrays: dict[str, Array], before: Any = None) -> list[Whole]:
    unpacking = Unpacking(arrays, "'file'")
    found = [CODEC.decode(Whole, Record(own, "'file'"), unpacking, before) for own in values]
    unpacking.finish()
    return found


def assert_same(found: Whole, expected: Whole) -> None:
    for one, other in zip(found.parts, expected.parts, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
        assert (one.factor is None) == (other.factor is None)
    np.testing.assert_array_equal(found.table, expected.table)  # type: ignore[arg-type]
    plain = [name for name in Whole.__dataclass_fields__ if name not in ("parts", "table")]
    for name in plain:
        assert repr(getattr(found, name)) == repr(getattr(expected, name)), name


def test_codec__gives_back_what_it_was_given() -> None:
    wholes = make_whole(), make_whole(numbers=None, prior="flat", table=None)
    for found, expected in zip(decoded(*encoded(*wholes)), wholes, strict=True):
        if expected.table is not None:
            assert_same(found, expected)
        assert found.numbers == expected.numbers and found.prior == expected.prior


def test_shared_array__is_stored_once() -> None:
    other = make_whole(table=np.zeros((3, 2)))
    values, arrays = encoded(make_whole(), other, make_whole())
    assert len(arrays["table"]) == 12
    assert [own["table"] for own in values] == [[3, 2], [3, 2], 0]
    found = decoded(values, arrays)
    np.testing.assert_array_equal(found[2].table, make_whole().table)  # type: ignore[arg-type]


def test_left_out_field__is_that_of_before_or_the_default() -> None:
    values, arrays = encoded(make_whole(clock=3.0))
    assert "clock" not in values[0]
    assert decoded(values, arrays)[0].clock == 7.0
    assert decoded(values, arrays, make_whole(clock=5.0))[0].clock == 5.0


def test_codec__does_not_save_functions() -> None:
    with pytest.raises(FileError, match="'numbers' of a part cannot be saved, as it is a builtin"):
        encoded(make_whole(numbers=len))


def test_codec__does_not_save_arrays_that_do_not_go_with_each_other() -> None:
    with pytest.raises(FileError, match="'factor' of a part has the size 2 × 2, expected M = 3"):
        encoded(make_whole(parts=(Part(np.zeros(3), np.eye(2)),), count=1))


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda v: v.pop("kind"), "'file' has no 'kind'"),
        (lambda v: v.update(clock=1.0), "'file' has an unknown 'clock'"),
        (lambda v: v.update(name=1), "'name' of 'file' is 1, expected a text"),
        (lambda v: v.update(name=None), "'name' of 'file' .* expected a text"),
        (lambda v: v.update(kind="three"), "'kind' of 'file' is 'three', expected one of one, two"),
        (lambda v: v.update(count=True), "'count' of 'file' .* a whole number"),
        (lambda v: v.update(count=3), "'parts' of 'file' has the size 2, expected P = 3"),
        (lambda v: v.update(is_good=1), "'is_good' of 'file' is 1, expected true or false"),
        (lambda v: v.update(is_good=False), "'file' is not good"),
        (lambda v: v.update(value="many"), "'value' of 'file' .* expected a number"),
        (lambda v: v.update(level="nan"), "'level' of 'file' is nan, expected a finite number"),
        (lambda v: v.update(level=-1), "'file' cannot be read: level is -1"),
        (lambda v: v.update(parts={}), "'parts' of 'file' .* expected a list"),
        (lambda v: v["parts"].append(3), "part 3 of 'file' is 3, expected named values"),
        (lambda v: v["parts"][1].pop("mean"), "part 2 of 'file' has no 'mean'"),
        (lambda v: v["parts"][1].update(mean=[2]), "of part 2 of 'file' .* expected M = 3"),
        (lambda v: v["parts"][1].update(mean=[3, 1]), "has the shape 3 × 1, expected M"),
        (lambda v: v["parts"][1].update(mean=[4]), "'part_mean' of 'file' has 3 numbers left"),
        (lambda v: v["parts"][1].update(mean=[-1]), "is -1, expected a whole number"),
        (lambda v: v["parts"][1].update(mean=0), "expected a list"),
        (lambda v: v.update(table=0), "'table' of 'file' is 0, expected a number below 0"),
        (lambda v: v.update(table=None), "'table' of 'file' has 6 numbers too many"),
        (lambda v: v.update(pair=["x"]), "'pair' of 'file' .* expected 2 values"),
        (lambda v: v.update(numbers=[["SE", 1.0, 2.0]]), "a list of keys and values"),
        (lambda v: v.update(numbers="SE"), "'numbers' of 'file' is 'SE', expected a list"),
        (lambda v: v.update(prior=None), "'prior' of 'file' .* expected a list"),
        (lambda v: v.update(prior="round"), "is 'round', expected one of flat"),
        (lambda v: v["point"].pop("y"), "'point' of 'file' has no 'y'"),
    ],
)
def test_codec__refuses_what_it_has_not_written(change: Change, match: str) -> None:
    (values,), arrays = encoded(make_whole())
    change(values)
    with pytest.raises(FileError, match=match):
        decoded([values], arrays)
