from vbks.words.part import NOTHING, Factor, Values


def test_factor__knows_nothing_of_inputs_it_has_no_values_of():
    up = Values(direction="up")
    factor = Factor("SE", (1, 3), (up,))
    assert factor.on(0) == up
    assert factor.on(1) == NOTHING
