import pytest

import vbks
from vbks.grammar.additive import additive_terms
from vbks.grammar.space import K144
from vbks.kernels.bank.terms import MAX_LINES, is_batchable, terms_of
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out


def test_terms__are_as_many_as_the_additive_form_has():
    for expression in K144:
        assert len(terms_of(lay_out(expression))) == len(additive_terms(expression))
    assert sum(len(terms_of(lay_out(expression))) for expression in K144) == 274


def test_terms__of_a_shared_factor_share_its_slots():
    first, second = terms_of(lay_out("(PER + RQ) * SE"))
    assert first.leaves[1] is second.leaves[1]
    assert first.scales != second.scales


def test_terms__of_a_change_have_its_two_sides():
    before, after = terms_of(lay_out("CP[1](SE, PER)"))
    assert [own.kind for own in before.rank_ones + after.rank_ones] == ["before", "after"]
    outside, inside = terms_of(lay_out("CW[1](SE, PER)"))
    assert [own.kind for own in outside.rank_ones + inside.rank_ones] == [
        "outside",
        "inside",
    ]


def test_line_on_all_inputs__is_a_term_for_each_unless_they_are_many():
    assert len(terms_of(lay_out("LIN * SE", num_inputs=3))) == 3
    assert len(terms_of(lay_out("LIN * LIN", num_inputs=3))) == 9
    assert len(terms_of(lay_out("LIN * LIN", num_inputs=MAX_LINES + 1))) == 1


def test_centred_wave__is_a_periodic_leaf_less_a_constant():
    wave, constant = terms_of(lay_out("PER0"))
    assert [leaf.expression for leaf in wave.leaves] == [vbks.parse("PER")]
    assert (wave.is_negative, constant.is_negative) == (False, True)
    assert [t.is_negative for t in terms_of(lay_out("PER0 * PER0"))] == [False, True, True, False]
    assert len(terms_of(lay_out("PER0[2]", num_inputs=3))) == 2
    (whole,) = terms_of(lay_out("PER0", num_inputs=3))
    assert [leaf.expression for leaf in whole.leaves] == [vbks.parse("PER0")]


def test_noise_of_the_likelihood__is_not_a_term():
    assert terms_of(lay_out("WN")) == ()
    assert len(terms_of(lay_out("SE + WN"))) == 1
    assert len(terms_of(lay_out("SE + WN + WN * LIN"))) == 2


def test_opaque_kernel__is_not_batchable():
    import gpflow

    reading = from_gpflow(gpflow.kernels.Exponential() + gpflow.kernels.Linear())
    assert not is_batchable(reading.expression)
    with pytest.raises(vbks.GrammarError, match="known only as a GPflow kernel"):
        vbks.Bank([reading.expression])
