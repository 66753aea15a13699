"""What the grammar must know about a family of base kernels; formulas belong to `kernels`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from vbks.errors import GrammarError
from vbks.grammar.quoting import quote

RESERVED_WORDS = ("CP", "CW")
"""Names of the change operators, which a text could not tell from a family."""

BASE_FAMILIES = ("SE", "RQ", "LIN", "PER")
"""The four families of the VBKS and CKS papers, from which K144 is made."""

GROWN_FAMILIES = (*BASE_FAMILIES, "OU")
"""What a space grows from: smooth and periodic functions, lines, and functions without slopes."""


Separable = Literal["product", "sum"]


@dataclass(frozen=True)
class FamilyRules:
    """What is known of the structure of a family of base kernels.

    ``closed_under_products`` says that the product of two leaves on the same input is one of them,
    as SE × SE is SE: the kernel is exp(−λ a(x, x')), with one parameter for each input, which makes
    λ. ``sum_of_two`` names the families that the sum of two leaves on the same input is made of, as
    LIN + LIN is LIN + C. ``special_cases`` names families that it contains, at least in a limit. A
    ``separable`` family on several inputs is the product, or the sum, of such leaves on each.
    """

    name: str
    stationary: bool
    uses_input: bool = True
    closed_under_products: bool = False
    sum_of_two: tuple[str, ...] = ()
    special_cases: tuple[str, ...] = ()
    separable: Separable | None = None


_RULES = {
    rules.name: rules
    for rules in (
        FamilyRules("SE", stationary=True, closed_under_products=True, separable="product"),
        FamilyRules("RQ", stationary=True, special_cases=("SE",)),
        FamilyRules("OU", stationary=True, closed_under_products=True, separable="product"),
        FamilyRules("M32", stationary=True),
        FamilyRules("M52", stationary=True),
        FamilyRules("PER", stationary=True, separable="product"),
        FamilyRules("PER0", stationary=True, separable="product"),
        FamilyRules("LIN", stationary=False, sum_of_two=("LIN", "C"), separable="sum"),
        FamilyRules("C", stationary=True, uses_input=False, sum_of_two=("C",)),
        FamilyRules("WN", stationary=True, uses_input=False, sum_of_two=("WN",)),
    )
}


def declare(rules: FamilyRules, *, replace: bool = False) -> None:
    """Make a family known to the grammar; the same declaration twice is harmless.

    Other rules for a known name are refused, unless they are to ``replace`` those it had.
    """
    name = rules.name
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise GrammarError(
            f"{quote(name)} cannot name a family. "
            "Use letters, digits and underscores, starting with a letter."
        )
    if name in RESERVED_WORDS:
        raise GrammarError(f"'{name}' is the name of an operator. Give the family another name.")
    for other in (*rules.sum_of_two, *rules.special_cases):
        if other != name:
            rules_of(other)
    if replace:
        _RULES[name] = rules
    known = _RULES.setdefault(name, rules)
    if known != rules:
        raise GrammarError(
            f"family '{name}' is already declared as {known}, now as {rules}. "
            "Give the new family another name."
        )


def known_families() -> tuple[str, ...]:
    """Names of all declared families, in alphabetical order."""
    return tuple(sorted(_RULES))


def is_known(name: str) -> bool:
    """Whether a family of this name has been declared."""
    return name in _RULES


def rules_of(name: str) -> FamilyRules:
    """The rules of a declared family."""
    rules = _RULES.get(name) if isinstance(name, str) else None
    if rules is None:
        raise GrammarError(f"unknown family {quote(name)}. {known_families_sentence()}")
    return rules


def known_families_sentence() -> str:
    """The end of every message about an unknown family."""
    return f"Known: {', '.join(known_families())}."
