"""Tests of candidates that contain others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate
from vbks.inference.relatives import better_relatives as find_relatives
from vbks.inference.screening import ScreeningPolicy
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.inheritance import Parent, inherit

MARGIN = ScreeningPolicy().relative_margin


def better_relatives(candidates: list[Candidate]) -> dict[int, Parent]:
    return find_relatives(candidates, ScreeningPolicy())


def candidate(text: str, *values: float) -> Candidate:
    layout = lay_out(text)
    thetas = np.outer(1.0 + np.arange(len(values)), np.ones(len(layout)))
    return Candidate(
        parse(text), layout, 0.0, thetas=thetas, values=np.array(values), restarts=len(values)
    )


def test_better_relatives__names_those_below_a_special_case() -> None:
    candidates = [candidate("SE", 5.0), candidate("SE + LIN", 1.0), candidate("PER", 9.0)]
    better = better_relatives(candidates)
    assert list(better) == [1]
    assert str(better[1].layout.expression) == "SE"
    np.testing.assert_array_equal(better[1].theta, candidates[0].thetas[0])


def test_better_relatives__takes_the_best_of_several_whatever_their_order() -> None:
    candidates = [candidate("RQ * LIN", 0.0), candidate("LIN * SE", 9.0), candidate("LIN", 7.0)]
    assert str(better_relatives(candidates)[0].layout.expression) == "LIN * SE"


def test_better_relatives__leaves_out_small_gains_and_those_who_have_left() -> None:
    near = [candidate("SE", 1.0), candidate("SE + LIN", 1.1 - MARGIN)]
    assert not better_relatives(near)
    failed = [candidate("SE", 5.0).failed("no reason"), candidate("SE + LIN", 1.0)]
    assert not better_relatives(failed)
    assert not better_relatives([candidate("SE", 5.0), candidate("SE + LIN", 1.0).failed("none")])


def test_better_relatives__names_those_below_one_with_all_but_one_of_their_leaves() -> None:
    candidates = [
        candidate("PER + RQ + SE", 20.0),
        candidate("LIN + PER + RQ", 2.0),
        candidate("LIN * PER * SE", 1.0),
        candidate("LIN * LIN * PER", -1.0),
    ]
    better = better_relatives(candidates)
    assert list(better) == [1, 2, 3]
    relatives = [str(parent.layout.expression) for parent in better.values()]
    assert relatives == ["PER + RQ + SE", "PER + RQ + SE", "LIN + PER + RQ"]


def test_better_relatives__are_on_the_same_input() -> None:
    layout = lay_out("SE[2]", 2)
    other = Candidate(
        parse("SE[2]"), layout, 0.0, thetas=np.zeros((1, len(layout))), values=np.array([9.0])
    )
    assert not better_relatives([other, candidate("SE[1] * PER[1]", 1.0)])


def test_joined__has_the_optima_of_both_best_first() -> None:
    one, other = candidate("SE", 3.0, 1.0), replace(candidate("SE", 4.0), converged=True)
    both = one.joined(other)
    np.testing.assert_array_equal(both.values, [4.0, 3.0, 1.0])
    np.testing.assert_array_equal(both.thetas[:, 0], [1.0, 1.0, 2.0])
    assert both.restarts == 2
    assert both.converged


def test_inherit__rq_has_the_lengthscale_of_se() -> None:
    small, large = lay_out("LIN * (PER + SE)"), lay_out("LIN * (PER + RQ)")
    theta = np.arange(len(small), dtype=float) / 10
    known = inherit(large, Parent(small, theta))
    missing = set(range(len(large))) - set(known)
    assert [large.names[slot] for slot in missing] == [".kernels[1].kernels[1].alpha"]
    names = dict(zip(large.names, range(len(large)), strict=True))
    place = small.names.index(".kernels[1].kernels[1].lengthscales")
    assert known[names[".kernels[1].kernels[1].lengthscales"]] == theta[place]
