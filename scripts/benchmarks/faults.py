"""Fits that are killed, and what becomes of them.

A fit of K144 runs in a process of its own, with a checkpoint. It is killed at random moments and
started again with the same call; its belief is compared with that of a run that nobody disturbed,
and what it works on with what was finished before. The same is done on a Ray cluster of two nodes
on this machine, of which one is removed, or a worker of which is killed, and with a disk that is
full. A disk of a few hundred kilobytes is mounted for that where this is allowed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell

ASKED_DIFFERENCE = 1e-8
"""Of beliefs."""

DISK_KILOBYTES = 120
"""Of a disk that is soon full."""

LOOPBACK = "127.0.0.2"
"""Where the cluster's nodes are. Ray takes 127.0.0.1 for the address that others see."""

MOST_SECONDS = 900.0
"""After which a run counts as one that does not end."""

FIT = """
import json, os, sys
job = json.loads(sys.argv[1])
import numpy as np
import vbks
from vbks.errors import VbksError
from vbks.execution import Devices, Ray

class Told:
    # Writes down which candidates are worked on, stage by stage.
    def __init__(self, executor, file):
        self.executor, self.file = executor, file
    def run(self, work):
        with open(self.file, "a") as log:
            for chunk in work.chunks:
                print(json.dumps([work.name, [str(m.expression) for m in chunk]]), file=log)
        yield from self.executor.run(work)

x = np.linspace(0, 10, job["rows"])
y = np.sin(2 * x) + 0.1 * x + 0.2 * np.random.default_rng(0).normal(size=len(x))
executor = Ray(address=job["address"]) if job["address"] else Devices()
print("begun", flush=True)
try:
    selection = vbks.fit(
        x, y, space=vbks.K144[:: job["every"]], warps=("identity",), restarts=job["restarts"],
        posterior="laplace", executor=Told(executor, job["log"]), checkpoint=job["folder"],
        progress=False,
    )
except VbksError as error:
    print("vbks:", error, file=sys.stderr)
    sys.exit(3)
belief = dict(zip([str(f.expression) for f in selection.fits], map(float, selection.probabilities)))
with open(job["answer"], "w") as file:
    json.dump(belief, file)
"""


@dataclass(frozen=True)
class Size:
    """Rows, one in so many of K144, restarts and kills."""

    rows: int
    every: int
    restarts: int
    kills: int


FULL = Size(80, 1, 2, 20)
QUICK = Size(30, 48, 1, 2)


@dataclass(frozen=True)
class Ended:
    """How a run ended: its belief if it has one, what it said, what it worked on and how long."""

    belief: dict[str, float] | None
    message: str
    worked_on: list[Any]
    seconds: float


class Runs:
    """Fits in processes of their own."""

    def __init__(self, size: Size, folder: Path, address: str = "") -> None:
        self.size, self.folder, self.address = size, folder, address
        self.log = folder.parent / f"{folder.name}.log"
        self.answer = folder.parent / f"{folder.name}.answer"

    def start(self) -> subprocess.Popen[str]:
        """A run that has just begun; what it imports is there."""
        self.log.unlink(missing_ok=True)
        self.answer.unlink(missing_ok=True)
        job = {
            "rows": self.size.rows,
            "every": self.size.every,
            "restarts": self.size.restarts,
            "folder": str(self.folder),
            "log": str(self.log),
            "answer": str(self.answer),
            "address": self.address,
        }
        child = subprocess.Popen(
            [sys.executable, "-c", FIT, json.dumps(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        assert child.stdout is not None
        child.stdout.readline()
        return child

    def end(self, child: subprocess.Popen[str], began: float) -> Ended:
        """The run after it has ended by itself."""
        _, errors = child.communicate(timeout=MOST_SECONDS)
        belief = json.loads(self.answer.read_text()) if child.returncode == 0 else None
        said = [line for line in errors.splitlines() if line.startswith("vbks:")]
        return Ended(belief, " ".join(said), self.worked_on(), time.monotonic() - began)

    def whole(self) -> Ended:
        """A run from its beginning to its end."""
        child, began = self.start(), time.monotonic()
        return self.end(child, began)

    def worked_on(self) -> list[Any]:
        """Stages and candidates that the last run has begun to work on."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def finished(self) -> int:
        """Pieces of work that are kept."""
        return len(list((self.folder / "work").glob("*.json")))


def run(context: Context) -> list[Figure]:
    """Beliefs after kills, of a process, a worker and a node, and with a full disk."""
    size = QUICK if context.quick else FULL
    place = Path(tempfile.mkdtemp(prefix="vbks-faults-"))
    try:
        undisturbed = Runs(size, place / "undisturbed")
        whole = undisturbed.whole()
        assert whole.belief is not None, whole.message
        tell(f"undisturbed: {whole.seconds:.0f} s, {undisturbed.finished()} pieces of work")
        rng = np.random.default_rng(context.seed)
        return [
            *_killed(size, place, whole, rng),
            *_clusters(size, place, whole, context),
            *_full_disk(size, place, whole, context),
        ]
    finally:
        shutil.rmtree(place, ignore_errors=True)


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: how much work was there after each kill."""
    newest = lines[-1]
    shares = [f.value for f in newest.figures if f.name.startswith("kill ")]
    canvas = Canvas(figsize=(6, 3.2), layout="constrained")
    panel = canvas.subplots()
    panel.bar(np.arange(1, len(shares) + 1), shares)
    panel.set_xlabel("kill")
    panel.set_ylabel("% of the work was kept")
    canvas.suptitle(f"Fits of K144 that were killed, {newest.date[:10]}")
    canvas.savefig(path, dpi=120)


def _killed(size: Size, place: Path, whole: Ended, rng: np.random.Generator) -> Iterator[Figure]:
    """Runs that are killed once each, at moments spread over the whole of them."""
    differences, twice, ended = [], 0, 0
    total = len(whole.worked_on)
    for number in range(1, size.kills + 1):
        runs = Runs(size, place / f"killed-{number}")
        child = runs.start()
        time.sleep(float(rng.uniform(0.0, whole.seconds)))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        kept = runs.finished()
        again = runs.whole()
        ended += again.belief is not None
        differences.append(_difference(again.belief, whole.belief))
        twice += max(0, len(again.worked_on) + kept - total)
        tell(f"kill {number}: {kept} of {total} were kept, {len(again.worked_on)} done afterwards")
        yield Figure(f"kill {number}: work that was kept", 100.0 * kept / total, "%")
    yield Figure(
        "killed runs that ended", ended, f"of {size.kills}", "all", None, ended == size.kills
    )
    yield _equal("after kills", max(differences))
    yield Figure("pieces of work done twice after kills", twice, "", "0", None, twice == 0)


def _clusters(size: Size, place: Path, whole: Ended, context: Context) -> Iterator[Figure]:
    """The same on two nodes, of which one goes, or a worker of one."""
    try:
        from ray.cluster_utils import Cluster
    except ImportError:
        context.left_out.append("Ray: it is not installed (pip install 'vbks[ray]')")
        return
    for what in ("worker", "node"):
        cluster: Any = Cluster()
        try:
            cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK, include_dashboard=False)
            second = cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
            runs = Runs(size, place / f"ray-{what}", cluster.address)
            child, began = runs.start(), time.monotonic()
            _wait_for_work(runs)
            if what == "node":
                cluster.remove_node(second, allow_graceful=False)
            else:
                _kill_worker()
            ended = runs.end(child, began)
        finally:
            cluster.shutdown()
        tell(f"Ray without a {what}: {ended.seconds:.0f} s {ended.message}")
        yield Figure(
            f"Ray run that lost a {what} ended", float(ended.belief is not None), "", "1", None,
            ended.belief is not None,
        )  # fmt: skip
        yield _equal(f"after the loss of a {what}", _difference(ended.belief, whole.belief))


def _wait_for_work(runs: Runs) -> None:
    """Until some work is kept."""
    until = time.monotonic() + MOST_SECONDS
    while runs.finished() < 2 and time.monotonic() < until:
        time.sleep(0.2)


def _kill_worker() -> None:
    """Kill a process that works on a task, as soon as there is one."""
    until = time.monotonic() + MOST_SECONDS
    while time.monotonic() < until:
        found = subprocess.run(
            ["pgrep", "-f", "ray::_do"], capture_output=True, text=True, check=False
        )
        if found.stdout.split():
            os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
            return
        time.sleep(0.05)


def _full_disk(size: Size, place: Path, whole: Ended, context: Context) -> Iterator[Figure]:
    """A run on a disk that is soon full, and on after it was made larger."""
    disk = place / "disk"
    with _small_disk(disk) as has_disk:
        if not has_disk:
            context.left_out.append("a full disk: this user may not mount one")
            return
        runs = Runs(size, disk / "run")
        runs.log, runs.answer = place / "disk.log", place / "disk.answer"
        stopped = runs.whole()
        kept = runs.finished()
        tell(f"full disk: {kept} pieces are kept; {stopped.message}")
        is_clear = stopped.belief is None and "No space left on device" in stopped.message
        yield Figure("full disk: stopped with a message", float(is_clear), "", "1", None, is_clear)
        _mount(disk, 100 * DISK_KILOBYTES, "remount,")
        again = runs.whole()
        lost = kept + len(again.worked_on) - len(whole.worked_on)
        yield Figure("full disk: pieces of work lost", max(0, lost), "", "0", None, lost <= 0)
        yield _equal("after a full disk", _difference(again.belief, whole.belief))


@contextmanager
def _small_disk(folder: Path) -> Iterator[bool]:
    """A folder on a disk of its own, if that is allowed."""
    folder.mkdir()
    is_there = _mount(folder, DISK_KILOBYTES)
    try:
        yield is_there
    finally:
        if is_there:
            subprocess.run(["umount", str(folder)], check=False)


def _mount(folder: Path, kilobytes: int, how: str = "") -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"{how}size={kilobytes}k", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _difference(one: dict[str, float] | None, other: dict[str, float] | None) -> float:
    """The largest difference of two beliefs."""
    if one is None or other is None or one.keys() != other.keys():
        return float("inf")
    return max(abs(one[name] - other[name]) for name in one)


def _equal(when: str, difference: float) -> Figure:
    return Figure(
        f"largest difference of beliefs {when}", difference, "",
        f"at most {ASKED_DIFFERENCE:g}", None, difference <= ASKED_DIFFERENCE,
    )  # fmt: skip
