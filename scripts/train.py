"""Trains on a large table, over the devices of this machine or a Ray cluster.

    .venv/bin/python scripts/train.py rows.csv --y load --out fitted --checkpoint kept
    .venv/bin/python scripts/train.py rows.npy --out fitted --checkpoint kept --ray HEAD:6379
    .venv/bin/python scripts/train.py rows.npy --out fitted --preset paper --ray local --num-gpus 1
    .venv/bin/python scripts/train.py rows.npy --dry-run 1 4 8

The table is a CSV file with a header, or a NumPy file [N, D + 1] with the target last, which is
mapped into memory and never read as a whole. A run that was interrupted goes on from its checkpoint
when it is started again with the same words.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, fit, and save."""
    given = _arguments(arguments)
    import vbks
    from vbks.errors import VbksError

    try:
        rows = _rows(given.table, given.x, given.y)
        settings: dict[str, Any] = {
            "space": given.space,
            "preset": given.preset and vbks.PaperSettings(**_steps(given)),
            "inference": given.inference,
            "posterior": given.posterior,
            "likelihood": given.likelihood,
            "num_inducing": given.inducing,
            "batch_size": given.batch,
            "warps": tuple(given.warps) if given.warps else "auto",
            "budget": given.budget,
            "seed": given.seed,
        }
        if given.dry_run:
            for run in vbks.dry_run(*rows, num_devices=given.dry_run, **settings):
                print(run)
            return
        executor = _executor(given)
        selection = vbks.fit(*rows, executor=executor, checkpoint=given.checkpoint, **settings)
        selection.save(given.out)
    except (VbksError, OSError) as error:
        sys.exit(f"vbks: {error}")
    except KeyboardInterrupt:
        kept = f" What is finished is in '{given.checkpoint}'." if given.checkpoint else ""
        sys.exit(f"vbks: interrupted.{kept}")
    columns = ["expression", "warp", "probability", "elbo", "status"]
    print(selection.belief[columns].head(10).to_string())
    for worker, num in Counter(placement.worker for placement in executor.placements).items():
        print(f"{worker}: {num} chunks of work")
    print(f"Saved to {given.out}. To predict: vbks predict {given.out} new.csv")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("table", type=Path, help="a CSV file, or .npy with the target last")
    parser.add_argument("--out", type=Path, help="folder for the selection")
    parser.add_argument(
        "--dry-run", type=int, nargs="+", metavar="DEVICES",
        help="fit nothing: say what would go where on so many devices, such as 1 4 8",
    )  # fmt: skip
    parser.add_argument("--checkpoint", type=Path, help="folder for finished work")
    parser.add_argument("--x", action="append", help="input column of a CSV file; may be repeated")
    parser.add_argument("--y", help="target column of a CSV file; by default the last")
    parser.add_argument("--space", default="K144", help="grow, K12 or K144, or kernels by comma")
    parser.add_argument("--preset", choices=("paper",), help="settings of the authors of VBKS")
    parser.add_argument("--steps", type=int, help="minibatches, with --preset paper")
    parser.add_argument(
        "--posterior", default="auto", choices=("auto", "full", "diagonal", "laplace", "point"),
        help="q(θ)",
    )  # fmt: skip
    parser.add_argument("--likelihood", default="gaussian", help="such as poisson, studentt")
    parser.add_argument(
        "--inference", default="auto", choices=("auto", "exact", "collapsed", "stochastic")
    )
    parser.add_argument("--inducing", type=int, help="inducing points")
    parser.add_argument("--batch", type=int, help="rows of a minibatch")
    parser.add_argument("--warps", nargs="*", help="transforms of the target that are tried")
    parser.add_argument("--budget", type=float, help="seconds")
    parser.add_argument("--seed", type=int, default=0)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--devices", nargs="+", help="such as /GPU:0 /GPU:1; by default all")
    where.add_argument(
        "--ray", metavar="ADDRESS", help="of a Ray cluster, or 'local' for processes here"
    )
    parser.add_argument(
        "--num-gpus", type=float, help="GPUs of this machine, or of each task of the cluster"
    )
    parser.add_argument("--num-cpus", type=float, default=1.0, help="of each task of the cluster")
    given = parser.parse_args(arguments)
    if given.out is None and not given.dry_run:
        parser.error("give --out, a folder for the selection, or --dry-run.")
    if given.steps is not None and given.preset is None:
        parser.error("--steps goes with --preset paper.")
    return given


def _rows(table: Path, x: list[str] | None, y: str | None) -> tuple[Any, Any]:
    """Inputs and targets."""
    if table.suffix == ".npy":
        rows = np.load(table, mmap_mode="r", allow_pickle=False)
        return rows[:, :-1], rows[:, -1]
    from vbks.data.files.choosing import read_rows
    from vbks.data.files.opening import open_file

    rows = read_rows(open_file(table), x or (), y)
    return rows.X, rows.y


def _steps(given: argparse.Namespace) -> dict[str, int]:
    return {} if given.steps is None else {"steps": given.steps}


def _executor(given: argparse.Namespace) -> Any:
    from vbks.execution.devices import Devices
    from vbks.execution.ray import Ray

    if given.ray:
        address = None if given.ray == "local" else given.ray
        return Ray(address, num_gpus=given.num_gpus or 0, num_cpus=given.num_cpus)
    if given.devices is None and given.num_gpus:
        return Devices([f"/GPU:{number}" for number in range(int(given.num_gpus))])
    return Devices(given.devices)


if __name__ == "__main__":
    main()
