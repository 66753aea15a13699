"""Processes that work side by side, where times are not what is measured."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

__all__ = ["one_for_each_core", "usable_cores"]


def usable_cores() -> int:
    """Cores that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_for_each_core() -> ProcessPoolExecutor:
    """A pool with a process for each core that is ours, whose TensorFlow has one thread."""
    return ProcessPoolExecutor(usable_cores(), get_context("spawn"), _use_one_thread)


def _use_one_thread() -> None:
    """Matrices of a few hundred rows are quicker with it, and each core has a process."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
