"""The codec of work in progress: candidates between two stages, states of training, and fits."""

from __future__ import annotations

from typing import Any

from vbks.inference.candidate import Candidate
from vbks.inference.paper.state import CandidateState, Learned
from vbks.inference.result import LocalFit
from vbks.storage.codec import Kind, Sizes
from vbks.storage.fit_codec import FITS
from vbks.storage.records import Packing, Record, Unpacking, damaged

WORK = FITS.extended(
    [
        Kind(
            Candidate,
            "candidate",
            sizes={"thetas": "S H", "values": "V", "factor": "F F"},
            own="SHVF",
            prefix="candidate_",
            left_out=("layout", "parent", "has_begun", "given"),
            finite=("jitter",),
        ),
        Kind(
            CandidateState,
            "state",
            sizes={"values": "T"},
            own="TMH",
            prefix="state_",
            left_out=("layout", "fixed", "jitter", "earlier"),
        ),
        Kind(
            Learned,
            sizes={"mean": "M", "root": "M M", "theta": "H", "spread": "H H"},
            prefix="learned_",
        ),
    ],
    {},
    {},
)
"""What a stage has found of each candidate; what was known before is left out."""


def encode_result(result: Any, packing: Packing) -> dict[str, Any]:
    """A fit, or what a stage has found, by the name of its class."""
    return {"type": type(result).__name__, "value": WORK.encode(result, packing)}


def decode_result(record: Record, before: Any, num_inputs: int, unpacking: Unpacking) -> Any:
    """The result of a stage for the candidate that it began with."""
    own, sizes = record.record("value"), Sizes()
    if record.one_of("type", (LocalFit.__name__, type(before).__name__)) == LocalFit.__name__:
        sizes.bind("D", (num_inputs,), "the number of inputs")
        found: Any = WORK.decode(LocalFit, own, unpacking, outer=sizes)
    else:
        found = WORK.decode(type(before), own, unpacking, before)
        _check(found, before, record.place)
    if str(found.expression) != str(before.expression):
        raise damaged(f"{record.place} is of '{found.expression}', expected '{before.expression}'")
    return found


def _check(found: Candidate | CandidateState, before: Any, place: str) -> None:
    """Refuse arrays that are not of the parameters and inducing points of the candidate."""
    if isinstance(found, CandidateState):
        is_wrong = found.learned.flat().shape != before.learned.flat().shape
    else:
        num_slots = {len(found.layout), 0}
        is_wrong = not {found.thetas.shape[1], len(found.factor)} <= num_slots
    if is_wrong:
        raise damaged(f"{place} has another number of parameters than '{before.expression}'")
