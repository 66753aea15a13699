"""One and two workers beside each other, Python's share of the time, and the cost model's steps.

The same stochastic fit is made by one and by two workers with one thread each: processes of a Ray
cluster on this machine, and logical devices of one process. Each has fitted a part of the kernels
before, so that graphs and imports are not counted, and the least of the repeats counts. Python's
share is the time of a stage that is not spent inside operations and compiled functions of
TensorFlow. The ceiling is what two processes gain that share nothing but the machine's memory and
cache: each makes a fit of its own, alone or beside the other, and no executor can gain more. Steps
are local ELBOs with all gradients; what the cost model expects of them follows from one product of
matrices, one evaluation of the bank and the smallest step on this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from benchmarks.door.cost_model import A100, Machine, Step, epoch_seconds
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell

ASKED_SPEED_UP = 1.8
"""Of two workers on two cores."""

ASKED_SHARE = 0.1
"""Of the time that Python may take in steps with a hundred inducing points."""

FACTOR = 2.0
"""Times that a measured step may differ from what the cost model expects."""

BEGINNING = """
import json, sys, time
import numpy as np
job = json.loads(sys.argv[1])
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(job["workers"])
"""

FIT = (
    BEGINNING
    + """
if job["executor"] == "devices":
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration() for _ in range(job["workers"])]
    tf.config.set_logical_device_configuration(cpu, parts)
from tensorflow.python import pywrap_tfe
inside, is_inside = {}, []
stage_now = [""]

def timed(call):
    def run(*args, **kwargs):
        if is_inside:
            return call(*args, **kwargs)
        is_inside.append(True)
        began = time.perf_counter()
        try:
            return call(*args, **kwargs)
        finally:
            inside[stage_now[0]] = inside.get(stage_now[0], 0.0) + time.perf_counter() - began
            is_inside.clear()
    return run

if job["executor"] == "here":
    for name in ("TFE_Py_Execute", "TFE_Py_FastPathExecute"):
        setattr(pywrap_tfe, name, timed(getattr(pywrap_tfe, name)))
import vbks
from vbks.execution import Devices, InOrder, Ray

class Timed:
    def __init__(self):
        self.walls = {}
    def run(self, work):
        for k in range(len(work.chunks)):
            stage_now[0], began = work.name, time.perf_counter()
            done = work.do(k)
            ended = time.perf_counter()
            self.walls[work.name] = self.walls.get(work.name, 0.0) + ended - began
            stage_now[0] = ""
            yield k, done

executor = {"devices": Devices, "Ray": Ray, "here": Timed}[job["executor"]]()
if job["executor"] == "Ray":
    import ray
    ray.init(num_cpus=job["workers"], _node_ip_address="127.0.0.2", include_dashboard=False,
             log_to_driver=False)

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 40, job["rows"]))
y = np.sin(2 * x) + 0.02 * x + rng.normal(0, 0.3, len(x))

def fit(num):
    space = vbks.K144[:: 144 // num]
    began = time.perf_counter()
    selection = vbks.fit(x, y, space=space, inference="stochastic", posterior="point",
                         num_inducing=job["inducing"], warps=("identity",), prune=False,
                         executor=executor, progress=False)
    return time.perf_counter() - began, selection

fit(job["warm"])
inside.clear()
if job["executor"] == "here":
    executor.walls.clear()
seconds, selection = min((fit(job["kernels"]) for _ in range(job["repeats"])),
                         key=lambda found: found[0])
walls = getattr(executor, "walls", {})
print(json.dumps({
    "seconds": seconds,
    "evidences": {str(fit.expression): fit.log_evidence() for fit in selection.fits},
    "belief": dict(zip(selection.belief["expression"], selection.belief["probability"])),
    "shares": {name: 1.0 - inside.get(name, 0.0) / wall for name, wall in walls.items()},
}))
"""
)

STEPS = (
    BEGINNING
    + """
import vbks
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.settings import FitSettings
from vbks.inference.svgp.stage import StochasticStage

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 40, 4000))
y = np.sin(2 * x) + 0.02 * x + rng.normal(0, 0.3, len(x))

def least(call):
    call()
    found = []
    for _ in range(job["repeats"]):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return min(found)

def stage_of(K, M, B):
    settings = FitSettings(inference="stochastic", num_inducing=M, batch_size=B, posterior="point")
    comparison, _ = make_context((x, y), K, settings)
    space = [vbks.K144[k] for k in np.linspace(0, 143, K).astype(int)]
    stage = StochasticStage.of([make_candidate(e, comparison) for e in space], comparison)
    theta = np.zeros((K, 1, stage.bank.num_slots))
    theta[:, :, 0] = -2.0
    return stage, theta, comparison.data.sample(B, rng)

def step(K, M, B):
    stage, theta, batch = stage_of(K, M, B)
    q = stage.no_q().moments()
    return least(lambda: stage.at(theta).slopes([batch], q, whitened=False).gradient.numpy())

def product(K, M, B):
    A, C = (tf.constant(rng.normal(size=shape)) for shape in ((K, M, M), (K, M, B)))
    return least(lambda: tf.linalg.matmul(A, C)), 2.0 * K * M * M * B

def factor(K, M):
    A = rng.normal(size=(K, M, M))
    A = tf.constant(A @ A.swapaxes(1, 2) + M * np.eye(M))
    return least(lambda: tf.linalg.cholesky(A)), K * M**3 / 3.0

def terms(K, M, B):
    stage, theta, (X, _) = stage_of(K, M, B)
    own, Z, X = tf.constant(theta), stage.Z, tf.constant(X)
    def call():
        with tf.GradientTape() as tape:
            tape.watch(own)
            value = stage.bank(own, Z, X)
        tape.gradient(value, own)
    return least(call)

print(json.dumps({
    "product": product(12, 100, 512),
    "factor": factor(12, 100),
    "bank": terms(36, 100, 256),
    "smallest": step(1, 4, 4),
    "smallest bank": terms(1, 4, 4),
    "steps": [step(*case) for case in job["cases"]],
}))
"""
)


@dataclass(frozen=True)
class Size:
    """Rows, inducing points, kernels, kernels of the first fit, repeats, and steps (K, M, B)."""

    rows: int
    inducing: int
    kernels: int
    warm: int
    repeats: int
    steps: tuple[tuple[int, int, int], ...]


USUAL = Size(
    10_000, 100, 48, 16, 2,
    ((12, 50, 128), (12, 100, 128), (12, 100, 512), (36, 100, 128), (12, 200, 512), (4, 400, 512)),
)  # fmt: skip
FULL = replace(USUAL, kernels=144, warm=48)
QUICK = Size(600, 16, 4, 4, 1, ((4, 16, 32), (4, 50, 128)))


@dataclass(frozen=True)
class Fitted:
    """Seconds, log evidences and belief by kernel, and Python's share of the time of each stage."""

    seconds: float
    evidences: dict[str, float]
    belief: dict[str, float]
    shares: dict[str, float]


def run(context: Context) -> list[Figure]:
    """Speed-ups, shares, steps beside the cost model, and what it expects of eight GPUs."""
    size = QUICK if context.quick else FULL if context.full else USUAL
    return [_ceiling(size), *_speed_ups(size), *_shares(size), *_steps(size), *_expected()]


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: steps as measured and as the cost model expects them."""
    newest = lines[-1]
    known = [f for f in newest.figures if f.name.startswith("step of ")]
    canvas = Canvas(figsize=(7, 3.6), layout="constrained")
    panel = canvas.subplots()
    places = np.arange(len(known))
    expected = [float((f.others or "0").split()[0]) for f in known]
    panel.bar(places - 0.2, [f.value for f in known], 0.4, label="measured")
    panel.bar(places + 0.2, expected, 0.4, label="expected by the cost model")
    panel.set_xticks(places, [f.name.removeprefix("step of ") for f in known], rotation=20)
    panel.set_ylabel("milliseconds")
    panel.legend()
    canvas.suptitle(f"Steps on one core, {newest.date[:10]}")
    canvas.savefig(path, dpi=120)


def _ceiling(size: Size) -> Figure:
    """What two processes with nothing in common gain over one after the other."""

    def fit(_: int) -> float:
        return _fitted(replace(size, kernels=size.warm), "here", 1, size.repeats).seconds

    alone = fit(0)
    with ThreadPoolExecutor(2) as both:
        together = max(both.map(fit, range(2)))
    return Figure(
        "ceiling: two processes that share nothing, beside one after the other",
        2.0 * alone / together,
        "times faster",
        others=f"{alone:.1f} s alone and {together:.1f} s beside the other",
    )


def _speed_ups(size: Size) -> Iterator[Figure]:
    for executor in ("Ray", "devices"):
        one, two = (_fitted(size, executor, workers, size.repeats) for workers in (1, 2))
        tell(f"{executor}: {one.seconds:.1f} s by one worker, {two.seconds:.1f} s by two")
        speed_up = one.seconds / two.seconds
        yield Figure(
            f"{executor}: two workers beside one, {size.kernels} kernels, {size.inducing} inducing "
            "points",
            speed_up,
            "times faster",
            f"at least {ASKED_SPEED_UP:g} on two cores",
            f"{one.seconds:.1f} s and {two.seconds:.1f} s",
            speed_up >= ASKED_SPEED_UP,
        )
        for name, unit in (("evidences", "nats"), ("belief", "of 1")):
            apart = _apart(getattr(one, name), getattr(two, name))
            yield Figure(f"{executor}: largest difference of {name}", apart, unit)


def _apart(before: dict[str, float], after: dict[str, float]) -> float:
    """The largest difference of any kernel; those that have failed both times are alike."""
    values = np.array([[before[kernel], after[kernel]] for kernel in before])
    is_failed = np.isnan(values)
    if np.any(is_failed[:, 0] != is_failed[:, 1]):
        return float("inf")
    return float(np.nanmax(np.abs(values[:, 0] - values[:, 1])))


def _shares(size: Size) -> Iterator[Figure]:
    for stage, share in _fitted(size, "here", 1, 1).shares.items():
        is_asked = stage == "optimisation"
        yield Figure(
            f"Python's share of the time while {stage}",
            share,
            "of 1",
            f"below {ASKED_SHARE:g}" if is_asked else None,
            met=share < ASKED_SHARE if is_asked else None,
        )


def _steps(size: Size) -> Iterator[Figure]:
    found = _run(STEPS, {"workers": 1, "repeats": 5, "cases": size.steps})
    machine = _measured(found)
    ratios = []
    for case, seconds in zip(size.steps, found["steps"], strict=True):
        expected = machine.seconds(Step(*case))
        ratios.append(seconds / expected)
        name = "step of K = {}, M = {}, B = {}".format(*case)
        yield Figure(name, 1e3 * seconds, "ms", None, f"{1e3 * expected:.1f} ms by the cost model")
    furthest = max(max(ratio, 1.0 / ratio) for ratio in ratios)
    yield Figure(
        "steps: measured beside the cost model, furthest", furthest, "times",
        f"at most {FACTOR:g}", None, furthest <= FACTOR,
    )  # fmt: skip


def _measured(found: dict[str, Any]) -> Machine:
    """This machine by one product, one factor, one evaluation of the bank and the smallest step."""
    (product, product_flops), (factor, factor_flops) = found["product"], found["factor"]
    bank = found["bank"] - found["smallest bank"]
    numbers = Step(36, 100, 256).term_numbers - Step(36, 100, 0).term_numbers
    return Machine(
        product_flops / product, factor_flops / factor, numbers / bank, found["smallest"]
    )


def _expected() -> Iterator[Figure]:
    for M, chunk in ((200, 8), (800, 1)):
        step = Step(144, M, 512)
        for num in (1, 8):
            seconds = epoch_seconds(step, 1_000_000, num, chunk, A100)
            yield Figure(
                f"computed, not measured: K144, M = {M}, a pass over 1,000,000 rows, {num} A100",
                seconds,
                "s",
            )


def _fitted(size: Size, executor: str, workers: int, repeats: int) -> Fitted:
    job = {
        "executor": executor, "workers": workers, "rows": size.rows, "inducing": size.inducing,
        "kernels": size.kernels, "warm": size.warm, "repeats": repeats,
    }  # fmt: skip
    return Fitted(**_run(FIT, job))


def _run(code: str, job: dict[str, Any]) -> dict[str, Any]:
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(job)],
        capture_output=True, text=True, check=False, env={**os.environ, **threads},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
