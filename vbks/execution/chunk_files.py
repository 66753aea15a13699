"""Results of a chunk of work in two files: arrays, and plain values that are written after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbks.errors import FileError
from vbks.execution.work import Work
from vbks.storage.array_file import read_arrays, write_arrays
from vbks.storage.plain_file import read_plain, write_plain
from vbks.storage.records import Packing, Unpacking
from vbks.storage.work_codec import WORK, decode_result, encode_result


@dataclass(frozen=True)
class KeptChunk:
    """Results of a chunk, and what the clock said when they were done."""

    results: list[Any]
    clock: float


def write_chunk(file: Path, results: Sequence[Any], clock: float) -> None:
    """Write the results of a chunk; the second file says that both are whole."""
    packing = Packing(WORK.array_names)
    values = {"clock": clock, "results": [encode_result(result, packing) for result in results]}
    write_arrays(file.with_suffix(".npz"), packing.arrays())
    write_plain(file.with_suffix(".json"), values)


def read_chunk(file: Path, work: Work, k: int) -> KeptChunk | None:
    """The results of a chunk; files that are not whole are ignored."""
    plain, candidates = file.with_suffix(".json"), work.chunks[k]
    if not plain.exists():
        return None
    try:
        record, arrays = read_plain(plain), file.with_suffix(".npz")
        unpacking = Unpacking(read_arrays(arrays, WORK.array_names), f"'{arrays}'")
        D = work.context.num_inputs
        pairs = zip(record.records("results", "result"), candidates, strict=True)
        results = [decode_result(own, before, D, unpacking) for own, before in pairs]
        unpacking.finish()
        return KeptChunk(results, record.finite("clock"))
    except (FileError, ValueError):
        return None
