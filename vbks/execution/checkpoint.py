"""Finished work is kept in a folder, from which a run that was interrupted goes on.

Every chunk of work is two files, the second of which says that it is whole. Work is known by its
number, its stage and its candidates: a run with the same rows and settings does the same work in
the same order, and takes from the folder what is there.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import IO, Any

from vbks.arrays import Array
from vbks.errors import FileError, as_path
from vbks.execution.chunk_files import read_chunk, write_chunk
from vbks.execution.decision_log import DecisionLog
from vbks.execution.fingerprint import Plain
from vbks.execution.stage_state import StageState
from vbks.execution.work import Executor, Results, Work
from vbks.grammar.quoting import quote
from vbks.storage.array_file import read_arrays, write_arrays
from vbks.storage.fit_codec import refuse_opaque
from vbks.storage.plain_file import read_plain, write_plain
from vbks.version import __version__

KIND = "vbks checkpoint"
"""What tells our JSON from any other."""

FORMAT = 2
"""Number of the format that is written and read."""

STATE_SECONDS = 20.0
"""Least seconds between two states of a stage that are written to its file."""

PLAIN_FILE, LOCK_FILE, DECISIONS_FILE, WORK_FOLDER = (
    "checkpoint.json", "lock", "decisions.json", "work",
)  # fmt: skip


@dataclass
class Checkpoint:
    """A folder with finished work, and an executor for what is missing."""

    folder: Path
    executor: Executor
    settings: Mapping[str, Plain] = field(default_factory=dict)
    """What the folder says that its work was done with."""
    num_works: int = 0
    _began: float = field(default_factory=time.monotonic)

    def clock(self) -> float:
        """Seconds at work in this folder, those before an interruption included."""
        return time.monotonic() - self._began

    def has_run(self, seconds: float) -> None:
        """The clock shows at least these seconds from now on."""
        self._began = min(self._began, time.monotonic() - seconds)

    def run(self, work: Work) -> Results:
        """Places of chunks and their results: what is there first, then what is done now."""
        self.num_works += 1
        for chunk in work.chunks:
            for member in chunk:
                refuse_opaque(member.expression)
        files = [self._file(work, k) for k in range(len(work.chunks))]
        missing = []
        for k, file in enumerate(files):
            kept = read_chunk(file, work, k)
            if kept is None:
                missing.append(k)
            else:
                self._began = min(self._began, time.monotonic() - kept.clock)
                yield k, kept.results
        if not missing:
            return
        stage_states: tuple[StageState, ...] = tuple(self._stage_state(file) for file in files)
        rest = replace(work, stage_states=stage_states).only(missing)
        with closing(self.executor.run(rest)) as results:
            for place, done in results:
                k = missing[place]
                with self._writing():
                    write_chunk(files[k], done, self.clock())
                _state_file(files[k]).unlink(missing_ok=True)
                yield k, done

    def decision_log(self, budget: Sequence[float]) -> DecisionLog:
        """What was decided for want of time, and what will be."""
        texts = [str(float(amount)) for amount in budget]
        return DecisionLog(self.folder / DECISIONS_FILE, texts, self._writing)

    def _file(self, work: Work, k: int) -> Path:
        """Where a chunk is kept, without a suffix."""
        context = work.context
        parts = [context.bound, context.posterior, context.data.units.warp.name]
        parts += [f"{member.expression} {member.jitter:g}" for member in work.chunks[k]]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        name = f"{self.num_works:05d}-{work.name.replace(' ', '-')}-{k:04d}-{digest}"
        return self.folder / WORK_FOLDER / name

    def _stage_state(self, file: Path) -> FileStageState:
        return FileStageState(_state_file(file), self._writing)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A clear message if the disk does not take what is written."""
        try:
            yield
        except OSError as error:
            num = sum(1 for _ in (self.folder / WORK_FOLDER).glob("*.json"))
            raise FileError(
                f"work cannot be kept in '{self.folder}': {error.strerror or error}. The {num} "
                "pieces of work that are there are whole: make room, and make the same call again."
            ) from error


@dataclass
class FileStageState:
    """The state of one chunk's stage in a file, written anew every so often."""

    file: Path
    writing: Callable[[], Any]
    _written: float = field(default_factory=time.monotonic)

    def read(self) -> dict[str, Array] | None:
        """What was kept; a file that cannot be read is ignored."""
        try:
            return read_arrays(self.file) if self.file.exists() else None
        except FileError:
            return None

    def keep(self, state: Callable[[], dict[str, Array]]) -> None:
        """Write a state, if the last one is old."""
        if time.monotonic() - self._written < STATE_SECONDS:
            return
        with self.writing():
            write_arrays(self.file, state())
        self._written = time.monotonic()


@contextmanager
def checkpointed(
    folder: str | PathLike[str],
    executor: Executor,
    settings: Mapping[str, Plain],
    adopted: Sequence[str] = (),
) -> Iterator[Checkpoint]:
    """A checkpoint in a folder, which is this run's alone while it lasts.

    The folder is new, or has work that was done with the same settings. Those that are ``adopted``
    may differ: what the folder says goes.
    """
    path = as_path("checkpoint", folder)
    try:
        (path / WORK_FOLDER).mkdir(parents=True, exist_ok=True)
        lock = open(path / LOCK_FILE, "a+b")  # noqa: SIM115
    except OSError as error:
        raise FileError(
            f"the checkpoint folder '{path}' cannot be used: {error.strerror or error}. Give a "
            "folder that can be written to."
        ) from error
    with lock:
        _take(lock, path)
        yield Checkpoint(path, executor, _agreed(path, settings, adopted))


def _take(lock: IO[bytes], folder: Path) -> None:
    """Take the lock, which ends with the process that holds it, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows, where two runs on one folder are not found out
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise FileError(
            f"another run is at work in the checkpoint folder '{folder}'. Wait for it, or give "
            "another folder."
        ) from None


def _agreed(
    folder: Path, settings: Mapping[str, Plain], adopted: Sequence[str]
) -> dict[str, Plain]:
    """The settings of the folder, after they were written if it is new, or an error."""
    now: dict[str, Plain] = {"vbks": __version__, **settings}
    file = folder / PLAIN_FILE
    if not file.exists():
        if any((folder / WORK_FOLDER).iterdir()):
            raise FileError(f"'{folder}' has no file '{PLAIN_FILE}'. Give a new folder.")
        write_plain(file, {"kind": KIND, "format": FORMAT, "settings": now})
        return now
    record = read_plain(file)
    if record.values.get("kind") != KIND:
        raise FileError(f"'{file}' is not of a checkpoint. Give a new folder.")
    if record.values.get("format") != FORMAT:
        raise FileError(
            f"'{file}' is of a checkpoint in format {quote(record.values.get('format'))}, and "
            f"vbks {__version__} reads format {FORMAT} alone. Give a new folder."
        )
    before = dict(record.record("settings").values)
    for name in sorted({*before, *now} - {*adopted}):
        if before.get(name) != now.get(name):
            what = f"{name} was {quote(before.get(name))} and is {quote(now.get(name))}"
            raise FileError(
                f"the checkpoint folder '{folder}' has the work of another call: "
                f"{'its rows were others' if name == 'rows' else what}. Give a new folder, or make "
                "the same call again."
            )
    return before


def _state_file(file: Path) -> Path:
    return file.with_suffix(f".state{os.extsep}npz")
