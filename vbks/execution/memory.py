"""How much memory a fit may use: what the machine and the container still have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vbks.errors import SettingsError

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

UNKNOWN_FREE = 2 * 2**30
"""Bytes taken as free where the system does not say: most machines that run TensorFlow have
them."""

PAGE_COUNTS = {"SC_AVPHYS_PAGES": 1.0, "SC_PHYS_PAGES": 0.5}
"""Names of page counts that systems without /proc know, and the share of them taken as free: where
only the size of the memory is known, other programs are left half of it."""

SHARE_OF_FREE = 0.5
"""Share of the free memory that a fit takes: TensorFlow's copies and other programs need some."""

LEAST_LIMIT = 64 * 2**20
"""Bytes below which no fit gets far: the kernel matrices of one piece of work are as large."""


def free_memory() -> int:
    """Bytes that can still be taken without swapping and without leaving a container's limits."""
    machine = _meminfo_free()
    if machine is None:
        machine = _sysconf_free()
    known = [*_group_frees(), *([] if machine is None else [machine])]
    return min(known, default=UNKNOWN_FREE)


def memory_limit(limit: int | None) -> int:
    """Bytes that a fit may use: the given limit, or half of what is free."""
    if limit is None:
        return max(int(SHARE_OF_FREE * free_memory()), LEAST_LIMIT)
    if not limit >= LEAST_LIMIT:
        raise SettingsError(
            f"memory limit of {limit:,} bytes is too small, expected at least {LEAST_LIMIT:,} "
            "(64 MB). Give more bytes, or None for half of the free memory."
        )
    return int(limit)


class _Controller(NamedTuple):
    """Where a version of Linux control groups keeps the numbers of a group's memory."""

    mount: str
    limit: str
    usage: str
    cache: str


_VERSION_1 = _Controller(
    "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
)
_VERSION_2 = _Controller("", "memory.max", "memory.current", "inactive_file")


def _meminfo_free() -> int | None:
    kilobytes = _field(PROC / "meminfo", "MemAvailable:")
    return None if kilobytes is None else 1024 * kilobytes


def _sysconf_free() -> int | None:
    for name, share in PAGE_COUNTS.items():
        try:
            pages, size = os.sysconf(name), os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):  # not on this system
            continue
        if pages > 0 and size > 0:
            return int(share * pages) * size
    return None


def _group_frees() -> Iterator[int]:
    """What is left of each limit that a control group sets on this process."""
    for line in _lines(PROC / "self" / "cgroup"):
        _, controllers, path = line.split(":", maxsplit=2)
        if controllers == "":
            yield from _frees_along(_VERSION_2, path)
        elif "memory" in controllers.split(","):
            yield from _frees_along(_VERSION_1, path)


def _frees_along(controller: _Controller, path: str) -> Iterator[int]:
    """What is left in a group and in those that it is part of.

    Inside a container the path is often that of the host and leads nowhere; the limits of the
    container are then those at the mount.
    """
    mount = CGROUPS / controller.mount
    group = mount / path.lstrip("/")
    for folder in (group, *group.parents):
        if folder.is_relative_to(mount):
            free = _free_of(controller, folder)
            if free is not None:
                yield free


def _free_of(controller: _Controller, folder: Path) -> int | None:
    """Limit less usage, where cached files that nobody has read lately do not count as used."""
    limit, usage = _number(folder / controller.limit), _number(folder / controller.usage)
    if limit is None or usage is None:
        return None
    cache = _field(folder / "memory.stat", controller.cache) or 0
    return max(limit - max(usage - cache, 0), 0)


def _number(path: Path) -> int | None:
    """The number that a file consists of; none where there is no such file, or it says "max"."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _field(path: Path, name: str) -> int | None:
    """The number after a name at the beginning of a line."""
    for line in _lines(path):
        words = line.split()
        if len(words) > 1 and words[0] == name:
            return int(words[1])
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
