"""Tests of values of files, none of which is believed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbks.errors import FileError
from vbks.storage.records import Packing, Record, Unpacking, plain_number

RECORD = Record(
    {
        "text": "a", "texts": ["a", "b"], "flag": True, "count": 3, "counts": [0, 2], "null": None,
        "number": 1.5, "nan": "nan", "numbers": [1, "-inf"], "inner": {"a": 1}, "list": [{"b": 2}],
        "huge": 10**400,
    },
    "'file'",
)  # fmt: skip


@given(st.floats())
def test_number__comes_back_from_json(value: float) -> None:
    plain = json.loads(json.dumps({"x": plain_number(value)}, allow_nan=False))
    found = Record(plain, "here").number("x")
    assert found == value or (math.isnan(found) and math.isnan(value))


def test_values__of_the_right_kind_are_read() -> None:
    assert RECORD.text("text") == "a"
    assert RECORD.texts("texts") == ("a", "b")
    assert RECORD.one_of("text", ("b", "a")) == "a"
    assert RECORD.flag("flag") is True
    assert RECORD.count("count") == 3
    assert RECORD.counts("counts") == [0, 2]
    assert RECORD.numbers("numbers") == [1.0, -math.inf]
    assert RECORD.finite("number") == 1.5
    assert RECORD.is_null("null") and not RECORD.is_null("text")
    assert RECORD.record("inner").count("a") == 1
    assert [own.count("b") for own in RECORD.records("list", "part")] == [2]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda r: r.text("none"), "'file' has no 'none'"),
        (lambda r: r.text("count"), "'count' of 'file' is 3, expected a text"),
        (lambda r: r.texts("text"), "expected a list"),
        (lambda r: r.one_of("text", ("b", "c")), "expected one of b, c"),
        (lambda r: r.flag("count"), "expected true or false"),
        (lambda r: r.count("flag"), "expected a whole number from 0 on"),
        (lambda r: r.count("number"), "expected a whole number from 0 on"),
        (lambda r: r.number("text"), "expected a number"),
        (lambda r: r.number("flag"), "expected a number"),
        (lambda r: r.number("huge"), "a number that fits into 64 bits"),
        (lambda r: r.finite("nan"), "'nan' of 'file' is nan, expected a finite number"),
        (lambda r: r.record("text"), "'text' of 'file' is 'a', expected named values"),
        (lambda r: list(r.records("texts", "part")), "part 1 of 'file' is 'a', expected named"),
    ],
)
def test_values__of_another_kind_are_refused(
    read: Callable[[Record], object], message: str
) -> None:
    with pytest.raises(FileError, match=message):
        read(RECORD)


def test_packing__is_undone_in_the_same_order() -> None:
    packing, rng = Packing(("a", "b")), np.random.default_rng(0)
    parts = [("a", rng.normal(size=(2, 3))), ("b", rng.normal(size=4)), ("a", np.zeros((0, 5)))]
    parts.append(("a", rng.normal(size=(1, 2, 2))))
    for name, values in parts:
        packing.add(name, values)
    unpacking = Unpacking(packing.arrays(), "here")
    for name, values in parts:
        np.testing.assert_array_equal(unpacking.take(name, *values.shape), values)
    assert len(unpacking.taken("a")) == 3
    unpacking.finish()


def test_packing_once__tells_which_of_those_it_is() -> None:
    packing, one, other = Packing(("a",)), np.zeros((2, 1)), np.zeros((1, 2))
    assert [packing.add_once("a", values) for values in (one, other, one)] == [None, None, 0]
    assert len(packing.arrays()["a"]) == 4


def test_unpacking__refuses_numbers_that_are_missing_or_left() -> None:
    unpacking = Unpacking({"a": np.zeros(5)}, "here")
    with pytest.raises(FileError, match=r"'a' of here has 5 numbers left where 2 × 3 are"):
        unpacking.take("a", 2, 3)
    unpacking.take("a", 2)
    with pytest.raises(FileError, match="'a' of here has 3 numbers too many"):
        unpacking.finish()
