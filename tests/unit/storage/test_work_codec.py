"""Tests of candidates and of states of training as plain values, and back."""

import json
from dataclasses import replace

import numpy as np
import pytest

from vbks.errors import FileError
from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate
from vbks.inference.paper.state import CandidateState, Learned, begun
from vbks.inference.result import PruningStep
from vbks.kernels.layout import lay_out
from vbks.storage.records import Packing, Record, Unpacking
from vbks.storage.work_codec import WORK, decode_result, encode_result


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
    packing = Packing(WORK.array_names)
    plain = json.loads(json.dumps([encode_result(state, packing) for state in states]))
    unpacking = Unpacking(packing.arrays(), "here")
    for values, state in zip(plain, states, strict=True):
        before = make_state(str(state.expression), 9)
        again = decode_result(Record(values, "here"), before, 1, unpacking)
        for name in ("learned", "first", "second"):
            found, expected = (getattr(own, name).flat() for own in (again, state))
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(again.values, state.values)
        for name in ("elbo", "standard_error", "seconds", "reason"):
            assert getattr(again, name) == getattr(state, name)
        assert np.isnan(again.log_likelihood)
    unpacking.finish()


def test_state__of_another_candidate_is_refused() -> None:
    packing = Packing(WORK.array_names)
    plain = encode_result(make_state("SE", 0), packing)
    unpacking = Unpacking(packing.arrays(), "here")
    with pytest.raises(FileError, match=r"here is of 'SE', expected 'LIN'|another number"):
        decode_result(Record(plain, "here"), make_state("LIN", 0), 1, unpacking)


def test_candidate__has_what_was_known_before_from_there() -> None:
    before = Candidate(parse("SE"), lay_out("SE"), 1e-6, has_begun=True)
    rng, H = np.random.default_rng(0), len(lay_out("SE"))
    pruning = (PruningStep("screening", 1.0, 2.0, False),)
    done = replace(
        before, thetas=rng.normal(size=(2, H)), values=rng.normal(size=2), jitter=1e-4,
        factor=np.eye(H), restarts=3, converged=True, seconds=0.5, pruning=pruning, reason="slow",
    )  # fmt: skip
    packing = Packing(WORK.array_names)
    plain = json.loads(json.dumps(encode_result(replace(done, has_begun=False), packing)))
    unpacking = Unpacking(packing.arrays(), "here")
    again = decode_result(Record(plain, "here"), before, 1, unpacking)
    unpacking.finish()
    for name in ("thetas", "values", "factor"):
        np.testing.assert_array_equal(getattr(again, name), getattr(done, name))
    for name in ("expression", "layout", "jitter", "restarts", "pruning", "reason", "has_begun"):
        assert getattr(again, name) == getattr(done, name)


def test_candidate__with_arrays_of_other_parameters_is_refused() -> None:
    before = Candidate(parse("SE"), lay_out("SE"), 1e-6)
    packing = Packing(WORK.array_names)
    plain = encode_result(replace(before, thetas=np.zeros((2, 9)), values=np.zeros(2)), packing)
    with pytest.raises(FileError, match="has another number of parameters than 'SE'"):
        decode_result(Record(plain, "here"), before, 1, Unpacking(packing.arrays(), "here"))
