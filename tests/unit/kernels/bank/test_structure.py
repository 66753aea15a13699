import numpy as np

from vbks.kernels.bank.structure import SWEEPS, structure_of
from vbks.kernels.bank.terms import RANK_ONE_KINDS
from vbks.kernels.layout import lay_out


def structure(*texts, num_inputs=1, **settings):
    """The structure of candidates, the slots of a row of θ, and the kinds that need formulas."""
    layouts = [lay_out(text, num_inputs) for text in texts]
    num_slots = max(map(len, layouts))
    return (*structure_of(layouts, num_slots, **settings), layouts, num_slots)


def counts(found):
    """How many terms each sweep has, without those that have none."""
    pairs = zip(SWEEPS, found.term_counts.tolist(), strict=True)
    return {sweep: num for sweep, num in pairs if num}


def test_terms__are_sorted_by_the_work_they_need():
    found, kinds, _, _ = structure("SE + LIN", "PER * LIN", "RQ", "OU + WN * SE")
    assert counts(found) == {
        "plain": 1, "rational": 1, "rank one": 1, "mixed": 1, "line": 1, "noise": 1,
    }  # fmt: skip
    assert found.term_candidate.tolist() == [0, 2, 1, 3, 0, 3]
    assert kinds == ()


def test_two_waves_or_a_rational_leaf_with_a_line__are_mixed():
    found, _, _, _ = structure("PER * PER", "RQ * LIN", "M32", "SE * RQ", "SE * PER")
    assert counts(found) == {"mixed": 3, "rational": 1, "plain": 1}


def test_slots__are_those_of_the_layouts_candidate_by_candidate():
    found, _, (first, second), num_slots = structure("SE", "PER * LIN")
    groups = np.split(found.slots, np.cumsum(found.slot_counts)[:-1])
    scale, square, periodic, _, period, _, _, location, *_ = (g.tolist() for g in groups)
    wave, line = second.root.operands
    assert sorted(scale) == sorted([first.root.scale, num_slots + wave.scale])
    assert square == [first.root.slots["lengthscales"][0]]
    assert periodic == [num_slots + wave.slots["lengthscales"][0]]
    assert period == [num_slots + wave.slots["period"][0]]
    assert location == [num_slots + line.slots["location"][0]]


def test_leaf_on_all_inputs__has_a_target_for_each():
    found, _, _, _ = structure("SE", "SE[3]", num_inputs=3)
    assert found.square_target.tolist() == [0, 1, 2, 1 * 3 + 2]
    found, _, _, _ = structure("PER", "PER[2]", num_inputs=3)
    assert found.periodic_dim.tolist() == [0, 1, 2, 1]
    assert found.term_periodics.tolist() == [[1, 2, 3], [4, 0, 0]]
    assert found.periodics_per_leaf == 3


def test_matern_leaves__have_their_orders():
    found, _, _, _ = structure("M32", "M52 * SE")
    assert found.matern_order.tolist() == [3, 5]
    assert found.matern_term.tolist() == [0, 1]


def test_shared_factor__is_one_wave_of_two_terms():
    found, _, _, _ = structure("(SE + LIN) * PER")
    assert len(found.periodic_dim) == 1
    assert found.term_periodics.tolist() == [[1], [1]]


def test_changes__are_rank_one_functions_of_their_input():
    found, _, _, _ = structure("CP[2](SE, CW[1](SE, LIN[2]))", num_inputs=2)
    kinds = [RANK_ONE_KINDS[kind] for kind in found.rank_one_kind]
    pairs = sorted(zip(kinds, found.rank_one_dim.tolist(), strict=True))
    assert pairs == [("after", 1), ("before", 1), ("inside", 0), ("line", 1), ("outside", 0)]


def test_sums_in_a_product__share_its_scale():
    """The second sum has unit scale: its log odds are a row of shares, the last term's being 0."""
    found, _, (layout,), num_slots = structure("(SE + LIN) * (PER + C)")
    (weight,) = layout.root.operands[1].weights
    assert found.shares.tolist() == [[weight, num_slots]]
    scales = found.slots[: found.slot_counts[0]]
    first_share = num_slots + 2
    assert sorted(scales[scales >= first_share]) == [first_share] * 2 + [first_share + 1] * 2


def test_centred_wave__is_a_wave_less_a_constant():
    found, _, (layout,), _ = structure("PER0")
    assert found.centred.tolist() == list(layout.root.slots["lengthscales"])
    assert found.negative_candidate.tolist() == [0]
    assert sorted(found.term_row.tolist()) == [0, 1]
    assert found.term_candidate.tolist() == [0, 0]


def test_formulas__are_tables_for_each_kind():
    found, kinds, (layout,), _ = structure("SE * PER", by_formula=True)
    assert counts(found) == {"formula": 1}
    wave, smooth = (
        [table for kind, table in zip(kinds, found.dense, strict=True) if kind == (name, 1)]
        for name in ("PER", "SE")
    )
    slots = {node.expression.family: node.slots for node in layout.root.operands}
    assert smooth[0].slots.tolist() == [list(slots["SE"]["lengthscales"])]
    assert sorted(wave[0].slots[0]) == sorted(
        [*slots["PER"]["lengthscales"], *slots["PER"]["period"]]
    )
    assert wave[0].dims.tolist() == [[0]]


def test_kinds_that_are_given__have_tables_even_if_empty():
    found, kinds, _, _ = structure("LIN", kinds=(("PER0", 1),))
    assert ("PER0", 1) in kinds
    assert len(found.dense[kinds.index(("PER0", 1))].slots) == 0
