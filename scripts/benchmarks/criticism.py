"""P-values of model criticism under the model, and how often eight planted faults are found.

Data sets of the model are drawn from a Gaussian process, and fitted from start to end with its
kernel; with three kernels of which one is the true one; and with two inputs. P-values of each check
are compared with the uniform distribution (Kolmogorov and Smirnov), and so is the smallest of all,
corrected for their number, by which the verdict goes.

Faults are planted in 100 rows whose signal has ten times the variance of the noise, and the space
is restricted to a kernel that cannot explain them. A fault is found if the check that names it
speaks against the model, corrected for the number of checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import kstest

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.telling import tell
from benchmarks.door.workers import one_for_each_core
from vbks.arrays import Array
from vbks.criticism import Criticism

ROWS = 100

SNR = 10.0
"""Variance of the signal over that of the noise."""

LENGTHSCALES = (8.0, 30.0)
"""Signals are smooth over so many rows, drawn evenly on a logarithmic scale."""

ASKED_POWER = 0.8

SMALLEST_KS = 0.01
"""P-values of a check pass for uniform if a test of that has at least this p-value."""

PARTS = ("model", "faults")


@dataclass(frozen=True)
class Rows:
    """A data set, and the kernels that are tried on it."""

    X: Array
    y: Array
    space: tuple[str, ...]


def smooth(x: Array, rng: np.random.Generator, lengthscale: float | None = None) -> Array:
    """A function drawn from SE, of variance one."""
    length = lengthscale or float(np.exp(rng.uniform(*np.log(LENGTHSCALES))))
    K = np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / length**2)
    values, vectors = np.linalg.eigh(K)
    return np.asarray(vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(x))))


def noise(num: int, rng: np.random.Generator) -> Array:
    """Noise that has a tenth of the variance of the signal."""
    return np.asarray(rng.standard_normal(num) / np.sqrt(SNR))


def one_kernel(rng: np.random.Generator) -> Rows:
    """SE, fitted with SE."""
    x = np.arange(float(ROWS))
    return Rows(x, smooth(x, rng) + noise(ROWS, rng), ("SE",))


def three_kernels(rng: np.random.Generator) -> Rows:
    """SE at times that are not even, fitted with SE, RQ and LIN + SE."""
    x = np.sort(rng.uniform(0.0, ROWS, ROWS))
    return Rows(x, smooth(x, rng) + noise(ROWS, rng), ("SE", "RQ", "LIN + SE"))


def two_inputs(rng: np.random.Generator) -> Rows:
    """SE of two inputs in no order, fitted with SE."""
    X = rng.uniform(0.0, 3.0, (ROWS, 2))
    squares = np.sum((X[:, np.newaxis] - X) ** 2, axis=-1)
    values, vectors = np.linalg.eigh(np.exp(-0.5 * squares))
    f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(ROWS))
    return Rows(X, f + noise(ROWS, rng), ("SE",))


def missed_cycle(rng: np.random.Generator) -> Rows:
    """A cycle that comes back seven times or more on a smooth function, fitted with SE."""
    x = np.arange(float(ROWS))
    period, phase = rng.uniform(6.0, ROWS / 7.0), rng.uniform(0.0, 2.0 * np.pi)
    cycle = np.sqrt(2.0) * np.sin(2.0 * np.pi * x / period + phase)
    return Rows(x, smooth(x, rng, 40.0) + cycle + noise(ROWS, rng), ("SE",))


def heavy_tails(rng: np.random.Generator) -> Rows:
    """Noise with Student's distribution of 2 degrees of freedom."""
    x = np.arange(float(ROWS))
    drawn = rng.standard_t(2.0, ROWS)
    return Rows(x, smooth(x, rng) + drawn * np.std(noise(ROWS, rng)) / 1.5, ("SE",))


def growing_noise(rng: np.random.Generator) -> Rows:
    """Noise whose standard deviation grows to five times what it was."""
    x = np.arange(float(ROWS))
    size = np.exp(np.linspace(0.0, np.log(5.0), ROWS))
    return Rows(x, smooth(x, rng) + noise(ROWS, rng) * size / np.sqrt(np.mean(size**2)), ("SE",))


def step(rng: np.random.Generator) -> Rows:
    """A jump by two standard deviations of the signal somewhere in the middle half."""
    x = np.arange(float(ROWS))
    jump = 2.0 * (x >= rng.integers(ROWS // 4, 3 * ROWS // 4))
    return Rows(x, smooth(x, rng, 30.0) + jump + noise(ROWS, rng), ("SE",))


def outlier(rng: np.random.Generator) -> Rows:
    """One row that is two standard deviations of the signal off, six of the noise."""
    x = np.arange(float(ROWS))
    y = smooth(x, rng) + noise(ROWS, rng)
    y[rng.integers(ROWS)] += 2.0 * rng.choice([-1.0, 1.0])
    return Rows(x, y, ("SE",))


def autocorrelation(rng: np.random.Generator) -> Rows:
    """A line with noise of which each value keeps 0.7 of the one before, fitted with LIN."""
    x = np.arange(float(ROWS))
    related, drawn = np.zeros(ROWS), noise(ROWS, rng) * np.sqrt(1.0 - 0.7**2)
    for place in range(ROWS):
        related[place] = 0.7 * related[place - 1] + drawn[place]
    return Rows(x, np.linspace(-1.7, 1.7, ROWS) + related, ("LIN",))


def wrong_warp(rng: np.random.Generator) -> Rows:
    """The exponential of a signal with noise, fitted without a warp."""
    x = np.arange(float(ROWS))
    return Rows(x, np.exp(smooth(x, rng) + noise(ROWS, rng)), ("SE",))


def repeated_rows(rng: np.random.Generator) -> Rows:
    """A quarter of the rows are copies of others."""
    num = 3 * ROWS // 4
    x = np.linspace(0.0, ROWS, num)
    y = smooth(x, rng) + noise(num, rng)
    rows = np.concatenate([np.arange(num), rng.choice(num, ROWS - num, replace=False)])
    return Rows(x[rows], y[rows], ("SE",))


MODELS: dict[str, Callable[[np.random.Generator], Rows]] = {
    "one kernel": one_kernel,
    "three kernels": three_kernels,
    "two inputs": two_inputs,
}

FAULTS: dict[str, tuple[Callable[[np.random.Generator], Rows], str]] = {
    "missed cycle": (missed_cycle, "periodogram"),
    "heavy tails": (heavy_tails, "tails"),
    "growing noise": (growing_noise, "spread"),
    "step": (step, "step"),
    "outlier": (outlier, "outlier"),
    "autocorrelation": (autocorrelation, "autocorrelation"),
    "wrong warp": (wrong_warp, "warp"),
    "repeated rows": (repeated_rows, "repeats"),
}
"""Each fault, and the check that names it."""

DRAWS = {"one kernel": 200, "three kernels": 100, "two inputs": 100}

FAULT_DRAWS, QUICK_DRAWS = 50, 3


def run(context: Context) -> list[Figure]:
    """P-values under the model, and power, on as many cores as there are."""
    figures: list[Figure] = []
    if context.part in (None, "model"):
        for name in MODELS:
            num = QUICK_DRAWS if context.quick else DRAWS[name]
            figures += under_model(name, [*_criticisms(MODELS[name], num, context)])
    if context.part in (None, "faults"):
        for name, (plant, check) in FAULTS.items():
            num = QUICK_DRAWS if context.quick else FAULT_DRAWS
            figures += power(name, check, [*_criticisms(plant, num, context)])
    return figures


def criticised(rows: Rows, seed: int = 0) -> Criticism:
    """A fit of the rows as a user makes it, and its criticism."""
    selection = vbks.fit(
        rows.X, rows.y, space=rows.space, warps=("identity",), inference="exact",
        posterior="laplace", restarts=3, seed=seed, progress=False,
    )  # fmt: skip
    return selection.criticism(seed=seed)


def _criticisms(
    plant: Callable[[np.random.Generator], Rows], num: int, context: Context
) -> Iterator[dict[str, tuple[float, float]]]:
    task = partial(_one, plant, context.seed)
    if context.quick:
        yield from map(task, range(num))
        return
    with one_for_each_core() as pool:
        yield from pool.map(task, range(num))


def _one(
    plant: Callable[[np.random.Generator], Rows], seed: int, number: int
) -> dict[str, tuple[float, float]]:
    """P-values of each check, its own and that for all checks together."""
    found = criticised(plant(np.random.default_rng([seed, number])), seed=number)
    return {check.check: (check.p_value, check.adjusted) for check in found.checks}


def under_model(name: str, outcomes: Sequence[dict[str, tuple[float, float]]]) -> Iterator[Figure]:
    """How uniform p-values are, of each check and of all together."""
    columns = {check: [own[check][0] for own in outcomes] for check in outcomes[0]}
    columns["verdict"] = [min(pair[1] for pair in own.values()) for own in outcomes]
    for check, p_values in columns.items():
        test = kstest(p_values, "uniform")
        below = float(np.mean(np.array(p_values) <= 0.05))
        error = np.sqrt(0.05 * 0.95 / len(p_values))
        tell(f"{name}, {check}: distance {test.statistic:.3f}, p {test.pvalue:.3f}, {below:.3f}")
        yield Figure(
            f"{name}, {check}: distance of p-values from uniform",
            float(test.statistic),
            "",
            f"p at least {SMALLEST_KS}",
            others=f"p {test.pvalue:.3f} of {len(p_values)} data sets",
            met=bool(test.pvalue >= SMALLEST_KS),
        )
        yield Figure(
            f"{name}, {check}: share of p-values up to 0.05",
            below,
            "",
            "0.05, within three standard errors" if check == "verdict" else None,
            others=f"standard error {error:.3f}",
            met=bool(abs(below - 0.05) <= 3.0 * error) if check == "verdict" else None,
        )


def power(
    name: str, check: str, outcomes: Sequence[dict[str, tuple[float, float]]]
) -> Iterator[Figure]:
    """How often the check that names a fault finds it, and how often the verdict does."""
    found = float(np.mean([own[check][1] <= 0.05 for own in outcomes]))
    any_check = float(np.mean([min(p for _, p in own.values()) <= 0.05 for own in outcomes]))
    tell(f"{name}: {found:.2f} by '{check}', {any_check:.2f} by any")
    yield Figure(
        f"{name}: found by '{check}'",
        found,
        "",
        f"above {ASKED_POWER}",
        others=f"of {len(outcomes)} data sets; {any_check:.2f} by any check",
        met=found > ASKED_POWER,
    )
