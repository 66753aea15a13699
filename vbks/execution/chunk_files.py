"""Results of a chunk of work in two files: arrays, and plain values that are written after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbks.errors import FileError
from vbks.execution.work import Work
from vbks.inference.paper.state import CandidateState
from vbks.inference.result import LocalFit
from vbks.storage.array_file import read_arrays, write_arrays
from vbks.storage.candidate_encoding import CANDIDATE_ARRAYS, decode_candidate, encode_candidate
from vbks.storage.fit_encoding import FIT_ARRAYS, InducingInputs, decode_fit, encode_fit
from vbks.storage.plain_file import read_plain, write_plain
from vbks.storage.records import Packing, Record, Unpacking
from vbks.storage.state_encoding import STATE_ARRAYS, decode_state, encode_state

ARRAYS = (*CANDIDATE_ARRAYS, *FIT_ARRAYS, *STATE_ARRAYS, "inducing")
"""Names of the packed arrays of a chunk."""


@dataclass(frozen=True)
class KeptChunk:
    """Results of a chunk, and what the clock said when they were done."""

    results: list[Any]
    clock: float


def write_chunk(file: Path, results: Sequence[Any], clock: float) -> None:
    """Write the results of a chunk; the second file says that both are whole."""
    packing, inducing = Packing(ARRAYS), InducingInputs()
    members = [_encode(result, inducing, packing) for result in results]
    lengths = inducing.pack(packing)
    write_arrays(file.with_suffix(".npz"), packing.arrays())
    write_plain(
        file.with_suffix(".json"),
        {
            "clock": clock,
            "are_fits": isinstance(results[0], LocalFit),
            "inducing": lengths,
            "members": members,
        },
    )


def read_chunk(file: Path, work: Work, k: int) -> KeptChunk | None:
    """The results of a chunk; files that are not whole are ignored."""
    plain, members = file.with_suffix(".json"), work.chunks[k]
    if not plain.exists():
        return None
    try:
        record = read_plain(plain)
        arrays = file.with_suffix(".npz")
        unpacking = Unpacking(read_arrays(arrays, ARRAYS), f"'{arrays}'")
        D = work.context.num_inputs
        tables = InducingInputs.unpack(record, D, unpacking)
        records = list(record.records("members", "member"))
        results: list[Any]
        if record.flag("are_fits"):
            results = [decode_fit(own, D, tables, unpacking) for own in records]
        else:
            results = [
                _decode(own, before, unpacking)
                for own, before in zip(records, members, strict=True)
            ]
        unpacking.finish()
        clock = record.finite("clock")
    except (FileError, ValueError):
        return None
    found, expected = ([str(m.expression) for m in group] for group in (results, members))
    return KeptChunk(results, clock) if found == expected else None


def _encode(result: Any, inducing: InducingInputs, packing: Packing) -> dict[str, Any]:
    if isinstance(result, LocalFit):
        return encode_fit(result, inducing, packing)
    if isinstance(result, CandidateState):
        return encode_state(result, packing)
    return encode_candidate(result, packing)


def _decode(record: Record, before: Any, unpacking: Unpacking) -> Any:
    if isinstance(before, CandidateState):
        return decode_state(record, before, unpacking)
    return decode_candidate(record, before, unpacking)
