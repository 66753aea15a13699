"""Tests of prices."""

from typing import Any

import gpflow
import numpy as np
import pytest
from support.fits import made_up_fit, make_data

from vbks.data.training import prepare
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.inference.workshop import Stage
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.search.cost import CostModel


def prices(bound: Any = "exact", num_rows: int = 200, **settings: Any) -> CostModel:
    x = np.linspace(0.0, 1.0, num_rows)
    stage = Stage(bound, settings.pop("posterior", "laplace"))
    return CostModel.of(stage, prepare((x, np.sin(9.0 * x))), settings)


def price(text: str, **settings: Any) -> float:
    return prices(**settings).fit(Proposal(parse(text)))


@pytest.mark.parametrize("bound", ["exact", "collapsed", "stochastic"])
def test_fit__leaves_waves_and_rows_cost_something(bound: str) -> None:
    assert price("SE", bound=bound) < price("SE + LIN", bound=bound)
    assert price("PER + SE", bound=bound) < 0.8 * price("PER + PER", bound=bound)
    assert price("SE", bound=bound, num_rows=800) > price("SE", bound=bound, num_rows=200)
    assert price("SE", bound=bound, restarts=16) > price("SE", bound=bound)


def test_fit__leaves_without_a_quick_way_cost_more() -> None:
    slow = from_gpflow(gpflow.kernels.Matern52()).expression
    assert prices().fit(Proposal(slow + parse("SE"))) > 1.5 * price("RQ + SE")


def test_fit__a_child_costs_less() -> None:
    parent = made_up_fit(Proposal(parse("PER")), 1.0)
    child = Proposal(parse("PER + SE"), parent=parent)
    assert prices().fit(child) < prices().fit(Proposal(child.expression))


def test_fit__exact_fits_of_many_rows_are_the_dearest() -> None:
    assert price("SE", num_rows=2000) > 10 * price("SE", bound="collapsed", num_rows=2000)


def test_fit__is_a_matter_of_seconds() -> None:
    assert 0.1 < price("SE * PER + LIN", num_rows=144) < 2.0


def test_go_on__costs_less_than_a_new_fit_and_more_with_a_bound_of_theta() -> None:
    proposal = Proposal(parse("SE * PER"))
    fit = made_up_fit(proposal, 1.0)
    for bound in ("exact", "collapsed", "stochastic"):
        assert prices(bound).go_on(fit) < prices(bound).fit(proposal)
    assert prices(posterior="full").go_on(fit) > 2 * prices().go_on(fit)


def test_of__takes_the_settings_of_fits() -> None:
    found = CostModel.of(Stage("collapsed", "point", 7), make_data(), {"restarts": 3})
    assert (found.comparison.num_inducing, found.comparison.restarts) == (7, 3)
