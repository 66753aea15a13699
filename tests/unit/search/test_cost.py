"""Tests of costs."""

from typing import Any

import gpflow
import numpy as np
import pytest
from support.fits import made_up_fit

from vbks.grammar.parser import parse
from vbks.inference.choices import make_context
from vbks.inference.proposal import Proposal
from vbks.inference.settings import FitSettings
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.search.cost import CostModel


def costs(bound: Any = "exact", num_rows: int = 200, **settings: Any) -> CostModel:
    x = np.linspace(0.0, 1.0, num_rows)
    own = FitSettings(**{"inference": bound, "posterior": "laplace", **settings})
    context, _ = make_context((x, np.sin(9.0 * x)), 1, own)
    return CostModel(context)


def cost(text: str, **settings: Any) -> float:
    return costs(**settings).fit(Proposal(parse(text)))


@pytest.mark.parametrize("bound", ["exact", "collapsed", "stochastic"])
def test_fit__leaves_waves_and_rows_cost_something(bound: str) -> None:
    assert cost("SE", bound=bound) < cost("SE + LIN", bound=bound)
    assert cost("PER + SE", bound=bound) < 0.8 * cost("PER + PER", bound=bound)
    assert cost("SE", bound=bound, num_rows=800) > cost("SE", bound=bound, num_rows=200)
    assert cost("SE", bound=bound, restarts=16) > cost("SE", bound=bound)


def test_fit__leaves_without_a_quick_way_cost_more() -> None:
    slow = from_gpflow(gpflow.kernels.Exponential()).expression
    assert costs().fit(Proposal(slow + parse("SE"))) > 1.5 * cost("RQ + SE")


def test_fit__a_child_costs_less() -> None:
    parent = made_up_fit(Proposal(parse("PER")), 1.0)
    child = Proposal(parse("PER + SE"), parent=parent)
    assert costs().fit(child) < costs().fit(Proposal(child.expression))


def test_fit__exact_fits_of_many_rows_are_the_costliest() -> None:
    assert cost("SE", num_rows=2000) > 10 * cost("SE", bound="collapsed", num_rows=2000)


def test_fit__is_a_matter_of_seconds() -> None:
    assert 0.1 < cost("SE * PER + LIN", num_rows=144) < 2.0


def test_go_on__costs_less_than_a_new_fit_and_more_with_a_bound_of_theta() -> None:
    proposal = Proposal(parse("SE * PER"))
    fit = made_up_fit(proposal, 1.0)
    for bound in ("exact", "collapsed", "stochastic"):
        assert costs(bound).go_on(fit) < costs(bound).fit(proposal)
    assert costs(posterior="full").go_on(fit) > 2 * costs().go_on(fit)
