from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.paper_selections import SETTINGS, SPACE, select, watched_selection

from vbks.errors import StopTraining
from vbks.grammar.parser import parse
from vbks.inference.paper.state import Learned, begun
from vbks.kernels.layout import lay_out
from vbks.search.paper import best_starts


@pytest.fixture(scope="module")
def watched():
    return watched_selection()


def test_callback__does_not_change_the_fit(watched):
    selection, _ = watched
    alone = select()
    for one, other in zip(selection.fits, alone.fits, strict=True):
        np.testing.assert_allclose(one.elbo, other.elbo, rtol=1e-9)
    assert alone.belief_history == ()


@pytest.mark.parametrize("how", ["returns", "raises"])
def test_callback__stops_training(how):
    def stop(record):
        if how == "raises":
            raise StopTraining("good enough")
        return True

    selection = select(space=SPACE[:1], callback=stop)
    assert selection.training_record.steps == 40
    expected = "good enough" if how == "raises" else "the callback has stopped it"
    assert selection.training_record.stopped == expected
    assert f"Training ended early: {expected}." in selection.notices


def test_budget__ends_training():
    selection = select(space=SPACE[:1], settings=replace(SETTINGS, steps=10**6), budget=0.1)
    assert selection.training_record.steps == 40
    assert "budget" in selection.training_record.stopped


def test_restarts__keep_the_best():
    one, three = (select(space=("PER",), restarts=num) for num in (1, 3))
    assert len(three.fits) == 1
    assert three.fits[0].elbo > one.fits[0].elbo - 1e-3


def test_best_starts__are_those_of_the_highest_bound():
    layout = lay_out("SE")
    learned = Learned(np.zeros(2), np.eye(2), np.zeros(3), np.eye(3))

    def state(text, elbo, reason=""):
        return replace(begun(parse(text), layout, (), 0.0, learned), elbo=elbo, reason=reason)

    low, high, failed = state("SE", -2.0), state("SE", -1.0), state("SE", 5.0, "lost")
    other, nothing = state("LIN", np.nan), state("LIN", np.nan, "lost")
    assert best_starts([low, high, failed, other, nothing]) == [high, other]
    assert best_starts([failed, low]) == [low]
