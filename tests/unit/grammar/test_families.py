import pytest

from vbks.errors import GrammarError
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Leaf
from vbks.grammar.families import FamilyRules, declare, known_families, rules_of
from vbks.grammar.parser import parse

pytestmark = pytest.mark.usefixtures("scoped_registries")


def test_known_families__are_the_built_in_ones_in_order() -> None:
    assert known_families() == ("C", "LIN", "M32", "M52", "OU", "PER", "PER0", "RQ", "SE", "WN")


@pytest.mark.parametrize("name", ["SE", "RQ", "PER", "PER0", "C", "WN"])
def test_rules_of__all_but_linear_are_stationary(name: str) -> None:
    assert rules_of(name).stationary
    assert not rules_of("LIN").stationary


def test_rules_of__constant_and_noise_do_not_use_their_input() -> None:
    assert [name for name in known_families() if not rules_of(name).uses_input] == ["C", "WN"]


def test_declare__makes_a_family_part_of_the_language() -> None:
    declare(FamilyRules("Cosine_2", stationary=True))
    assert str(parse("Cosine_2[3]*SE")) == "Cosine_2[3] * SE"
    assert canonical(parse("WN * Cosine_2")) == Leaf("WN")
    assert "Cosine_2" in known_families()


def test_declare__nonstationary_family_survives_beside_noise() -> None:
    declare(FamilyRules("Brownian", stationary=False))
    assert canonical(parse("WN * Brownian")) == parse("Brownian * WN")


def test_declare__family_without_input_loses_its_dim() -> None:
    declare(FamilyRules("Bias", stationary=True, uses_input=False))
    assert canonical(parse("Bias[2]")) == Leaf("Bias")


def test_declare__twice_alike_is_harmless() -> None:
    rules = FamilyRules("Cosine", stationary=True)
    declare(rules)
    declare(FamilyRules("Cosine", stationary=True))
    assert rules_of("Cosine") == rules


def test_declare__refuses_other_rules_under_a_known_name() -> None:
    with pytest.raises(GrammarError, match="family 'SE' is already declared"):
        declare(FamilyRules("SE", stationary=False))
    assert rules_of("SE").stationary


@pytest.mark.parametrize("name", ["", "2SE", "S E", "_SE", "SE+", "É", "SE\n", "SE[1]"])
def test_declare__refuses_names_that_could_not_be_parsed(name: str) -> None:
    with pytest.raises(GrammarError, match="cannot name a family"):
        declare(FamilyRules(name, stationary=True))


@pytest.mark.parametrize("name", ["CP", "CW"])
def test_declare__refuses_the_names_of_operators(name: str) -> None:
    with pytest.raises(GrammarError, match=f"'{name}' is the name of an operator"):
        declare(FamilyRules(name, stationary=True))


def test_rules_of__unknown_name_lists_the_known_ones() -> None:
    message = r"unknown family 'RBF'\. Known: C, LIN, M32, M52, OU, PER, PER0, RQ, SE, WN\."
    with pytest.raises(GrammarError, match=message):
        rules_of("RBF")
