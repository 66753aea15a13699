import math

import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.layout import NOISE_SLOT, lay_out
from vbks.kernels.starts.policy import StartPolicy
from vbks.kernels.starts.proposals import (
    HEIR_PROPOSALS,
    PROPOSALS,
    Situation,
    alike_terms,
    smooth_terms,
)

INPUT = InputSummary(-1.5, 2.5, 0.1)
OFTEN = InputSummary(-1.5, 2.5, 0.1, repeats=5.0)
POLICY = StartPolicy(
    rougher=0.1,
    heavy_tails=0.2,
    memory=2.0,
    shortest_term=math.exp(-3.0),
    first_zero=0.5,
    next_zero=1.0,
    separate=0.3,
)
BY_NAME = {proposal.name: proposal for proposal in PROPOSALS}


def situation(text, summary=INPUT, known=()):
    return Situation(lay_out(text), {0: summary}, dict(known), POLICY)


def slots(own, name):
    return [slot for slot, other in enumerate(own.layout.names) if other.endswith(name)]


def changed(name, own, theta=None):
    """What a proposal changes, by slot."""
    before = np.zeros(len(own.layout)) if theta is None else theta
    after = before.copy()
    BY_NAME[name].change(own, after)
    return {slot: value for slot, value in enumerate(after) if value != before[slot]}


def test_places__differ_among_the_starts_of_a_candidate():
    for proposals in (PROPOSALS, HEIR_PROPOSALS):
        places = [proposal.place for proposal in proposals]
        assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SE", {"rougher"}),
        ("PER", set()),
        ("SE * PER", {"rougher", "noise with memory"}),
        ("SE + RQ", {"rougher", "noise with memory", "long to short"}),
        ("LIN * LIN", {"lines before the data"}),
        ("LIN + LIN", set()),
    ],
)
def test_proposals__are_for_candidates_that_have_what_they_change(text, names):
    own = situation(text)
    assert {proposal.name for proposal in PROPOSALS if proposal.when(own)} == names


def test_lines__are_zero_before_the_data_one_after_the_other():
    own = situation("LIN * LIN * LIN")
    found = changed("lines before the data", own)
    expected = [-1.5 - 4.0 * share for share in (0.5, 1.5, 2.5)]
    assert [found[slot] for slot in slots(own, "location")] == pytest.approx(expected)


def test_rougher__has_shorter_lengthscales_and_heavy_tails():
    own = situation("RQ * PER")
    lengthscale, _ = slots(own, "lengthscales")
    (alpha,) = slots(own, "alpha")
    found = changed("rougher", own)
    assert found == pytest.approx({lengthscale: math.log(0.1), alpha: math.log(0.2)})


def test_memory__is_a_few_spacings_of_the_last_smooth_leaf():
    own = situation("SE + PER * SE + RQ * LIN")
    alone, _, _, _ = slots(own, "lengthscales")
    assert changed("noise with memory", own) == pytest.approx({alone: math.log(2.0 * 0.1)})


def test_memory__of_an_heir_has_the_size_of_the_parents_noise():
    own = situation("PER + SE", known={NOISE_SLOT: -2.5})
    _, lengthscale = slots(own, "lengthscales")
    _, variance = slots(own, "variance")
    found = changed("noise with memory", own)
    assert found == pytest.approx({lengthscale: math.log(0.2), variance: -2.5})


def test_known_lengthscales__are_not_new():
    own = situation("SE + RQ")
    first, second = slots(own, "lengthscales")
    assert list(situation("SE + RQ", known={first: 0.5}).smooth) == [second]


def test_long_to_short__spans_the_range_down_to_a_few_spacings():
    own = situation("SE + SE + SE")
    found = changed("long to short", own)
    longest, shortest = math.log(4.0), math.log(0.2)
    expected = [longest, 0.5 * (longest + shortest), shortest]
    assert [found[slot] for slot in slots(own, "lengthscales")] == pytest.approx(expected)
    variances = [found.get(slot, 0.0) for slot in slots(own, "variance")]
    assert variances == pytest.approx([0.0, -1.5, -3.0])


def test_separate_places__are_for_inputs_with_many_rows_at_each():
    assert not BY_NAME["separate places"].when(situation("SE"))
    own = situation("SE", OFTEN)
    assert BY_NAME["separate places"].when(own)
    (slot,) = slots(own, "lengthscales")
    assert changed("separate places", own) == pytest.approx({slot: math.log(0.3 * 0.1)})


def test_smooth_terms__are_single_leaves_of_each_sum():
    layout = lay_out("SE + PER + LIN * (RQ + SE) + RQ")
    found = [[str(n.expression) for n in terms] for terms in smooth_terms(layout, layout.root)]
    assert found == [["SE", "RQ"], ["RQ", "SE"]]


def test_alike_terms__have_the_same_lengthscales():
    layout = lay_out("SE + RQ")
    theta = np.zeros(len(layout))
    ((first, second),) = alike_terms(layout, theta)
    assert (first, second) == tuple((slot,) for slot in slots(situation("SE + RQ"), "lengthscales"))
    theta[first] = 0.1
    assert not list(alike_terms(layout, theta))
