"""Which families there are: those that come with vbks, a user's own, and GPflow kernels read in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING

from vbks.errors import GrammarError
from vbks.grammar.families import FamilyRules, Separable, declare
from vbks.kernels.family import BUILT_IN, Family, Formula, FrequencyDraws, no_formula
from vbks.kernels.formula_checks import check_formula
from vbks.kernels.gpflow.form import BY_FORMULA, GPflowForm
from vbks.kernels.parameters import Parameter
from vbks.kernels.shared_parameters import VARIANCE

if TYPE_CHECKING:
    from gpflow.kernels import Kernel

LOCK = RLock()
"""Held while families are looked up and added, which several threads may do at once."""

_FAMILIES = dict(BUILT_IN)

_CACHES: list[Callable[[], None]] = []


def family_of(name: str) -> Family:
    """The family of that name."""
    try:
        return _FAMILIES[name]
    except KeyError:
        known = ", ".join(sorted(_FAMILIES))
        raise GrammarError(f"family {name!r} has no formula. Known: {known}.") from None


def registered_families() -> tuple[str, ...]:
    """The names of all families with a formula, in alphabetical order."""
    return tuple(sorted(_FAMILIES))


def own_families() -> dict[str, Family]:
    """The families that were registered here, as far as formulas describe them."""
    with LOCK:
        added = {name: f for name, f in _FAMILIES.items() if name not in BUILT_IN}
    return {name: family for name, family in added.items() if family.evaluation_path != "opaque"}


def take_families(families: Mapping[str, Family]) -> None:
    """Know the families that were registered in another process."""
    with LOCK:
        for name, family in families.items():
            declare(family.rules, replace=True)
            _FAMILIES[name] = family
        for clear_cache in _CACHES:
            clear_cache()


def forget_on_change(clear_cache: Callable[[], None]) -> None:
    """Have a cache cleared whenever a family is replaced."""
    _CACHES.append(clear_cache)


def register_family(
    name: str,
    formula: Formula,
    parameters: Sequence[Parameter],
    *,
    stationary: bool = False,
    variance: Parameter = VARIANCE,
    closed_under_products: bool = False,
    separable: Separable | None = None,
    special_cases: Sequence[str] = (),
    constant_power: float | None = None,
    draw_frequencies: FrequencyDraws | None = None,
    gpflow: GPflowForm = BY_FORMULA,
    replace: bool = False,
) -> Family:
    """Add a family of your own, after which it can be parsed, searched, fitted and batched.

    The formula is tried on random inputs first, and refused if it is not symmetric and positive
    semi-definite, not ``stationary`` as it is said to be (a function of differences of inputs that
    is one where they are equal), not ``separable``, or not ``closed_under_products``. Those two and
    ``special_cases`` are explained at `vbks.grammar.FamilyRules`; ``draw_frequencies`` gives it
    random Fourier features, ``gpflow`` a GPflow class to be written as and read from in place of
    its formula, and ``constant_power`` says that it tends to a constant, see `Family`. With
    ``replace`` an earlier one of yours may have had the same name.
    """
    family = Family(
        FamilyRules(
            name,
            stationary,
            closed_under_products=closed_under_products,
            sum_of_two=() if parameters else (name,),
            special_cases=tuple(special_cases),
            separable=separable,
        ),
        formula,
        _checked(name, parameters),
        variance,
        constant_power=constant_power,
        draw_frequencies=draw_frequencies,
        gpflow=gpflow,
    )
    check_formula(family)
    with LOCK:
        if _FAMILIES.get(name) == family:
            return family
        if name in BUILT_IN or (name in _FAMILIES and not replace):
            remedy = "Give yours another name" + ("." if name in BUILT_IN else ", or replace=True.")
            raise GrammarError(f"family {name!r} is already registered. {remedy}")
        declare(family.rules, replace=name in _FAMILIES)
        _FAMILIES[name] = family
        for clear_cache in _CACHES:
            clear_cache()
    return family


def register_opaque(
    name: str, prototype: Kernel, parameters: tuple[Parameter, ...], *, stationary: bool = False
) -> Family:
    """Add a family whose members are copies of a GPflow kernel, which no formula here describes."""
    with LOCK:
        if name in _FAMILIES:
            raise GrammarError(f"family {name!r} is already registered. Give yours another name.")
        rules = FamilyRules(name, stationary=stationary)
        declare(rules)
        _FAMILIES[name] = Family(
            rules, no_formula, parameters, evaluation_path="opaque", prototype=prototype
        )
        return _FAMILIES[name]


def _checked(name: str, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    if isinstance(parameters, Parameter) or not all(isinstance(p, Parameter) for p in parameters):
        raise GrammarError(f"family {name!r} needs a list of Parameter, got {parameters!r}.")
    counts = Counter(parameter.name for parameter in parameters)
    twice = [parameter for parameter, count in counts.items() if count > 1]
    if "variance" in counts or twice:
        wrong = "variance" if "variance" in counts else twice[0]
        raise GrammarError(
            f"family {name!r} cannot have a parameter {wrong!r}: names are used once, and every "
            "family has a variance already, which multiplies its formula."
        )
    return tuple(parameters)
