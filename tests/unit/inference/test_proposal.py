"""Tests of what a search asks to be fitted."""

from support.fits import made_up_fit

from vbks.data.warps import Identity, InverseSoftplus, Log
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal, pairs_of, structure_of


def test_structure__is_the_same_however_an_expression_is_written() -> None:
    one, other = Proposal(parse("SE + LIN")), Proposal(parse("LIN + SE"))
    assert one.structure == other.structure == structure_of(made_up_fit(one, 0.0))
    assert one.structure != Proposal(parse("SE + LIN"), Log()).structure


def test_text__names_a_warp_of_the_targets() -> None:
    assert str(Proposal(parse("SE"))) == "SE"
    assert str(Proposal(parse("SE"), InverseSoftplus(2.0))) == "SE of softplus targets"


def test_pairs__go_warp_by_warp() -> None:
    pairs = pairs_of([parse("SE"), parse("PER")], (Log(), Identity()))
    assert [(str(p.expression), p.warp.name) for p in pairs] == [
        ("SE", "log"), ("PER", "log"), ("SE", "identity"), ("PER", "identity")
    ]  # fmt: skip
