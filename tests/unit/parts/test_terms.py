import numpy as np
import pytest

from vbks.kernels.layout import lay_out
from vbks.parts.terms import terms_of
from vbks.words import Estimate, Values


def told(text, num_inputs=1):
    """Each term as its leaves with their aspects, and its gates."""
    return [
        ([(own.leaf.family, own.aspect) for own in term.leaves], [gate.side for gate in term.gates])
        for term in terms_of(lay_out(text, num_inputs))
    ]


def test_terms__are_products_of_leaves_with_waves_and_levels_apart():
    assert told("SE * PER") == [
        ([("SE", "whole"), ("PER", "wave")], []),
        ([("SE", "whole"), ("PER", "level")], []),
    ]
    assert told("PER0 + PER", 2) == [([("PER0", "whole")], []), ([("PER", "whole")], [])]
    assert [sides for _, sides in told("CP(SE, CW(C, LIN))")] == [
        ["before"],
        ["after", "outside"],
        ["after", "inside"],
    ]


def test_terms__leave_out_noise():
    assert told("SE + WN") == [([("SE", "whole")], [])]
    assert told("LIN * (WN + SE)") == [([("LIN", "whole"), ("SE", "whole")], [])]


@pytest.mark.parametrize("text", ["SE * (LIN + PER)", "CP(SE + LIN, C) * PER", "(SE + C) * LIN"])
def test_terms__have_every_slot_of_scales_and_shares(text):
    layout = lay_out(text)
    terms = terms_of(layout)
    used = {slot for term in terms for slot in term.scales}
    used |= {slot for term in terms for slots, _ in term.shares for slot in slots}
    wanted = {
        n for n, slot in enumerate(layout.slots) if slot.parameter.name in ("variance", "weight")
    }
    assert used == {n for n in wanted if n} | (used - wanted)
    assert used <= set(np.arange(1, len(layout)))


def test_part_of_a_term__has_the_values_of_its_leaves_and_changes():
    values = [Values(start=Estimate(1.0)), Values(period=Estimate(2.0)), Values(), None]
    terms = terms_of(lay_out("CP(PER, SE * LIN)"))
    wave, level, late = (term.part(values, 1) for term in terms)
    assert [factor.family for factor in wave.factors] == ["PER0"]
    assert wave.factors[0].on(0).period == Estimate(2.0)
    assert [(factor.family, factor.inputs) for factor in level.factors] == [("C", ())]
    assert [factor.family for factor in late.factors] == ["SE", "LIN"]
    assert late.gates[0].values.start == Estimate(1.0) and late.gates[0].side == "after"
