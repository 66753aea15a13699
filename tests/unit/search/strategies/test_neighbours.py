"""Tests of random walks and of parents among fits."""

from itertools import islice

import numpy as np
import pytest
from support.fits import made_up_fit

from vbks.data.warps import Identity, Log
from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import Expression, num_leaves
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.inference.proposal import Proposal, Structure, structure_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState
from vbks.search.strategies.neighbours import Neighbourhood, fitted_parent, shuffled, untried, walks


def fits_of(**evidences: float) -> dict[Structure, LocalFit]:
    fits = [made_up_fit(Proposal(parse(text)), value) for text, value in evidences.items()]
    return {structure_of(fit): fit for fit in fits}


def parent_of(text: str, fits: dict[Structure, LocalFit]) -> Expression | None:
    parent = fitted_parent((canonical(text), Identity()), fits)
    return None if parent is None else parent.expression


def test_walk__makes_two_moves_in_the_mean() -> None:
    space = Neighbourhood(families=("SE",), moves=Neighbourhood().moves[:1])
    sizes = [num_leaves(space.walk(0, number)) for number in range(2000)]
    assert min(sizes) == 1
    assert np.mean(sizes) == pytest.approx(3.0, abs=0.2)


def test_walk__follows_from_its_number_alone() -> None:
    space = Neighbourhood(num_inputs=2)
    ends = [space.walk(3, number) for number in range(20)]
    assert ends == [space.walk(3, number) for number in range(20)]
    assert ends != [space.walk(4, number) for number in range(20)]
    assert all(end == canonical(end) for end in ends)


def test_walk__keeps_to_the_most_leaves() -> None:
    space = Neighbourhood(max_leaves=2)
    assert {num_leaves(space.walk(0, number)) for number in range(200)} == {1, 2}
    alone = Neighbourhood(families=("SE",), max_leaves=1)
    assert alone.walk(0, 0) == parse("SE")


def test_walks__go_through_the_warps() -> None:
    warps = [p.warp for p in islice(walks(Neighbourhood(), (Identity(), Log()), 0), 4)]
    assert warps == [Identity(), Log(), Identity(), Log()]


def test_shuffled__has_each_structure_once_in_its_first_form() -> None:
    proposals = shuffled(K144, (Identity(),), seed=1)
    assert {p.structure[0] for p in proposals} == set(structures(K144))
    assert len(proposals) == len(structures(K144))
    assert parse("SE") in {p.expression for p in proposals}
    assert [p.expression for p in proposals] != [
        p.expression for p in shuffled(K144, (Identity(),), seed=2)
    ]


def test_untried__leaves_out_failed_fits_and_repeats() -> None:
    failed = made_up_fit(Proposal(parse("SE + PER")), 0.0, "failed")
    texts = ("PER + SE", "LIN", "LIN * C", "RQ")
    left = untried([Proposal(parse(text)) for text in texts], SearchState(fits=(failed,)))
    assert [str(p.expression) for p in left] == ["LIN", "RQ"]


def test_parent__lacks_one_leaf_and_is_the_best_of_those() -> None:
    fits = fits_of(SE=1.0, PER=2.0, LIN=9.0)
    assert parent_of("SE * PER", fits) == parse("PER")
    assert parent_of("SE * PER + LIN", fits) is None
    assert parent_of("SE", fits) is None


def test_parent__may_lack_a_leaf_inside() -> None:
    fits = {}
    for text in ("PER * LIN", "SE + PER"):
        fit = made_up_fit(Proposal(parse(text)), float(len(text)))
        fits[structure_of(fit)] = fit
    assert parent_of("(SE + PER) * LIN", fits) == parse("PER * LIN")


def test_parent__has_the_same_warp() -> None:
    fit = made_up_fit(Proposal(parse("SE"), Log()), 0.0)
    fits = {structure_of(fit): fit}
    assert fitted_parent((canonical("SE + LIN"), Identity()), fits) is None
    assert fitted_parent((canonical("SE + LIN"), Log()), fits) is fit
