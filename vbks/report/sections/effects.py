"""Several inputs: what each of them does to predictions, and predictions beside what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.report.labels import Labels
from vbks.report.values import Numbers, Series, numbers
from vbks.selection.plot_data import LEVELS, MOST_BARS, rows_of
from vbks.selection.record import SelectionRecord
from vbks.words.numerals import decimals_for, fixed, percent

MOST_INPUTS = 12
"""The first inputs whose effects are computed; each costs predictions at `PLACES` × `ROWS` rows."""

PLACES, ROWS = 17, 40
"""An effect is the mean of predictions for this many rows of the data, at this many places."""

MOST_KERNELS, LEAST_WEIGHT = 3, 0.05
"""Effects are averaged over this many kernels at most, each with at least this weight."""

ENDS = (0.02, 0.98)
"""Effects are drawn between these quantiles of an input, so that no outlier stretches them."""

BETWEEN_ROWS = (0.1, 0.9)
"""The band of an effect holds this range of the rows."""

FLAT = 0.05
"""An effect that changes predictions by less than this share of the data's range is hardly any."""


SLACK = 0.1
"""An effect that goes back by no more than this share of its range rises or falls all the way."""


@dataclass(frozen=True)
class Effect:
    """What an input does to predictions, others as they are in the data: a curve and a sentence.

    ``share`` is the range of the effect over the range of the data's targets.
    """

    name: str
    sentence: str
    share: float
    curve: Series


@dataclass(frozen=True)
class Compared:
    """Targets of rows, and the medians and ends of 90 % intervals that are predicted for them."""

    target: str
    observed: Numbers
    low: Numbers
    median: Numbers
    high: Numbers
    inside: float
    """The share of rows whose target lies inside of its interval."""


@dataclass(frozen=True)
class Effects:
    """The effects of inputs, the strongest first, and predictions beside targets."""

    effects: tuple[Effect, ...]
    compared: Compared
    left_out: tuple[str, ...] = ()


def effects_of(record: SelectionRecord, labels: Labels) -> Effects:
    """Effects of the first inputs, and predictions at rows that were learned from."""
    X, y = rows_of(record, MOST_BARS)
    shown = range(min(record.num_inputs, MOST_INPUTS))
    reach = float(np.ptp(y)) or 1.0
    mean_at = mean_predictor(record)
    found = [_effect(mean_at, labels, X, reach, number) for number in shown]
    return Effects(
        tuple(sorted(found, key=lambda effect: -effect.share)),
        _compared(record, labels, X, y),
        labels.inputs[MOST_INPUTS:],
    )


def _effect(
    mean_at: Callable[[Array], Array], labels: Labels, X: Array, reach: float, number: int
) -> Effect:
    rows = X[np.linspace(0, len(X) - 1, min(len(X), ROWS)).astype(int)]
    places = _places(X[:, number])
    at = np.repeat(rows[np.newaxis], len(places), axis=0)
    at[:, :, number] = places[:, np.newaxis]
    found = mean_at(at.reshape(-1, X.shape[1])).reshape(len(places), len(rows))
    middle = found.mean(axis=1)
    centred = found - found.mean(axis=0) + found.mean()
    low, high = np.quantile(centred, BETWEEN_ROWS, axis=1)
    curve = Series(
        labels.inputs[number], labels.target, labels.kinds[number],
        numbers(places), numbers(middle), numbers(low), numbers(high),
    )  # fmt: skip
    share = float(np.ptp(middle)) / reach
    return Effect(curve.input, _sentence(labels, number, places, middle, share), share, curve)


def mean_predictor(record: SelectionRecord) -> Callable[[Array], Array]:
    """Means of new targets [N] by the kernels with most weight, each at the mean of its q(θ).

    That takes seconds where the average over θ takes minutes, and differs from it by less than a
    figure shows.
    """
    best = sorted(range(len(record.fits)), key=lambda k: -record.weights[k])[:MOST_KERNELS]
    best = [k for k in best if record.weights[k] >= LEAST_WEIGHT] or best[:1]
    models = []
    for k in best:
        fit = record.fits[k]
        data = record.data[fit.warp]
        model = gpflow_model(fit, data, record.likelihood, record.mean_function)
        is_identity = record.likelihood.has_identity_link
        units = data.units if is_identity else data.units.with_targets_as_they_are()
        models.append((float(record.weights[k]), model, units))

    def mean_at(X: Array) -> Array:
        total = np.zeros(len(X))
        for weight, model, units in models:
            parts = (np.asarray(own)[:, 0] for own in model.predict_y(units.standardise_inputs(X)))
            total += weight * units.restore_moments(*parts)[0]
        return np.asarray(total / sum(weight for weight, _, _ in models))

    return mean_at


def _places(values: Array) -> Array:
    """Where an effect is computed: at every value if there are few, else evenly between ends."""
    distinct = np.unique(values)
    if len(distinct) <= PLACES:
        return distinct
    low, high = np.quantile(values, ENDS)
    return np.linspace(low, high, PLACES) if low < high else distinct[:: len(distinct) // PLACES]


def _sentence(labels: Labels, number: int, places: Array, middle: Array, share: float) -> str:
    """What happens to the target as the input grows, others as they are."""
    name, target = labels.inputs[number], labels.target
    if share < FLAT:
        return f"{target} hardly depends on {name} alone: {percent(share)} of its range."
    decimals = decimals_for(float(np.ptp(middle)), 2)
    begin, end, top, bottom = (
        fixed(own, decimals) for own in (middle[0], middle[-1], middle.max(), middle.min())
    )
    steps, slack = np.diff(middle), SLACK * float(np.ptp(middle))
    rises, falls = np.maximum(steps, 0.0).sum(), -np.minimum(steps, 0.0).sum()
    if min(rises, falls) <= slack:
        verb = "rises" if rises > falls else "falls"
        most = _levelling(places, middle)
        return f"{target} {verb} with {name}, from {begin} to {end}{most}."
    peak, low = (_told(places, int(place)) for place in (middle.argmax(), middle.argmin()))
    return f"{target} is highest, {top}, near {name} = {peak}, and lowest, {bottom}, near {low}."


def _levelling(places: Array, middle: Array) -> str:
    """From where on nine tenths of the change are done, if that is in the first half."""
    done = np.abs(middle - middle[0]) >= 0.9 * np.ptp(middle)
    first = int(np.argmax(done))
    if not done.any() or first > len(places) // 2:
        return ""
    return f", most of it up to about {_told(places, first)}"


def _told(places: Array, place: int) -> str:
    decimals = decimals_for(float(np.ptp(places)) or 1.0, 2)
    return fixed(float(places[place]), decimals)


def _compared(record: SelectionRecord, labels: Labels, X: Array, y: Array) -> Compared:
    low, _, median, _, high = np.asarray(record.mixture.predict_quantiles(X, LEVELS)).T
    inside = float(np.mean((low <= y) & (y <= high)))
    return Compared(labels.target, numbers(y), numbers(low), numbers(median), numbers(high), inside)
