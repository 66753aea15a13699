"""Tests of candidates in the midst of training as plain values, and back."""

import json
from dataclasses import replace

import numpy as np
import pytest

from vbks.errors import FileError
from vbks.grammar.parser import parse
from vbks.inference.paper.state import CandidateState, Learned, begun
from vbks.kernels.layout import lay_out
from vbks.storage.records import Packing, Record, Unpacking
from vbks.storage.state_encoding import STATE_ARRAYS, decode_state, encode_state


def make_state(text: str, seed: int) -> CandidateState:
    rng, H = np.random.default_rng(seed), len(lay_out(text))
    shapes = ((4,), (4, 4), (H,), (H, H))
    learned, first, second = (Learned(*(rng.normal(size=s) for s in shapes)) for _ in range(3))
    return replace(
        begun(parse(text), lay_out(text), (), 1e-6, learned),
        first=first, second=second, values=rng.normal(size=5), elbo=-3.5, standard_error=0.25,
        log_likelihood=float("nan"), seconds=2.5, reason="stopped",
    )  # fmt: skip


def test_states__come_back_one_after_the_other() -> None:
    states = [make_state("SE", 0), make_state("PER + LIN", 1)]
    packing = Packing(STATE_ARRAYS)
    plain = json.loads(json.dumps([encode_state(state, packing) for state in states]))
    unpacking = Unpacking(packing.arrays(), "here")
    for values, state in zip(plain, states, strict=True):
        before = make_state(str(state.expression), 9)
        again = decode_state(Record(values, "here"), before, unpacking)
        for name in ("learned", "first", "second"):
            found, expected = (getattr(own, name).flat() for own in (again, state))
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(again.values, state.values)
        for name in ("elbo", "standard_error", "seconds", "reason"):
            assert getattr(again, name) == getattr(state, name)
        assert np.isnan(again.log_likelihood)
    unpacking.finish()


def test_state__of_another_candidate_is_refused() -> None:
    packing = Packing(STATE_ARRAYS)
    plain = encode_state(make_state("SE", 0), packing)
    with pytest.raises(FileError, match="'expression' of here is 'SE', expected LIN"):
        decode_state(
            Record(plain, "here"), make_state("LIN", 0), Unpacking(packing.arrays(), "here")
        )
