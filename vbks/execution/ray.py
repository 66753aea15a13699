"""Work on a Ray cluster: a task for each chunk, repeated elsewhere if its worker is lost."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from vbks.data.sources import ArraySource, Source
from vbks.errors import DataError, VbksError
from vbks.execution.placement import Placement, costliest_first, placed
from vbks.execution.work import Results, Work
from vbks.inference.context import FitContext
from vbks.kernels.registry import own_families, take_families
from vbks.storage.fit_codec import refuse_opaque

RETRIES = 3
"""Times that a task is repeated when its worker or machine is lost."""

AHEAD = 2
"""Tasks that are handed out for each that can run at once, so that no worker waits."""

WAIT_SECONDS = 1.0
"""Seconds between two checks of whether somebody wants to stop."""

KNOWN = 4
"""Contexts that a worker remembers with what it has computed for them."""

Submit = Callable[[tuple[Any, ...]], Any]
"""Hands out the work on some members, and gives the task."""


@dataclass
class Ray:
    """A Ray cluster at an address, or processes of this machine without one.

    ``num_gpus`` and ``num_cpus`` are what each task takes. Rows are put into Ray's object store
    once. It needs ``pip install 'vbks[ray]'``, and vbks on all machines. ``placements`` tell which
    process did what.
    """

    address: str | None = None
    num_gpus: float = 0
    num_cpus: float = 1
    placements: list[Placement] = field(default_factory=list, compare=False, repr=False)
    _shared: dict[int, tuple[object, Any]] = field(default_factory=dict, repr=False)
    """References of what is in the object store, with the objects, so that none loses its id."""

    @property
    def num_workers(self) -> int:
        """Chunks that are worked on at once."""
        return self._slots(_connected(self.address))

    def run(self, work: Work) -> Results:
        """Places of chunks and their results, as they are done."""
        for chunk in work.chunks:
            for member in chunk:
                refuse_opaque(member.expression, "sent to other processes")
        ray = _connected(self.address)
        submit = self._submitter(ray, work)
        todo = deque(costliest_first(work))
        most = AHEAD * self._slots(ray)
        running: dict[Any, int] = {}
        try:
            while todo or running:
                while todo and len(running) < most:
                    k = todo.popleft()
                    running[submit(work.chunks[k])] = k
                ready, _ = ray.wait(list(running), timeout=WAIT_SECONDS)
                for task in ready:
                    k = running.pop(task)
                    yield k, self._result(ray, task, work, work.chunks[k], submit)
        finally:
            for task in running:
                ray.cancel(task, force=True)

    def _submitter(self, ray: Any, work: Work) -> Submit:
        references = self._references(ray, work.context)
        families = ray.cloudpickle.dumps(own_families())
        bare = replace(work, context=None, chunks=(), stage_states=())
        task = ray.remote(
            num_cpus=self.num_cpus,
            num_gpus=self.num_gpus,
            max_retries=RETRIES,
            max_calls=0,  # by default a process ends after one task on a GPU, graphs and all
            runtime_env={"env_vars": _environment(max(1, round(self.num_cpus)))},
        )(_do)

        def submit(members: tuple[Any, ...]) -> Any:
            return task.remote(ray.cloudpickle.dumps((bare, members)), families, references)

        return submit

    def _references(self, ray: Any, context: FitContext) -> list[Any]:
        """The context and its rows in the object store, where each of them is put once."""
        tables = [context.data] + ([] if context.whole is None else [context.whole])
        rows = [self._put_rows(ray, table.source) for table in tables]
        if id(context) not in self._shared:
            inducing = None if context.bound == "exact" else context.Z
            data, *whole = (replace(table, source=cast(Any, None)) for table in tables)
            bare = replace(context, data=data, whole=next(iter(whole), None), inducing=inducing)
            self._shared[id(context)] = context, ray.put(ray.cloudpickle.dumps(bare))
        return [self._shared[id(context)][1], *rows]

    def _put_rows(self, ray: Any, source: Source) -> Any:
        if not isinstance(source, ArraySource):
            raise DataError(
                "a dataset cannot be sent to a cluster. Give the rows as arrays or memory maps."
            )
        if id(source) not in self._shared:
            # A memory map that was sent would be an array without its file.
            sent = ArraySource(np.ascontiguousarray(source.X), np.ascontiguousarray(source.y))
            self._shared[id(source)] = source, ray.put(sent)
        return self._shared[id(source)][1]

    def _result(
        self, ray: Any, task: Any, work: Work, members: tuple[Any, ...], submit: Submit
    ) -> list[Any]:
        """What a task has found; if no worker survives it, its members one by one, or failures."""
        try:
            worker, found = pickle.loads(ray.get(task))
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, VbksError) else error from None
        except ray.exceptions.RayError as error:
            if len(members) > 1:
                tasks = [(submit((member,)), (member,)) for member in members]
                return [self._result(ray, own, work, one, submit)[0] for own, one in tasks]
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return [work.fail(members[0], work.context, reason)]
        self.placements.append(placed(work.name, worker, members))
        return list(found)

    def _slots(self, ray: Any) -> int:
        """Tasks that the cluster can run at once."""
        has = ray.cluster_resources()
        asked = {"CPU": self.num_cpus, "GPU": self.num_gpus}
        slots = min(int(has.get(name, 0) / num) for name, num in asked.items() if num)
        if slots < 1:
            raise VbksError(
                f"the Ray cluster has {has.get('CPU', 0):g} CPUs and {has.get('GPU', 0):g} GPUs, "
                f"and a task asks for {self.num_cpus:g} and {self.num_gpus:g}. Ask for fewer."
            )
        return slots


def _connected(address: str | None) -> Any:
    """Ray, connected to a cluster, and still so at the next call."""
    try:
        import ray
    except ImportError:
        raise VbksError(
            "the executor Ray needs the package of that name: pip install 'vbks[ray]'."
        ) from None
    if ray.is_initialized():
        return ray
    local: dict[str, Any] = {}
    if address is None:
        local = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    elif address.startswith("127."):
        # Else it looks for a node at the address that this machine has for others.
        local = {"_node_ip_address": address.partition(":")[0]}
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, **local)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise VbksError(
            f"there is no Ray cluster at {address!r}: {str(error).splitlines()[0]} Start one with "
            "'ray start --head', and give the address that it prints."
        ) from error
    return ray


def _environment(threads: int) -> dict[str, str]:
    """What keeps a worker to the cores that it was given."""
    return {
        "OMP_NUM_THREADS": str(threads),
        "TF_NUM_INTRAOP_THREADS": str(threads),
        "TF_NUM_INTEROP_THREADS": "1",
        # Else a process that waits for its next task would hold all memory of its GPU.
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def _do(payload: bytes, families: bytes, references: list[Any]) -> bytes:
    """One chunk, in a worker. Bytes leave the object store when they are read, arrays do not."""
    _learn(families)
    work, members = pickle.loads(payload)
    whole = replace(work, context=_context(references), chunks=(members,))
    return pickle.dumps((_name_of_worker(), whole.do(0)))


def _name_of_worker() -> str:
    """The machine, process and GPUs of a task."""
    import ray

    gpus = "".join(f" GPU {number}" for number in ray.get_gpu_ids())
    address = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    return f"{address} process {os.getpid()}{gpus}"


_known: dict[str, FitContext] = {}
_learnt: list[bytes] = []


def _learn(families: bytes) -> None:
    """Know the families that the driver's user has registered."""
    if families not in _learnt:
        take_families(pickle.loads(families))
        _learnt[:] = [families]


def _context(references: list[Any]) -> FitContext:
    """The context with its rows, the same as in the worker's task before if it is the same."""
    import ray

    key = references[0].hex()
    if key not in _known:
        bare, sources = pickle.loads(ray.get(references[0])), ray.get(references[1:])
        while len(_known) >= KNOWN:
            del _known[next(iter(_known))]
        data = replace(bare.data, source=sources[0])
        whole = None if bare.whole is None else replace(bare.whole, source=sources[1])
        _known[key] = replace(bare, data=data, whole=whole)
    return _known[key]
