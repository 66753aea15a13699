"""From texts such as `SE * (PER + LIN[2])` to expressions.

    sum     = product { "+" product }
    product = atom { ("*" | "×") atom }
    atom    = FAMILY [ input ] | "(" sum ")" | ("CP" | "CW") [ input ] "(" sum "," sum ")"
    input   = "[" digits "]"

Open brackets are kept on a list and not on Python's call stack, so the worst that a text can do,
however long or deeply nested, is to be refused; the time taken grows with its length.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from vbks.errors import GrammarError
from vbks.grammar.expression import (
    MAX_DIM,
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    LimitError,
    add,
    multiply,
)
from vbks.grammar.families import is_known, known_families_sentence
from vbks.grammar.quoting import quote
from vbks.grammar.reader import END, Reader

_CHANGES: dict[str, type[ChangePoint] | type[ChangeWindow]] = {
    "CP": ChangePoint,
    "CW": ChangeWindow,
}


def parse(text: str | bytes | Expression) -> Expression:
    """The expression that a text stands for; an expression is returned as it is."""
    if isinstance(text, Expression):
        return text
    if isinstance(text, bytes | bytearray):
        text = _decoded(text)
    if not isinstance(text, str):
        raise GrammarError(f"expected a text or an Expression, got {quote(text)}.")
    reader = Reader(text)
    try:
        return _read(reader)
    except LimitError as error:
        raise LimitError(f"{str(error).rstrip('.')}, {reader.place()}.") from None


def _decoded(text: bytes | bytearray) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} of the text is not UTF-8. Encode the text as UTF-8."
        raise GrammarError(message) from None


@dataclass
class _Chain:
    """Operands of one operator, not built before they are complete.

    Two chains are joined by moving the shorter one, which keeps `a + (b + (c + ...` as fast as
    `((a + b) + c) + ...`.
    """

    operator: str
    items: deque[Expression]

    def join(self, operator: str, other: _Chain) -> _Chain:
        left, right = self._under(operator), other._under(operator)
        if len(left) < len(right):
            right.extendleft(reversed(left))
            return _Chain(operator, right)
        left.extend(right)
        return _Chain(operator, left)

    def build(self) -> Expression:
        return multiply(*self.items) if self.operator == "*" else add(*self.items)

    def _under(self, operator: str) -> deque[Expression]:
        return self.items if operator == self.operator else deque([self.build()])


@dataclass
class _Group:
    """A bracket that is still open, or the text itself, and what has been read of it."""

    closer: str
    change: type[ChangePoint] | type[ChangeWindow] | None = None
    dim: int = 1
    sides: list[Expression] = field(default_factory=list)
    total: _Chain | None = None
    product: _Chain | None = None

    def multiply(self, atom: _Chain) -> _Chain:
        self.product = atom if self.product is None else self.product.join("*", atom)
        return self.product

    def add(self, atom: _Chain) -> _Chain:
        product, self.product = self.multiply(atom), None
        self.total = product if self.total is None else self.total.join("+", product)
        return self.total

    def end_first_side(self, atom: _Chain) -> None:
        self.sides.append(self.add(atom).build())
        self.total, self.closer = None, ")"

    def close(self, atom: _Chain) -> _Chain:
        total = self.add(atom)
        if self.change is None:
            return total
        return _single(self.change(self.sides[0], total.build(), self.dim))


def _single(atom: Expression) -> _Chain:
    return _Chain("", deque([atom]))


def _read(reader: Reader) -> Expression:
    groups = [_Group(closer=END)]
    while True:
        opened = _read_opening(reader)
        if opened is not None:
            groups.append(opened)
            continue
        atom = _single(_read_leaf(reader))
        while reader.word.text == groups[-1].closer == ")":
            reader.take()
            atom = groups.pop().close(atom)
        group = groups[-1]
        if reader.skip("*") or reader.skip("×"):
            group.multiply(atom)
        elif reader.skip("+"):
            group.add(atom)
        elif reader.word.text != group.closer:
            closer = quote(group.closer) if group.closer else "the end"
            raise reader.expected(f"'+', '*' or {closer}")
        elif reader.skip(","):
            group.end_first_side(atom)
        else:
            return group.close(atom).build()


def _read_opening(reader: Reader) -> _Group | None:
    if reader.skip("("):
        return _Group(closer=")")
    if reader.word.text not in _CHANGES:
        return None
    change = _CHANGES[reader.take()]
    dim = _read_dim(reader) or 1
    reader.require("(")
    return _Group(closer=",", change=change, dim=dim)


def _read_leaf(reader: Reader) -> Leaf:
    if reader.word.kind != "name":
        raise reader.expected("a kernel")
    if not is_known(reader.word.text):
        unknown = f"unknown family {quote(reader.word.text)} {reader.place()}."
        raise GrammarError(f"{unknown} {known_families_sentence()}")
    return Leaf(reader.take(), _read_dim(reader))


def _read_dim(reader: Reader) -> int | None:
    if not reader.skip("["):
        return None
    digits = reader.word.text.lstrip("0") or "0"
    if reader.word.kind != "number":
        raise reader.expected("the number of an input")
    # Python refuses to convert very long numbers, so their length is looked at first.
    if len(digits) > len(str(MAX_DIM)) or not 1 <= int(digits) <= MAX_DIM:
        counted = f"inputs are counted from 1 to {MAX_DIM}"
        raise GrammarError(f"{counted}, got {quote(reader.word.text)} {reader.place()}.")
    reader.take()
    reader.require("]")
    return int(digits)
