"""Values of files: plain ones for JSON, and numbers packed into a few long arrays.

Nothing that is read is believed: every value has to be there and of the kind that is expected.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.errors import FileError
from vbks.grammar.quoting import quote

LONGEST_SIDE = 2**31
"""No array has more rows or columns than this, be they empty."""

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def damaged(what: str) -> FileError:
    """The error of a file that was changed, cut or mixed up with another since it was saved."""
    return FileError(f"{what}. The files were damaged or changed: save the selection again.")


def wrong(what: str, value: object, expected: str) -> FileError:
    """The error of a value that is not what was expected."""
    shown = repr(value) if isinstance(value, float) else quote(value)
    return damaged(f"{what} is {shown}, expected {expected}")


def plain_number(value: float) -> float | str:
    """A number for JSON, which has no NaN and no infinity: these become texts."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


def as_text(value: object, what: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong(what, value, "a text")
    return value


def as_one_of(value: object, what: str, known: Sequence[Any]) -> Any:
    """One of some texts."""
    text = as_text(value, what)
    if text not in known:
        raise wrong(what, text, f"one of {', '.join(known)}")
    return text


def as_flag(value: object, what: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise wrong(what, value, "true or false")
    return value


def as_count(value: object, what: str) -> int:
    """A whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise wrong(what, value, "a whole number from 0 on")
    return value


def as_number(value: object, what: str) -> float:
    """A number, NaN or an infinity."""
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(what, value, "a number")
    if abs(value) > sys.float_info.max:
        raise wrong(what, value, "a number that fits into 64 bits")
    return float(value)


def as_finite(value: object, what: str) -> float:
    """A number that is neither NaN nor infinite."""
    number = as_number(value, what)
    if not math.isfinite(number):
        raise wrong(what, number, "a finite number")
    return number


def as_list(value: object, what: str) -> list[Any]:
    """A list of anything."""
    if not isinstance(value, list):
        raise wrong(what, value, "a list")
    return value


@dataclass(frozen=True)
class Record:
    """Named values from JSON, read one by one; ``place`` is what messages call them."""

    values: Mapping[str, Any]
    place: str

    @classmethod
    def of(cls, value: object, place: str) -> Record:
        """The record that a value is, or an error."""
        if not isinstance(value, dict):
            raise damaged(f"{place} is {quote(value)}, expected named values")
        return cls(value, place)

    def refuse_others(self, known: Sequence[str]) -> None:
        """Refuse names that are not known."""
        for key in self.values:
            if key not in known:
                raise damaged(f"{self.place} has an unknown {quote(key)}")

    def is_null(self, key: str) -> bool:
        """Whether the file says that there is no value of this name."""
        return self.value(key) is None

    def value(self, key: str) -> Any:
        """A value of any kind, none of which is believed yet."""
        if key not in self.values:
            raise damaged(f"{self.place} has no '{key}'")
        return self.values[key]

    def text(self, key: str) -> str:
        """A text."""
        return as_text(self.value(key), self.what(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        what = self.what(key)
        return tuple(as_text(value, what) for value in as_list(self.value(key), what))

    def one_of(self, key: str, known: Sequence[str]) -> Any:
        """One of some texts."""
        return as_one_of(self.value(key), self.what(key), known)

    def flag(self, key: str) -> bool:
        """True or false."""
        return as_flag(self.value(key), self.what(key))

    def count(self, key: str) -> int:
        """A whole number from 0 on."""
        return as_count(self.value(key), self.what(key))

    def counts(self, key: str) -> list[int]:
        """A list of whole numbers from 0 on."""
        what = self.what(key)
        return [as_count(value, what) for value in as_list(self.value(key), what)]

    def number(self, key: str) -> float:
        """A number, NaN or an infinity."""
        return as_number(self.value(key), self.what(key))

    def numbers(self, key: str) -> list[float]:
        """A list of numbers."""
        what = self.what(key)
        return [as_number(value, what) for value in as_list(self.value(key), what)]

    def finite(self, key: str) -> float:
        """A number that is neither NaN nor infinite."""
        return as_finite(self.value(key), self.what(key))

    def record(self, key: str) -> Record:
        """Named values under one name."""
        return Record.of(self.value(key), self.what(key))

    def records(self, key: str, noun: str) -> Iterator[Record]:
        """A list of named values, each of which messages call by a noun and its number."""
        for number, value in enumerate(as_list(self.value(key), self.what(key)), 1):
            yield Record.of(value, f"{noun} {number} of {self.place}")

    def wrong(self, key: str, value: object, expected: str) -> FileError:
        """The error of a value that is not what was expected."""
        return wrong(self.what(key), value, expected)

    def what(self, key: str) -> str:
        """What messages call a value."""
        return f"'{key}' of {self.place}"


class Packing:
    """Arrays on their way to a file, each appended to the numbers of its name."""

    def __init__(self, names: Sequence[str]) -> None:
        self._parts: dict[str, list[Array]] = {name: [] for name in names}
        self._places: dict[str, dict[tuple[tuple[int, ...], bytes], int]] = {}

    def add(self, name: str, values: Array) -> None:
        """Append the numbers of an array, row by row."""
        self._parts[name].append(np.asarray(values, dtype=np.float64).ravel())

    def add_once(self, name: str, values: Array) -> int | None:
        """Append an array that is new, or tell which of those of this name it is."""
        known, numbers = self._places.setdefault(name, {}), np.asarray(values, np.float64)
        key = (numbers.shape, numbers.tobytes())
        if key in known:
            return known[key]
        known[key] = len(known)
        self.add(name, numbers)
        return None

    def arrays(self) -> dict[str, Array]:
        """All numbers of each name, as float64 with the lowest byte first."""
        return {
            name: np.concatenate([np.zeros(0), *parts]).astype("<f8", copy=False)
            for name, parts in self._parts.items()
        }


class Unpacking:
    """Arrays from a file, taken in the order in which they were packed."""

    def __init__(self, arrays: Mapping[str, Array], place: str) -> None:
        self._left = dict(arrays)
        self._taken: dict[str, list[Array]] = {}
        self._place = place

    def take(self, name: str, *shape: int) -> Array:
        """The next array of a name; its shape is known from elsewhere."""
        size, left = math.prod(shape), self._left[name]
        if size > len(left) or max(shape, default=0) > LONGEST_SIDE:
            raise damaged(
                f"'{name}' of {self._place} has {len(left)} numbers left where "
                f"{' × '.join(map(str, shape))} are expected"
            )
        self._left[name] = left[size:]
        found = left[:size].reshape(shape)
        self._taken.setdefault(name, []).append(found)
        return found

    def taken(self, name: str) -> list[Array]:
        """The arrays of a name that were taken, in their order."""
        return self._taken.get(name, [])

    def finish(self) -> None:
        """Refuse numbers that nobody has asked for."""
        for name, left in self._left.items():
            if len(left):
                raise damaged(f"'{name}' of {self._place} has {len(left)} numbers too many")
