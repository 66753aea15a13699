import os

import pytest

from vbks.errors import SettingsError
from vbks.execution import memory
from vbks.execution.memory import LEAST_LIMIT, UNKNOWN_FREE, free_memory, memory_limit

GIB = 2**30


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without /proc, control groups or page counts; a function that writes its files."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.delattr(os, "sysconf")
    return write


def write_meminfo(write, available):
    write(
        "proc/meminfo",
        f"MemTotal: {99 * GIB // 1024} kB\nMemAvailable:   {available // 1024} kB\nHugePages: 0\n",
    )


def write_group(write, folder, limit, usage, cache=0):
    """A group of version 2."""
    write(f"{folder}/memory.max", f"{limit}\n")
    write(f"{folder}/memory.current", f"{usage}\n")
    write(f"{folder}/memory.stat", f"anon 5\nactive_file 7\ninactive_file {cache}\n")


def test_this_machine__has_some_memory_free():
    assert 2**20 < free_memory() < 2**60


def test_unknown_system__is_taken_to_have_little(machine):
    assert free_memory() == UNKNOWN_FREE


def test_linux__says_what_is_available(machine):
    write_meminfo(machine, 7 * GIB)
    assert free_memory() == 7 * GIB


@pytest.mark.parametrize(
    ("counts", "free"),
    [
        ({"SC_AVPHYS_PAGES": 1000, "SC_PHYS_PAGES": 5000, "SC_PAGE_SIZE": 4096}, 1000 * 4096),
        ({"SC_PHYS_PAGES": 5000, "SC_PAGE_SIZE": 4096}, 2500 * 4096),
        ({"SC_AVPHYS_PAGES": -1, "SC_PAGE_SIZE": 4096}, UNKNOWN_FREE),
    ],
)
def test_page_counts__are_used_where_there_is_no_proc(machine, monkeypatch, counts, free):
    def sysconf(name):
        if name not in counts:
            raise ValueError("unrecognized configuration name")
        return counts[name]

    monkeypatch.setattr(os, "sysconf", sysconf, raising=False)
    assert free_memory() == free


def test_container__limits_what_is_free(machine):
    write_meminfo(machine, 7 * GIB)
    machine("proc/self/cgroup", "0::/\n")
    write_group(machine, "cgroup", limit=4 * GIB, usage=3 * GIB)
    assert free_memory() == GIB


def test_cached_files__count_as_free(machine):
    write_meminfo(machine, 7 * GIB)
    machine("proc/self/cgroup", "0::/\n")
    write_group(machine, "cgroup", limit=4 * GIB, usage=3 * GIB, cache=2 * GIB)
    assert free_memory() == 3 * GIB


def test_container_without_limit__leaves_the_machine(machine):
    write_meminfo(machine, 7 * GIB)
    machine("proc/self/cgroup", "0::/\n")
    write_group(machine, "cgroup", limit="max", usage=3 * GIB)
    assert free_memory() == 7 * GIB


def test_container_over_its_limit__has_nothing_free(machine):
    machine("proc/self/cgroup", "0::/\n")
    write_group(machine, "cgroup", limit=GIB, usage=2 * GIB)
    assert free_memory() == 0


def test_groups_above__limit_too(machine):
    write_meminfo(machine, 7 * GIB)
    machine("proc/self/cgroup", "0::/user.slice/job.scope\n")
    write_group(machine, "cgroup/user.slice/job.scope", limit="max", usage=GIB)
    write_group(machine, "cgroup/user.slice", limit=3 * GIB, usage=GIB)
    assert free_memory() == 2 * GIB


def test_path_of_the_host__leads_to_the_limits_at_the_mount(machine):
    write_meminfo(machine, 7 * GIB)
    machine("proc/self/cgroup", "0::/docker/0123\n")
    write_group(machine, "cgroup", limit=2 * GIB, usage=GIB)
    assert free_memory() == GIB


def test_groups_of_version_1__limit_too(machine):
    write_meminfo(machine, 7 * GIB)
    machine("proc/self/cgroup", "9:cpu,cpuacct:/\n4:hugetlb,memory:/job\n0::/\n")
    machine("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    machine("cgroup/memory/memory.usage_in_bytes", f"{GIB}\n")
    machine("cgroup/memory/job/memory.limit_in_bytes", f"{2 * GIB}\n")
    machine("cgroup/memory/job/memory.usage_in_bytes", f"{GIB}\n")
    machine("cgroup/memory/job/memory.stat", f"inactive_file 1\ntotal_inactive_file {GIB // 2}\n")
    assert free_memory() == 1.5 * GIB


def test_limit__is_half_of_what_is_free(machine):
    write_meminfo(machine, 7 * GIB)
    assert memory_limit(None) == 3.5 * GIB


def test_limit_of_a_full_machine__is_still_enough_to_work(machine):
    write_meminfo(machine, 2**20)
    assert memory_limit(None) == LEAST_LIMIT


@pytest.mark.parametrize("limit", [LEAST_LIMIT, 5 * GIB])
def test_limit__is_the_given_one(limit):
    assert memory_limit(limit) == limit


@pytest.mark.parametrize("limit", [LEAST_LIMIT - 1, 0, -5])
def test_small_limit__is_refused(limit):
    message = rf"memory limit of {limit:,} bytes is too small, expected at least 67,108,864 \(64 MB"
    with pytest.raises(SettingsError, match=message):
        memory_limit(limit)
