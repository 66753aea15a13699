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

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def damaged(what: str) -> FileError:
    """The error of a file that was changed, cut or mixed up with another since it was saved."""
    return FileError(f"{what}. The files were damaged or changed: save the selection again.")


def plain_number(value: float) -> float | str:
    """A number for JSON, which has no NaN and no infinity: these become texts."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


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

    def is_null(self, key: str) -> bool:
        """Whether the file says that there is no value of this name."""
        return self._get(key) is None

    def text(self, key: str) -> str:
        """A text."""
        return self._text(key, self._get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self._text(key, value) for value in self._list(key))

    def one_of(self, key: str, known: Sequence[str]) -> Any:
        """One of some texts."""
        text = self.text(key)
        if text not in known:
            raise self.wrong(key, text, f"one of {', '.join(known)}")
        return text

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, value, "true or false")
        return value

    def count(self, key: str) -> int:
        """A whole number from 0 on."""
        return self._count(key, self._get(key))

    def counts(self, key: str) -> list[int]:
        """A list of whole numbers from 0 on."""
        return [self._count(key, value) for value in self._list(key)]

    def number(self, key: str) -> float:
        """A number, NaN or an infinity."""
        return self._number(key, self._get(key))

    def numbers(self, key: str) -> list[float]:
        """A list of numbers."""
        return [self._number(key, value) for value in self._list(key)]

    def finite(self, key: str) -> float:
        """A number that is neither NaN nor infinite."""
        number = self.number(key)
        if not math.isfinite(number):
            raise self.wrong(key, number, "a finite number")
        return number

    def record(self, key: str) -> Record:
        """Named values under one name."""
        return Record.of(self._get(key), f"'{key}' of {self.place}")

    def records(self, key: str, noun: str) -> Iterator[Record]:
        """A list of named values, each of which messages call by a noun and its number."""
        for number, value in enumerate(self._list(key), 1):
            yield Record.of(value, f"{noun} {number} of {self.place}")

    def wrong(self, key: str, value: object, expected: str) -> FileError:
        """The error of a value that is not what was expected."""
        shown = repr(value) if isinstance(value, float) else quote(value)
        return damaged(f"'{key}' of {self.place} is {shown}, expected {expected}")

    def _get(self, key: str) -> Any:
        if key not in self.values:
            raise damaged(f"{self.place} has no '{key}'")
        return self.values[key]

    def _list(self, key: str) -> list[Any]:
        value = self._get(key)
        if not isinstance(value, list):
            raise self.wrong(key, value, "a list")
        return value

    def _text(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self.wrong(key, value, "a text")
        return value

    def _count(self, key: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(key, value, "a whole number from 0 on")
        return value

    def _number(self, key: str, value: object) -> float:
        if isinstance(value, str) and value in _NOT_FINITE:
            return _NOT_FINITE[value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, value, "a number")
        if abs(value) > sys.float_info.max:
            raise self.wrong(key, value, "a number that fits into 64 bits")
        return float(value)


class Packing:
    """Arrays on their way to a file, each appended to the numbers of its name."""

    def __init__(self, names: Sequence[str]) -> None:
        self._parts: dict[str, list[Array]] = {name: [] for name in names}

    def add(self, name: str, values: Array) -> None:
        """Append the numbers of an array, row by row."""
        self._parts[name].append(np.asarray(values, dtype=np.float64).ravel())

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
        self._place = place

    def take(self, name: str, *shape: int) -> Array:
        """The next array of a name; its shape is known from elsewhere."""
        size, left = math.prod(shape), self._left[name]
        if size > len(left):
            raise damaged(
                f"'{name}' of {self._place} has {len(left)} numbers left where "
                f"{' × '.join(map(str, shape))} are expected"
            )
        self._left[name] = left[size:]
        return left[:size].reshape(shape)

    def has(self, name: str) -> bool:
        """Whether any numbers of a name are left."""
        return len(self._left[name]) > 0

    def finish(self) -> None:
        """Refuse numbers that nobody has asked for."""
        for name, left in self._left.items():
            if len(left):
                raise damaged(f"'{name}' of {self._place} has {len(left)} numbers too many")
