"""K144 by one and by two workers, and time against the number of kernels and of rows.

Workers have one thread each: logical devices of one process, and processes of a Ray cluster on this
machine. Every fit is made in a process of its own, after a small one that makes the graphs of
TensorFlow, and the least of the repeats counts. What two cores can give is measured beside it: the
same products of matrices by one process and by two at once. Two threads of one core share its
arithmetic, so that there it is far from two. Fewer kernels are every so manieth of those of K144 in
the order of their cost, so that they cost about the same each. Time against rows is that of looks
and of a fixed number of steps; the last pass, which goes over all rows, stands beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell

ASKED_SPEED_UP = 1.7
"""Of two workers on two cores."""

LINEAR = 1.3
"""Times that the seconds per kernel may differ for time to count as linear ..."""

FLAT = 1.3
"""... and times that the seconds may grow with the rows for it to count as flat."""

STEPS = 40
"""Products of matrices by which the machine itself is measured."""

WORKERS = ("devices", "Ray")

FIT = """
import json, resource, sys, time
import numpy as np
job = json.loads(sys.argv[1])
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(job["workers"])
if job["executor"] == "devices":
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration() for _ in range(job["workers"])]
    tf.config.set_logical_device_configuration(cpu, parts)
import vbks
from dataclasses import replace
from vbks.execution import Devices, Ray
from vbks.inference.candidate import make_candidate
from vbks.inference.evaluator import fit_candidates
from vbks.progress import Quiet
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.inference.choices import make_context
from vbks.inference.settings import FitSettings
from vbks.inference.chunks import (cost_of)

rng = np.random.default_rng(0)
def rows(num):
    x = np.sort(rng.uniform(0, 40, num))
    return x, np.sin(2 * x) + 0.02 * x + rng.normal(0, 0.3, num)

executor = Devices()
if job["executor"] == "Ray":
    import ray
    ray.init(num_cpus=job["workers"], _node_ip_address="127.0.0.1", include_dashboard=False,
             log_to_driver=False)
    executor = Ray()

class Stages(Quiet):
    def __init__(self):
        self.began = {}
    def stage(self, name, total):
        self.began[name] = time.perf_counter()

def fit(num_rows, num):
    settings = {"inference": "stochastic", "num_inducing": job["inducing"], "posterior": "point"}
    if job["fixed"]:
        # Nobody comes to rest, so that all fits take as many steps.
        policy = SvgpPolicy(averaged_steps=SvgpPolicy().max_steps + 1)
        settings["policies"] = vbks.Policies(svgp=policy)
    context, _ = make_context(rows(num_rows), num, FitSettings(**settings))
    cost = lambda expression: cost_of(make_candidate(expression, context, None, None))
    stride = 144 // num
    expressions = sorted(vbks.K144, key=cost)[stride // 2 :: stride]
    stages = Stages()
    began = time.perf_counter()
    fits = fit_candidates(expressions, context.data, **settings, prune=False,
                          executor=executor, progress=stages)
    ended = time.perf_counter()
    return ended - began, ended - stages.began["finalising"], fits

fit(job["rows"], job["warm"])
seconds, last, fits = fit(job["rows"], job["kernels"])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "last_pass": last, "megabytes": peak,
                  "elbos": [fit.elbo for fit in fits]}))
"""

MACHINE = """
import time
import numpy as np
A = np.random.default_rng(0).normal(size=(400, 400))
def work():
    for _ in range({steps}):
        A @ A
work()
began = time.perf_counter()
work()
print(time.perf_counter() - began)
"""


@dataclass(frozen=True)
class Size:
    """Rows, inducing points, numbers of kernels, numbers of rows, and repeats."""

    rows: int
    inducing: int
    kernels: tuple[int, ...]
    row_counts: tuple[int, ...]
    repeats: int
    warm: int


FULL = Size(10_000, 100, (12, 36, 72, 144), (2_500, 10_000, 40_000, 160_000), 1, 12)
QUICK = Size(600, 16, (2, 4), (300, 600), 1, 2)


@dataclass(frozen=True)
class Fitted:
    """Seconds, those of the last pass over all rows, bounds of all kernels, and the most memory of
    the process that hands out work."""

    seconds: float
    last_pass: float
    elbos: list[float]
    megabytes: float


def run(context: Context) -> list[Figure]:
    """Speed-ups by devices and by Ray, and times against kernels and rows."""
    size = QUICK if context.quick else FULL
    return [*_machine(), *_workers(size), *_kernels(size), *_rows(size)]


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: time against kernels, and against rows."""
    newest = lines[-1]
    canvas = Canvas(figsize=(9, 3.6), layout="constrained")
    for panel, word in zip(canvas.subplots(1, 2), ("kernels", "rows"), strict=True):
        known = [f for f in newest.figures if f.name.endswith(f" {word}") and f.unit == "s"]
        x = [int(f.name.split()[-2].replace(",", "")) for f in known]
        panel.plot(x, [f.value for f in known], "o-")
        panel.set_xlabel(word)
        panel.set_ylabel("seconds")
        panel.set_ylim(0)
        panel.set_xscale("log" if word == "rows" else "linear")
    canvas.suptitle(f"Time by one worker, {newest.cores} cores, {newest.date[:10]}")
    canvas.savefig(path, dpi=120)


def _machine() -> Iterator[Figure]:
    """What two processes at once reach of twice one, with work that shares nothing."""
    alone = min(_products(1)[0] for _ in range(3))
    both = min(max(_products(2)) for _ in range(3))
    yield Figure("machine: two processes beside one", 2.0 * alone / both, "times the work")


def _products(num: int) -> list[float]:
    command = [sys.executable, "-c", MACHINE.format(steps=STEPS)]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=alone) for _ in range(num)
    ]
    return [float(child.communicate()[0]) for child in children]


def _workers(size: Size) -> Iterator[Figure]:
    for executor in WORKERS:
        most = max(size.kernels)
        one, two = (
            _best(size, executor=executor, workers=workers, rows=size.rows, kernels=most)
            for workers in (1, 2)
        )
        speed_up = one.seconds / two.seconds
        tell(f"{executor}: {one.seconds:.1f} s by one worker, {two.seconds:.1f} s by two")
        yield Figure(
            f"{executor}: two workers beside one",
            speed_up,
            "times faster",
            f"at least {ASKED_SPEED_UP:g} on two cores",
            f"{one.seconds:.1f} s and {two.seconds:.1f} s",
            speed_up >= ASKED_SPEED_UP,
        )
        difference = np.max(np.abs(np.subtract(one.elbos, two.elbos)))
        yield Figure(f"{executor}: largest difference of bounds", float(difference), "nats")
        if executor == "Ray":
            few = _fit(
                _job(size, executor=executor, workers=2, rows=size.rows, kernels=size.kernels[0])
            )
            yield Figure(
                f"Ray: memory of the driver for {len(two.elbos)} kernels", two.megabytes, "MB",
                others=f"{few.megabytes:.0f} MB for {len(few.elbos)}",
            )  # fmt: skip


def _kernels(size: Size) -> Iterator[Figure]:
    times = {
        num: _best(size, executor="devices", workers=1, rows=size.rows, kernels=num).seconds
        for num in size.kernels
    }
    for num, seconds in times.items():
        yield Figure(f"time for {num} kernels", seconds, "s")
    paces = [seconds / num for num, seconds in times.items()]
    spread = max(paces) / min(paces)
    yield Figure(
        "seconds per kernel, most over least", spread, "", f"at most {LINEAR:g}", None,
        spread <= LINEAR,
    )  # fmt: skip


def _rows(size: Size) -> Iterator[Figure]:
    num = size.kernels[0]
    fitted = {
        rows: _best(size, executor="devices", workers=1, rows=rows, kernels=num, fixed=True)
        for rows in size.row_counts
    }
    times = {rows: one.seconds - one.last_pass for rows, one in fitted.items()}
    for rows, seconds in times.items():
        others = f"and {fitted[rows].last_pass:.1f} s for the last pass over all rows"
        where = f"time at a fixed number of steps for {num} kernels on {rows:,} rows"
        yield Figure(where, seconds, "s", others=others)
        tell(f"{where}: {seconds:.1f} s, {others}")
    growth = max(times.values()) / min(times.values())
    yield Figure(
        f"time at {size.row_counts[-1]:,} rows and fewer, most over least", growth, "",
        f"at most {FLAT:g}", None, growth <= FLAT,
    )  # fmt: skip


@cache
def _best(
    size: Size, *, executor: str, workers: int, rows: int, kernels: int, fixed: bool = False
) -> Fitted:
    """The quickest of the repeats; what was measured once is known."""
    job = _job(size, executor=executor, workers=workers, rows=rows, kernels=kernels, fixed=fixed)
    return min((_fit(job) for _ in range(size.repeats)), key=lambda fitted: fitted.seconds)


def _job(size: Size, **job: Any) -> dict[str, Any]:
    return {"fixed": False, **job, "inducing": size.inducing, "warm": size.warm}


def _fit(job: dict[str, Any]) -> Fitted:
    command = [sys.executable, "-c", FIT, json.dumps(job)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **threads}
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found = json.loads(done.stdout.splitlines()[-1])
    return Fitted(**found)
