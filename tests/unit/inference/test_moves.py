from __future__ import annotations

import numpy as np
import pytest
from support.optima import candidate_at

from vbks.grammar.parser import parse
from vbks.inference import moves
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.rungs import optimise
from vbks.inference.settings import FitSettings


def test_move_parts__puts_one_of_several_changes_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.linspace(0, 10, 120)
    sds = np.where((X > 2) & (X < 3), 1.0, np.where((X > 7) & (X < 8), 5.0, 0.2))
    y = sds * np.random.default_rng(1).normal(size=len(X))
    fits = FitSettings(inference="exact", posterior="point", restarts=4)
    bursts = make_context((X, y), 1, fits)[0]
    candidate = make_candidate(parse("CW[1](WN, WN) + CW[1](WN, WN)"), bursts, None)
    at_one = {"location": 0.87, "steepness": 3.5, "width": -1.06}
    slots = [slot.parameter for slot in candidate.layout.slots]
    theta = np.array([at_one.get(slot.name, slot.prior.mean) for slot in slots])
    begun = candidate_at(candidate, bursts, [theta])
    (moved,) = optimise([begun], bursts)
    monkeypatch.setattr(moves, "MOVES", ())
    (stayed,) = optimise([begun], bursts)
    assert moved.best > stayed.best + 5.0
    assert stayed.best in moved.values


def test_move_parts__finds_a_short_wave_beside_a_strong_smooth_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.linspace(0, 10, 60)
    rng = np.random.default_rng(2)
    y = 5 * np.sin(0.7 * X) + np.sin(2 * np.pi * X / 0.45) + 0.2 * rng.normal(size=len(X))
    fits = FitSettings(inference="exact", posterior="point", restarts=4)
    waves = make_context((X, y), 1, fits)[0]
    candidate = make_candidate(parse("SE + PER"), waves, None)
    begun = candidate_at(candidate, waves, [candidate.layout.prior_mean])
    (moved,) = optimise([begun], waves)
    monkeypatch.setattr(moves, "MOVES", ())
    (stayed,) = optimise([begun], waves)
    assert moved.best > stayed.best + 5.0
    period = candidate.layout.names.index(".kernels[1].period")
    assert np.exp(moved.thetas[0, period]) * X.std() == pytest.approx(0.45, rel=0.01)
