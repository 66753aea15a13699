"""Exported predictions: a SavedModel that TensorFlow loads and serves without vbks and GPflow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

from vbks.errors import DataError, FileError
from vbks.grammar.expression import Expression
from vbks.inference.result import LocalFit
from vbks.predict.mixture import KernelMixture
from vbks.predict.serving import ServedMixture
from vbks.selection.record import SelectionRecord
from vbks.storage.folders import FolderPath, refuse_unless_empty, write_folder

PYTHON_CALLS = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
"""Operations that call a function of the process that made the graph."""


def export(
    record: SelectionRecord,
    folder: FolderPath,
    expression: Expression | str | None = None,
    warp: str | None = None,
) -> None:
    """Write the averaged predictions, or those of one candidate, to a new or empty folder."""
    refuse_unless_empty(Path(os.path.realpath(folder)))
    if expression is None:
        mixture = record.mixture
    else:
        mixture = _mixture_of(record, record.fit_of(expression, warp))
    module = mixture.to_module()
    signatures = {
        name: getattr(module, name).get_concrete_function()
        for name in ("predict_f", "predict_y", "predict_log_density")
    }
    for function in signatures.values():
        _refuse_python_calls(function.graph.as_graph_def())
    signatures["serving_default"] = signatures["predict_y"]
    write_folder(
        folder, "the model", refuse_unless_empty, lambda path: _write(module, path, signatures)
    )


def _mixture_of(record: SelectionRecord, fit: LocalFit) -> KernelMixture:
    """One candidate alone, averaged over its posterior of θ."""
    if fit.status != "fitted":
        raise DataError(
            f"'{fit.expression}' cannot be exported, as it has no posterior: {fit.status}, "
            f"{fit.reason}. Choose a candidate that is 'fitted' in `belief`."
        )
    return record.mixture_of((fit,), [1.0])


def _write(module: ServedMixture, folder: Path, signatures: dict[str, Any]) -> None:
    try:
        tf.saved_model.save(module, str(folder), signatures)
    except tf.errors.OpError as error:
        # TensorFlow's own for what Python has OSError for.
        raise OSError(error.error_code, error.message) from error


def _refuse_python_calls(graph: Any) -> None:
    """Refuse graphs that need functions of this process: no other has them."""
    for operation in _operations(graph):
        if operation.op in PYTHON_CALLS:
            raise FileError(
                f"the predictions cannot be exported: the operation '{operation.name}' calls "
                "Python, which a SavedModel cannot do. Write the kernel or likelihood that does so "
                "without tf.py_function and tf.numpy_function, or export a candidate without it."
            )


def _operations(graph: Any) -> Iterator[Any]:
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def
