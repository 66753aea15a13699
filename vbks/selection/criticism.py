"""Model criticism of a selection: its rows, the checks of its average, and notices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vbks.criticism import Criticism, criticise
from vbks.criticism.coverage import Coverage, coverage_of
from vbks.criticism.notices import coverage_off, cycles_untried, little_explained
from vbks.criticism.sequence import MOST_ROWS, RowSequence, order_input, rows_in_order
from vbks.data.extremes import notices_of_extremes
from vbks.data.sources import ArraySource
from vbks.predict.models.mean_functions import mean_values
from vbks.search.runner import failed_warps
from vbks.selection.axes import axes_of
from vbks.selection.plot_data import rows_of
from vbks.selection.record import SelectionRecord

ROWS_OF_R2 = 5000
"""R² is that of at most this many rows, drawn at random."""


def criticism_of(
    record: SelectionRecord, num_replicates: int, level: float, seed: int
) -> Criticism:
    """Checks of the averaged model at rows of the data, and all notices."""
    average = record.mixture.average
    coverage, r2 = coverage_of(average), r2_of(record)
    return criticise(
        average,
        sequence_of(record),
        record.num_rows,
        notices=tuple(notices_of(record, coverage, r2)),
        coverage=coverage,
        r2=r2,
        num_replicates=num_replicates,
        level=level,
        seed=seed,
    )


def sequence_of(record: SelectionRecord) -> RowSequence:
    """The rows that are checked, in their order."""
    axes, data = axes_of(record), record.rows
    along = order_input(axes, record.num_inputs)
    if not isinstance(data.source, ArraySource):
        data = data.sampled(MOST_ROWS, np.random.default_rng(0))
    places = rows_in_order(data, along)
    part = data.part(places).source
    assert isinstance(part, ArraySource)
    X, y = np.asarray(part.X, float), np.asarray(part.y, float)
    mean = record.mean_function
    if mean is not None:
        y = y + mean_values(mean, X)
    return RowSequence(X, y, places, along, axes, data.num_rows)


def notices_of(record: SelectionRecord, coverage: tuple[Coverage, ...], r2: float) -> Iterator[str]:
    """Sentences about what should not be trusted, whatever residuals say."""
    yield from failed_warps(record.fits)
    X, y = rows_of(record, ROWS_OF_R2)
    if record.likelihood.is_gaussian:
        yield from notices_of_extremes(y)
    yield from cycles_untried(record.fits, record.untried)
    yield from coverage_off(coverage)
    axes = axes_of(record)
    yield from little_explained(r2, X, [axes.name(place + 1) for place in range(X.shape[1])])


def r2_of(record: SelectionRecord) -> float:
    """The share of the variance of the targets that predicted means explain."""
    X, y = rows_of(record, ROWS_OF_R2)
    mean = record.mixture.predict_y(X)[0].numpy()[:, 0]
    return float(1.0 - np.mean((y - mean) ** 2) / np.var(y))
