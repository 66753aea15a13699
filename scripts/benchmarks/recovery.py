"""Does CKS find the kernel that made the data? The seven kernels of Table 1.2 of the ABCD chapter.

Three hundred rows are drawn from a prior with a true kernel, with three ratios of the variance of
the signal to that of the noise. The search is CKS with BIC, whose best is compared
with WN, noise alone. Found means the same sum of products: lengthscales of the true kernels are
equal, so that SE2 * (SE1 + SE3), which shares one, describes SE1 * SE2 + SE2 * SE3 with less.
Beside it stands what the chapter reports.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Canvas

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell
from vbks.arrays import Array
from vbks.grammar.additive import additive_form
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Expression, LimitError, dims_used
from vbks.grammar.parser import parse
from vbks.inference.evaluator import fit_candidates
from vbks.kernels.bank.bank import Bank
from vbks.kernels.layout import lay_out
from vbks.search.methods import CKS

NUM_ROWS = 300

RATIOS = (10.0, 1.0, 0.1)
"""Signal to noise, in variances."""

LENGTHSCALE, PERIOD = 0.7, 0.5
"""Of the true kernels, where inputs are uniform over 3.5: a fifth and a seventh of their range."""


@dataclass(frozen=True)
class Truth:
    """A true kernel, its inputs, and what the chapter reports for each ratio."""

    text: str
    num_inputs: int
    reported: tuple[str, str, str]


TRUTHS = (
    Truth("SE + RQ", 1, ("SE", "SE * PER", "SE")),
    Truth("LIN * PER", 1, ("LIN * PER", "LIN * PER", "SE")),
    Truth("SE[1] + RQ[2]", 2, ("SE1 + SE2", "LIN1 + SE2", "LIN1")),
    Truth(
        "SE[1] + SE[2] * PER[1] + SE[3]",
        3,
        ("SE1 + SE2 * PER1 + SE3", "SE2 * PER1 + SE3", "none"),
    ),
    Truth("SE[1] * SE[2]", 4, ("SE1 * SE2", "LIN1 * SE2", "LIN2")),
    Truth(
        "SE[1] * SE[2] + SE[2] * SE[3]",
        4,
        ("SE1 * SE2 + SE2 * SE3", "SE1 + SE2 * SE3", "SE1"),
    ),
    Truth(
        "(SE[1] + SE[2]) * (SE[3] + SE[4])",
        4,
        ("(SE1 + SE2) * (SE3 * LIN3 * LIN1 + SE4)", "(SE1 + SE2) * SE3 * SE4", "none"),
    ),
)


@dataclass(frozen=True)
class Size:
    """How many of the kernels, which ratios, and how deep the search goes."""

    truths: tuple[Truth, ...]
    ratios: tuple[float, ...]
    depth: int


FULL = Size(TRUTHS, RATIOS, 6)
QUICK = Size(TRUTHS[1:2], RATIOS[:1], 1)


def run(context: Context) -> list[Figure]:
    """Found structures beside the true ones."""
    size = QUICK if context.quick else FULL
    figures: list[Figure] = []
    for place, truth in enumerate(size.truths):
        for ratio in size.ratios:
            figures += _one(truth, ratio, size.depth, context.seed + place)
    for ratio in size.ratios:
        own = [f.value for f in figures if f.name.endswith(f"SNR {ratio:g}: found")]
        figures.append(Figure(f"SNR {ratio:g}: structures found", sum(own), f"of {len(own)}"))
    return figures


def _one(truth: Truth, ratio: float, depth: int, seed: int) -> Iterator[Figure]:
    X, y = draw_rows(truth, ratio, seed)
    began = time.perf_counter()
    selection = vbks.fit(X, y, method=CKS(max_depth=depth), seed=seed, progress=False)
    (noise,) = fit_candidates(["WN"], (X, y), inference="exact", posterior="point", prior="flat")
    seconds = time.perf_counter() - began
    best = max(selection.best, noise, key=lambda fit: fit.log_evidence("bic"))
    expression: Expression = parse(truth.text)
    is_found = _in_sums(best.expression) == _in_sums(expression)
    reported = truth.reported[RATIOS.index(ratio)]
    where = _where(truth, ratio)
    others = f"{best.expression}; reported {reported}; {len(selection.fits)} kernels"
    yield Figure(f"{where}: found", float(is_found), "", others=f"{others}, {seconds:.0f} s")
    tell(f"{where}: {others}, {seconds:.0f} s")


def _in_sums(expression: Expression) -> Expression:
    """The expression as a sum of products, or as it is where that is too large."""
    try:
        return canonical(additive_form(expression))
    except LimitError:
        return canonical(expression)


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: what was found for each kernel and ratio, above what the chapter reports."""
    texts = {figure.name: (figure.value, figure.others or "") for figure in lines[-1].figures}
    canvas = Canvas(figsize=(15, 4.2), layout="constrained")
    panel = canvas.subplots()
    panel.axis("off")
    cells, colours = [], []
    for truth in TRUTHS:
        row = [texts[f"{_where(truth, ratio)}: found"] for ratio in RATIOS]
        cells.append([f"{o.split(';')[0]}\n({o.split('; ')[1]})" for _, o in row])
        colours.append(["#cfe8cf" if value else "#f6e3d0" for value, _ in row])
    table = panel.table(
        cells,
        colours,
        cellLoc="left",
        rowLabels=[truth.text for truth in TRUTHS],
        colLabels=[f"signal to noise {ratio:g}" for ratio in RATIOS],
        colWidths=[0.3] * len(RATIOS),
        loc="center",
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.scale(1.0, 2.2)
    canvas.suptitle(
        f"CKS on 300 rows from known kernels, {lines[-1].date[:10]}: found (green) or not"
    )
    canvas.savefig(path, dpi=120)


def _where(truth: Truth, ratio: float) -> str:
    return f"{truth.text}, SNR {ratio:g}"


def draw_rows(truth: Truth, ratio: float, seed: int) -> tuple[Array, Array]:
    """Inputs uniform in a cube, and a function of the true kernel with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.75, 1.75, (NUM_ROWS, truth.num_inputs))
    expression = parse(truth.text)
    assert max(dims_used(expression), default=1) <= truth.num_inputs
    layout = lay_out(expression, truth.num_inputs)
    theta = layout.prior_mean.copy()
    for place, name in enumerate(layout.names):
        if "period" in name:
            theta[place] = np.log(PERIOD)
        elif "lengthscales" in name:
            theta[place] = np.log(LENGTHSCALE)
    K = Bank([expression], truth.num_inputs)(theta[np.newaxis], X)[0].numpy()
    signal = np.linalg.cholesky(K + 1e-8 * np.eye(NUM_ROWS)) @ rng.normal(size=NUM_ROWS)
    noise = signal.std() / np.sqrt(ratio)
    return X, signal + noise * rng.normal(size=NUM_ROWS)
