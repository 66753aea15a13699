"""The prior p(k) over structures: named ones, or a user's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from vbks.arrays import Array, Mask
from vbks.errors import DataError, GrammarError, SettingsError
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.prior import grammar_prior, own_prior, uniform_prior
from vbks.inference.result import LocalFit

PriorName = Literal["uniform", "grammar"]
"""All structures alike, or smaller ones likelier."""

PriorWeights = Mapping[str, float]
"""Relative probabilities of structures by their texts."""

KernelPrior = PriorName | PriorWeights | Callable[[Expression], float]
"""A name, relative probabilities of expressions, or a function that gives that of an expression."""

_NAMED: dict[str, Callable[[Sequence[Expression | str]], tuple[float, ...]]] = {
    "uniform": uniform_prior,
    "grammar": grammar_prior,
}


def check_prior(prior: KernelPrior, is_growing: bool = False) -> None:
    """Refuse what is no prior before any work; a list of structures cannot cover a growing space.

    Values of a mapping are checked with it, those of a function when structures are known.
    """
    if isinstance(prior, str):
        if prior not in _NAMED:
            raise SettingsError(
                f"prior is {prior!r}, expected one of {', '.join(get_args(PriorName))}, a mapping "
                "from expressions to numbers, or a function of an expression."
            )
    elif isinstance(prior, Mapping):
        if is_growing:
            raise DataError(
                "the prior names some expressions, but the space grows to others. Give a function "
                "of an expression as prior=, or the list of expressions as space=."
            )
        own_prior(tuple(map(parse, prior)), _looked_up(prior))
    elif not callable(prior):
        raise SettingsError(
            f"prior is of the type {type(prior).__name__}, expected a name, a mapping from "
            "expressions to numbers, or a function of an expression."
        )


def as_weights(prior: KernelPrior, expressions: Sequence[Expression]) -> PriorName | PriorWeights:
    """A prior that can be saved: a name, or the relative probability of each structure."""
    if isinstance(prior, str):
        return prior
    weight_of = _looked_up(prior) if isinstance(prior, Mapping) else prior
    forms = dict.fromkeys(map(canonical, expressions))
    own_prior(tuple(forms), weight_of)
    return {str(form): float(weight_of(form)) for form in forms}


def log_prior(
    fits: Sequence[LocalFit], prior: KernelPrior = "uniform", taking_part: Mask | None = None
) -> Array:
    """log p(k) + log p(w) of candidates, which are pairs of an expression and a warp: [K].

    A structure has its probability once under each warp: those of its copies that take part share
    it. All are there by default; those that do not take part have what they would have alone.
    """
    counts = taking_part if taking_part is not None else np.ones(len(fits), bool)
    pairs = [(_form(fit.expression), fit.warp) for fit in fits]
    forms = list(dict.fromkeys(form for form, _ in pairs))
    of_form = dict(zip(forms, _log_probabilities(forms, prior), strict=True))
    copies = Counter(pair for pair, counted in zip(pairs, counts, strict=True) if counted)
    num_warps = len({warp for _, warp in pairs})
    return np.array(
        [of_form[form] - math.log(max(1, copies[form, warp]) * num_warps) for form, warp in pairs]
    )


@lru_cache(maxsize=16_384)
def _form(expression: Expression) -> Expression:
    """The structure of an expression, which a search asks for again and again."""
    return canonical(expression)


def _log_probabilities(forms: Sequence[Expression], prior: KernelPrior) -> tuple[float, ...]:
    if isinstance(prior, str):
        return _NAMED[prior](forms)
    return own_prior(forms, _looked_up(prior) if isinstance(prior, Mapping) else prior)


def _looked_up(weights: Mapping[str, float]) -> Callable[[Expression], float]:
    """A mapping as a function of structures, in whatever form its expressions are written."""
    found: dict[Expression, float] = {}
    for text, weight in weights.items():
        form = canonical(parse(text))
        if form in found and found[form] != weight:
            raise GrammarError(
                f"the prior has two numbers, {found[form]} and {weight}, for expressions of the "
                f"structure '{form}'. Give one."
            )
        found[form] = weight

    def weight_of(form: Expression) -> float:
        if canonical(form) not in found:
            raise GrammarError(
                f"the prior has no number for '{form}'. Name every expression of the space, or "
                "give a function of an expression."
            )
        return found[canonical(form)]

    return weight_of
