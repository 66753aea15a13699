"""How candidates were trained as plain values and packed arrays, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args

from vbks.errors import DataError
from vbks.inference.paper.settings import Optimiser, PaperSettings
from vbks.inference.result import Posterior
from vbks.search.paper import BeliefRecord, Training, TrainingRecord
from vbks.storage.records import Packing, Record, Unpacking, damaged, plain_number


def encode_training(training: Training | None, packing: Packing) -> dict[str, Any] | None:
    """Everything but q(g) of the history."""
    if training is None:
        return None
    for own in training.history:
        packing.add("history", own.elbos)
        packing.add("history", own.probabilities)
    return {
        "settings": asdict(training.settings),
        "record": asdict(training.record),
        "expressions": list(training.history[0].expressions) if training.history else [],
        "history": [
            {
                "step": int(own.step),
                "seconds": plain_number(own.seconds),
                "share": plain_number(own.share),
            }
            for own in training.history
        ],
    }


def decode_training(record: Record, unpacking: Unpacking) -> Training | None:
    """The training that was encoded."""
    if record.is_null("training"):
        return None
    own = record.record("training")
    names = own.texts("expressions")
    history = tuple(
        BeliefRecord(
            point.count("step"),
            point.number("seconds"),
            point.finite("share"),
            names,
            unpacking.take("history", len(names)),
            unpacking.take("history", len(names)),
        )
        for point in own.records("history", "record")
    )
    return Training(_settings(own.record("settings")), _record(own.record("record")), history)


def _settings(record: Record) -> PaperSettings:
    values = dict(record.values)
    unknown = [name for name in values if name not in PaperSettings.__dataclass_fields__]
    if unknown:
        raise damaged(f"{record.place} has an unknown '{unknown[0]}'")
    for name in ("learning_rate", "belief_variance", "averaging_variance", "temperature"):
        if values.get(name) is not None:
            values[name] = record.finite(name)
    values["sample_inducing"] = record.flag("sample_inducing")
    try:
        return PaperSettings(**values)
    except (DataError, TypeError) as error:
        raise damaged(f"{record.place} cannot be read: {str(error).rstrip('.')}") from None


def _record(record: Record) -> TrainingRecord:
    return TrainingRecord(
        steps=record.count("steps"),
        batch_size=record.count("batch_size"),
        num_inducing=record.count("num_inducing"),
        num_samples=record.count("num_samples"),
        sample_inducing=record.flag("sample_inducing"),
        optimiser=record.one_of("optimiser", get_args(Optimiser)),
        learning_rate=record.finite("learning_rate"),
        posterior=record.one_of("posterior", get_args(Posterior)),
        value_batches=record.count("value_batches"),
        num_rows=record.count("num_rows"),
        stopped=record.text("stopped"),
    )
