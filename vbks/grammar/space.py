"""Spaces of candidates: all expressions up to a size, and the two that the VBKS paper uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations_with_replacement, product

from vbks.errors import GrammarError
from vbks.grammar.canonical import arrange, leaves_first
from vbks.grammar.expression import Expression, Leaf, Product, Sum, depth, num_leaves, operands
from vbks.grammar.families import BASE_FAMILIES
from vbks.grammar.parser import parse
from vbks.grammar.quoting import quote
from vbks.grammar.vocabulary import Dims, vocabulary

LEVEL = 3
"""Leaves per expression in K144, the largest space of the VBKS paper."""

MAX_SPACE = 200_000
"""Expressions in one space, a thousand times K144: larger ones are searched, not listed."""

_Pools = dict[int, Sequence[Expression]]


def space(
    level: int = LEVEL, families: Sequence[str] = BASE_FAMILIES, dims: Dims = 1
) -> tuple[Expression, ...]:
    """Every expression of at most `level` leaves, up to reordering, smaller ones first.

    They are arranged but not simplified: SE and SE × SE are both there, as in the VBKS paper.
    """
    if isinstance(level, bool) or not isinstance(level, int) or level < 1:
        raise GrammarError(f"the level is a number of leaves, at least 1, got {quote(level)}.")
    words = vocabulary(families, dims)
    _check_size(level, len(words))
    sums: _Pools = {1: words}
    products: _Pools = {1: words}
    for size in range(2, level + 1):
        sums[size] = [Sum(terms) for terms in _multisets(size, products)]
        products[size] = [Product(factors) for factors in _multisets(size, sums)]
    compound = (e for size in range(2, level + 1) for e in (*sums[size], *products[size]))
    return tuple(sorted((*words, *compound), key=_by_size_and_shape))


def _check_size(level: int, num_words: int) -> None:
    """Count before listing, and no further than the limit.

    Of n leaves there are bₙ expressions, half of them sums (for n > 1). A sum is a multiset of
    leaves and products, so bₙ/2 = [xⁿ] Πₖ₌₁ⁿ⁻¹ (1 − xᵏ)^(−aₖ) with a₁ = b₁ and aₖ = bₖ/2; the
    recursion below is the logarithmic derivative of that.
    """
    a, b = {1: num_words}, {0: 1, 1: num_words}
    for n in range(2, level + 1):
        shorter = sum(_divisor_sum(a, k) * b[n - k] for k in range(1, n))
        a[n] = (shorter + _divisor_sum(a, n)) // n
        b[n] = 2 * a[n]
        if sum(b.values()) - 1 > MAX_SPACE:
            break
    if sum(b.values()) - 1 > MAX_SPACE:
        raise GrammarError(
            f"a space of level {quote(level)} over {num_words} leaves has more than {MAX_SPACE} "
            "expressions. Lower the level or name fewer families or inputs."
        )


def _divisor_sum(a: dict[int, int], k: int) -> int:
    return sum(d * count for d, count in a.items() if k % d == 0)


def _multisets(size: int, pools: _Pools) -> Iterator[tuple[Expression, ...]]:
    for partition in _partitions(size, size - 1):
        parts = Counter(partition).items()
        choices = (combinations_with_replacement(pools[part], times) for part, times in parts)
        for choice in product(*choices):
            yield tuple(sorted(chain.from_iterable(choice), key=leaves_first))


def _partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    for part in range(min(total, largest), 0, -1):
        for rest in _partitions(total - part, part):
            yield (part, *rest)


def _by_size_and_shape(expression: Expression) -> tuple[int, int, bool, str, str]:
    is_product = isinstance(expression, Product)
    size = num_leaves(expression), depth(expression)
    return *size, is_product, _shape(expression), str(expression)


def _shape(expression: Expression) -> str:
    if isinstance(expression, Leaf):
        return "A"
    sign = "*" if isinstance(expression, Product) else "+"
    return f"({sign.join(sorted(map(_shape, operands(expression))))})"


K144 = space(LEVEL)
"""Every expression of at most three leaves over SE, RQ, LIN and PER: 4 + 20 + 120."""

K12 = tuple(
    arrange(parse(text))
    for text in (
        "LIN + RQ",
        "LIN * RQ + LIN",
        "LIN * RQ + PER",
        "PER + RQ + SE",
        "PER + LIN + RQ",
        "PER + PER + SE",
        "PER * SE + SE",
        "PER * RQ + SE",
        "PER * LIN + SE",
        "PER * LIN * SE",
        "PER * LIN * RQ",
        "(PER + RQ) * LIN",
    )
)
"""The twelve kernels of the VBKS paper's synthetic experiments (Table 1), k1 to k12."""

NAMED = {"K12": K12, "K144": K144}
"""Spaces that have names."""


def parse_space(text: str) -> tuple[Expression, ...]:
    """The space of a name, or of expressions between commas."""
    if text in NAMED:
        return NAMED[text]
    try:
        return tuple(map(parse, _between_commas(text)))
    except GrammarError as error:
        named = ", ".join(map(repr, NAMED))
        if text.isalpha() and text.islower():
            raise GrammarError(
                f"space is {text!r}, expected 'grow', {named} or expressions such as "
                "'SE, SE * PER'."
            ) from None
        if not text.isidentifier():
            raise
        raise GrammarError(f"{error} A space may also be 'grow' or one of {named}.") from None


def _between_commas(text: str) -> list[str]:
    """The parts of a text between its commas, but for those in brackets, which `CP` has."""
    parts, depth_now = [""], 0
    for letter in text:
        depth_now += (letter == "(") - (letter == ")")
        if letter == "," and depth_now == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
