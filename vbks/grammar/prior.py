"""Prior probabilities p(k) of the expressions in a list, as logarithms.

A structure has its probability once, however many expressions write it: its copies share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, inf, lgamma, log

from vbks.errors import GrammarError
from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    Product,
    Sum,
    leaves,
    operands,
    subexpressions,
)
from vbks.grammar.parser import parse

GROWTH = 0.4
"""Chance that a node is an operator. With 2.25 operands on average, a node has 0.9 nodes below it,
so a tree ends with certainty and has ten nodes on average: about the size that searches reach."""

WIDTH = 0.2
"""Chance of one more operand after two in a sum or product: most have two, few more than three."""

MAX_GROWTH = 1 / (2 + WIDTH / (1 - WIDTH))
"""Beyond this chance a node has more than one node below it, and trees may never end."""


def uniform_prior(expressions: Sequence[Expression | str]) -> tuple[float, ...]:
    """log p(k), the same for every structure."""
    parsed = [parse(expression) for expression in expressions]
    return _shared(parsed, lambda forms: [0.0] * len(forms))


def grammar_prior(
    expressions: Sequence[Expression | str],
    growth: float = GROWTH,
    vocabulary: Iterable[Leaf] = (),
) -> tuple[float, ...]:
    """log p(k) in a grammar that grows trees at random, so that small structures are likelier.

    A node is a leaf with probability 1 − growth, any of the vocabulary alike: the leaves that
    occur and those given. Otherwise it is an operator: a sum, a product, or a change if changes
    occur, each alike, but never its parent's own operator if that merges with it. A sum or
    product has n ≥ 2 operands with probability (1 − w) wⁿ⁻², w being WIDTH; a change acts along
    any of the inputs that changes name alike. As sums and products do not mind the order, all
    orders of their operands are counted together.
    """
    if not 0 < growth <= MAX_GROWTH:
        raise GrammarError(f"growth must be above 0 and at most {MAX_GROWTH:.3f}, got {growth}.")

    def log_probabilities(forms: Sequence[Expression]) -> list[float]:
        grammar = _Grammar.of(forms, growth, vocabulary)
        return [grammar.log_probability(form) for form in forms]

    return _shared([parse(expression) for expression in expressions], log_probabilities)


def own_prior(
    expressions: Sequence[Expression | str], weight_of: Callable[[Expression], float]
) -> tuple[float, ...]:
    """log p(k) in proportion to a weight of each structure; those of weight zero have −∞."""

    def log_weights(forms: Sequence[Expression]) -> list[float]:
        weights = [float(weight_of(form)) for form in forms]
        for form, weight in zip(forms, weights, strict=True):
            if not 0 <= weight < inf:
                raise GrammarError(
                    f"the prior of '{form}' is {weight}, expected a number from 0 on."
                )
        if not any(weights):
            raise GrammarError(f"the prior of all {len(forms)} structures is 0.")
        return [log(weight) if weight else -inf for weight in weights]

    return _shared([parse(expression) for expression in expressions], log_weights)


@dataclass(frozen=True)
class _Grammar:
    growth: float
    num_words: int
    operators: frozenset[type[Expression]]
    num_inputs: int

    @classmethod
    def of(cls, forms: Sequence[Expression], growth: float, vocabulary: Iterable[Leaf]) -> _Grammar:
        """The smallest grammar that can write all forms."""
        nodes = [node for form in forms for node in subexpressions(form)]
        words = {canonical(leaf) for leaf in vocabulary}.union(*map(leaves, forms))
        changes = [node for node in nodes if isinstance(node, ChangePoint | ChangeWindow)]
        operators = frozenset({Sum, Product, *map(type, changes)})
        return cls(growth, len(words), operators, len({change.dim for change in changes}))

    def log_probability(
        self, expression: Expression, parent: type[Expression] | None = None
    ) -> float:
        """log p of the unordered tree, as a node below an operator of the type `parent`."""
        if isinstance(expression, Leaf):
            return log(1 - self.growth) - log(self.num_words)
        kind, parts = type(expression), operands(expression)
        allowed = len(self.operators) - (parent in (Sum, Product))
        total = log(self.growth) - log(allowed)
        if kind in (Sum, Product):
            total += log(1 - WIDTH) + (len(parts) - 2) * log(WIDTH) + _log_orders(parts)
        else:
            total -= log(self.num_inputs)
        return total + fsum(self.log_probability(part, kind) for part in parts)


def _log_orders(parts: Sequence[Expression]) -> float:
    """log of the number of different orders, n! / Πᵢ mᵢ! with mᵢ copies of the i-th part."""
    copies = Counter(parts).values()
    return lgamma(len(parts) + 1) - fsum(lgamma(number + 1) for number in copies)


def _shared(
    expressions: Sequence[Expression],
    log_weights: Callable[[Sequence[Expression]], Sequence[float]],
) -> tuple[float, ...]:
    if not expressions:
        raise GrammarError("a prior needs at least one expression, got none.")
    found = structures(expressions)
    weights = log_weights(tuple(found))
    largest = max(weights)
    evidence = largest + log(fsum(exp(weight - largest) for weight in weights))
    shared = {}
    for copies, weight in zip(found.values(), weights, strict=True):
        for position in copies:
            shared[position] = weight - evidence - log(len(copies))
    return tuple(shared[position] for position in range(len(expressions)))
