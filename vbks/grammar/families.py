"""What the grammar must know about a family of base kernels; formulas belong to `kernels`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vbks.errors import GrammarError
from vbks.grammar.quoting import quote

RESERVED_WORDS = ("CP", "CW")
"""Names of the change operators, which a text could not tell from a family."""

BASE_FAMILIES = ("SE", "RQ", "LIN", "PER")
"""The four families of the VBKS and CKS papers, from which K144 is made."""

GROWN_FAMILIES = (*BASE_FAMILIES, "OU")
"""What a space grows from: smooth functions, waves and lines, and functions that are rough."""


@dataclass(frozen=True)
class FamilyRules:
    """The properties of a family that decide which expressions have the same structure."""

    name: str
    stationary: bool
    uses_input: bool = True


_RULES = {
    rules.name: rules
    for rules in (
        FamilyRules("SE", stationary=True),
        FamilyRules("RQ", stationary=True),
        FamilyRules("OU", stationary=True),
        FamilyRules("PER", stationary=True),
        FamilyRules("PER0", stationary=True),
        FamilyRules("LIN", stationary=False),
        FamilyRules("C", stationary=True, uses_input=False),
        FamilyRules("WN", stationary=True, uses_input=False),
    )
}


def declare(rules: FamilyRules) -> None:
    """Make a family known to the grammar; the same declaration twice is harmless."""
    name = rules.name
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise GrammarError(
            f"{quote(name)} cannot name a family. "
            "Use letters, digits and underscores, starting with a letter."
        )
    if name in RESERVED_WORDS:
        raise GrammarError(f"'{name}' is the name of an operator. Give the family another name.")
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
