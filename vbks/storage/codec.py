"""Frozen dataclasses as plain values and packed arrays, and back, by the types of their fields.

The types of the fields say what a file may hold: nothing in a file names a type or a function.
Numbers, texts, truth values, tuples, mappings and dataclasses become JSON; NumPy arrays are packed,
and JSON has their shapes. Whatever is not as it was written is refused with its place and name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from vbks.arrays import Array
from vbks.errors import FileError, VbksError
from vbks.storage.records import (
    Packing,
    Record,
    Unpacking,
    as_count,
    as_finite,
    as_flag,
    as_list,
    as_number,
    as_one_of,
    as_text,
    damaged,
    plain_number,
    wrong,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """A frozen dataclass that files may hold.

    Args:
        type: the class.
        noun: what messages call one of several.
        sizes: letters for the shape of an array, "M M", the length of a tuple or the value of a
            count, "D"; equal letters stand for equal numbers.
        own: letters that stand for numbers of this value, and of what is in it, alone.
        prefix: what names of its arrays begin with in files.
        left_out: fields that files do not have.
        finite: numbers that are neither NaN nor infinite.
        shared: arrays that are stored once, however many values have them.
        check: refuses a value whose fields do not go with each other, by its place.
    """

    type: type
    noun: str = "part"
    sizes: Mapping[str, str] = field(default_factory=dict)
    own: str = ""
    prefix: str = ""
    left_out: tuple[str, ...] = ()
    finite: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    check: Callable[[Any, str], None] | None = None

    @property
    def stored(self) -> dict[str, Any]:
        """The fields that files have, and their types."""
        hints = _hints(self.type)
        names = [own.name for own in fields(self.type) if own.name not in self.left_out]
        return {name: hints[name] for name in names}


@dataclass(frozen=True)
class PlainKind:
    """Values with an encoding of their own; ``decode`` is told what messages call them."""

    encode: Callable[[Any], object]
    decode: Callable[[object, str], Any]


@dataclass(frozen=True)
class StandIn:
    """Values in whose place files hold a dataclass."""

    type: type
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


class Sizes:
    """The numbers that letters stand for in a value, and in what it is part of."""

    def __init__(self, own: str = "", outer: Sizes | None = None) -> None:
        self._own, self._outer = own, outer
        self._known: dict[str, int] = {}

    def bind(self, letters: str, shape: Sequence[int], what: str) -> None:
        """Note what letters stand for, or refuse a shape that does not go with it."""
        names = letters.split()
        shown = " × ".join(map(str, shape))
        if len(names) != len(shape):
            raise damaged(f"{what} has the shape {shown}, expected {' × '.join(names)}")
        for name, size in zip(names, shape, strict=True):
            known = self._holder(name)._known.setdefault(name, size)
            if known != size:
                raise damaged(f"{what} has the size {shown}, expected {name} = {known}")

    def _holder(self, name: str) -> Sizes:
        return self if self._outer is None or name in self._own else self._outer._holder(name)


class Codec:
    """What files may hold: dataclasses, values with encodings of their own, and stand-ins."""

    def __init__(
        self,
        kinds: Iterable[Kind],
        plain: Mapping[Any, PlainKind],
        stand_ins: Mapping[Any, StandIn] | None = None,
    ) -> None:
        self.kinds = {kind.type: kind for kind in kinds}
        self.plain, self.stand_ins = dict(plain), dict(stand_ins or {})

    def extended(
        self,
        kinds: Iterable[Kind],
        plain: Mapping[Any, PlainKind],
        stand_ins: Mapping[Any, StandIn],
    ) -> Codec:
        """A codec that knows these, too."""
        both = [*self.kinds.values(), *kinds]
        return Codec(both, {**self.plain, **plain}, {**self.stand_ins, **stand_ins})

    @property
    def array_names(self) -> tuple[str, ...]:
        """The names of all packed arrays."""
        return tuple(
            f"{kind.prefix}{name}"
            for kind in self.kinds.values()
            for name, hint in kind.stored.items()
            if _alternatives(hint) == [Array]
        )

    def encode(
        self,
        value: object,
        packing: Packing,
        outer: Sizes | None = None,
        as_type: type | None = None,
    ) -> dict[str, Any]:
        """The plain values of a dataclass, or of one that it is built on; arrays are packed."""
        kind = self.kinds[as_type or type(value)]
        sizes = Sizes(kind.own, outer)
        return {
            name: _Writer(self, kind, name, packing, sizes).field(hint, getattr(value, name))
            for name, hint in kind.stored.items()
        }

    def decode(
        self,
        type_: type[T],
        record: Record,
        unpacking: Unpacking,
        before: T | None = None,
        outer: Sizes | None = None,
    ) -> T:
        """The dataclass of plain values and the next arrays, or a `FileError`.

        Fields that files do not have are those of ``before``, or the defaults of the class.
        """
        kind = self.kinds[type_]
        sizes = Sizes(kind.own, outer)
        record.refuse_others([*kind.stored])
        found = {
            name: _Reader(self, kind, name, unpacking, sizes).field(hint, record)
            for name, hint in kind.stored.items()
        }
        try:
            made: T = type_(**found) if before is None else replace(before, **found)  # type: ignore[type-var]
            if kind.check is not None:
                kind.check(made, record.place)
        except FileError:
            raise
        except VbksError as error:
            raise damaged(f"{record.place} cannot be read: {str(error).rstrip('.')}") from None
        return made


@dataclass(frozen=True)
class _Writer:
    """Writes one field."""

    codec: Codec
    kind: Kind
    name: str
    packing: Packing
    sizes: Sizes

    def field(self, hint: Any, value: Any) -> Any:
        """The whole field as plain values."""
        letters = self.kind.sizes.get(self.name)
        if letters is not None and isinstance(value, int | tuple):
            size = len(value) if isinstance(value, tuple) else value
            self.sizes.bind(letters, (size,), self._what)
        return self.write(hint, value)

    def write(self, hint: Any, value: Any) -> Any:
        """A value of some type as plain values."""
        codec, origin = self.codec, get_origin(hint)
        if hint in codec.plain:
            return codec.plain[hint].encode(value)
        if hint in codec.stand_ins:
            return codec.encode(codec.stand_ins[hint].encode(value), self.packing, self.sizes)
        if _is_union(hint):
            return None if value is None else self.write(_chosen(hint, value), value)
        if hint == Array:
            return self._array(value)
        if origin is tuple:
            return [self.write(own, part) for own, part in _items(hint, value)]
        if _is_mapping(hint) and isinstance(value, Mapping):
            key, own = get_args(hint)
            return [[self.write(key, k), self.write(own, v)] for k, v in value.items()]
        if hint in codec.kinds:
            return codec.encode(value, self.packing, self.sizes)
        if hint is float:
            return plain_number(value)
        if hint in (bool, int, str):
            return hint(value)
        if origin is Literal:
            return value
        raise FileError(f"{self._what} cannot be saved, as it is a {type(value).__name__}.")

    def _array(self, values: Array) -> int | list[int]:
        """The shape of a packed array, or the number of an equal one that is there."""
        name = f"{self.kind.prefix}{self.name}"
        self.sizes.bind(self.kind.sizes[self.name], values.shape, self._what)
        if self.name not in self.kind.shared:
            self.packing.add(name, values)
            return list(values.shape)
        place = self.packing.add_once(name, values)
        return list(values.shape) if place is None else place

    @property
    def _what(self) -> str:
        return f"'{self.name}' of a {self.kind.noun}"


@dataclass(frozen=True)
class _Reader:
    """Reads one field; ``what`` is what messages call a value."""

    codec: Codec
    kind: Kind
    name: str
    unpacking: Unpacking
    sizes: Sizes

    def field(self, hint: Any, record: Record) -> Any:
        """The whole field of a record."""
        what, letters = record.what(self.name), self.kind.sizes.get(self.name)
        found = self.read(hint, record.value(self.name), what, record.place)
        if letters is not None and isinstance(found, int | tuple):
            self.sizes.bind(letters, (len(found) if isinstance(found, tuple) else found,), what)
        return found

    def read(self, hint: Any, value: object, what: str, place: str) -> Any:
        """The value of some type that a plain value stands for."""
        codec, origin = self.codec, get_origin(hint)
        if hint in codec.plain:
            return codec.plain[hint].decode(value, what)
        if hint in codec.stand_ins:
            stand_in = codec.stand_ins[hint]
            return stand_in.decode(self._dataclass(stand_in.type, value, what))
        if _is_union(hint):
            if value is None and NoneType in get_args(hint):
                return None
            return self.read(_chosen(hint, value), value, what, place)
        if hint == Array:
            return self._array(value, what)
        if origin is tuple:
            return self._tuple(hint, value, what, place)
        if _is_mapping(hint):
            return self._mapping(hint, value, what, place)
        if hint in codec.kinds:
            return self._dataclass(hint, value, what)
        if origin is Literal:
            return as_one_of(value, what, get_args(hint))
        if hint is float and self.name in self.kind.finite:
            return as_finite(value, what)
        return _SCALARS[hint](value, what)

    def _dataclass(self, type_: type, value: object, what: str) -> Any:
        return self.codec.decode(type_, Record.of(value, what), self.unpacking, outer=self.sizes)

    def _tuple(self, hint: Any, value: object, what: str, place: str) -> tuple[Any, ...]:
        values, types = as_list(value, what), get_args(hint)
        if types[-1] is not Ellipsis and len(values) != len(types):
            raise wrong(what, value, f"{len(types)} values")
        kind = self.codec.kinds.get(types[0])
        return tuple(
            self.read(own, part, f"{kind.noun} {number} of {place}" if kind else what, place)
            for number, (own, part) in enumerate(_items(hint, values), 1)
        )

    def _mapping(self, hint: Any, value: object, what: str, place: str) -> dict[Any, Any]:
        key, own = get_args(hint)
        found = {}
        for pair in as_list(value, what):
            if not isinstance(pair, list) or len(pair) != 2:
                raise wrong(what, pair, "a list of keys and values")
            found[self.read(key, pair[0], what, place)] = self.read(own, pair[1], what, place)
        return found

    def _array(self, value: object, what: str) -> Array:
        name = f"{self.kind.prefix}{self.name}"
        if self.name in self.kind.shared and not isinstance(value, list):
            known, place = self.unpacking.taken(name), as_count(value, what)
            if place >= len(known):
                raise wrong(what, value, f"a number below {len(known)}")
            found = known[place]
        else:
            shape = [as_count(size, what) for size in as_list(value, what)]
            found = self.unpacking.take(name, *shape)
        self.sizes.bind(self.kind.sizes[self.name], found.shape, what)
        return found


_SCALARS: dict[Any, Callable[[object, str], Any]] = {
    bool: as_flag,
    int: as_count,
    float: as_number,
    str: as_text,
}


@cache
def _hints(type_: type) -> dict[str, Any]:
    return get_type_hints(type_)


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


def _is_mapping(hint: Any) -> bool:
    return get_origin(hint) is Mapping


def _alternatives(hint: Any) -> list[Any]:
    """The types of a union that files may hold: not None, no functions, one kind of numbers."""
    if not _is_union(hint):
        return [hint]
    own = [a for a in get_args(hint) if a is not NoneType and get_origin(a) is not Callable]
    return own if own == [Array] else [a for a in own if a != Array]


def _chosen(hint: Any, value: object) -> Any:
    """The type of a union that a value is of: its text if it has one, or the other."""
    known = _alternatives(hint)
    texts = [own for own in known if own is str or get_origin(own) is Literal]
    others = [own for own in known if own not in texts]
    return texts[0] if texts and (isinstance(value, str) or not others) else others[0]


def _items(hint: Any, values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """The values of a tuple with the type of each."""
    types = get_args(hint)
    each = types if types[-1] is not Ellipsis else types[:1] * len(values)
    return zip(each, values, strict=True)
