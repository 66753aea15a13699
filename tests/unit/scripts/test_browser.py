"""`scripts/browser` installs where it may, and never fails."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "browser"


def run(folder, *, user, apt_fails=False):
    """What the script says and what it asks of apt-get, in a system of these programs alone."""
    tools = {
        "id": f"echo {user}",
        "timeout": 'shift; exec "$@"',
        "apt-get": f'echo "$@" >> "{folder}/asked"; exit {int(apt_fails)}',
    }
    for name, body in tools.items():
        (folder / name).write_text(f"#!{shutil.which('bash')}\n{body}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        [shutil.which("bash"), str(SCRIPT)],
        env={"PATH": str(folder), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
    )
    asked = folder / "asked"
    return done, asked.read_text().splitlines() if asked.exists() else []


def test_browser__is_installed_by_root(tmp_path):
    done, asked = run(tmp_path, user=0)
    assert done.returncode == 0 and "Installing Chromium" in done.stderr
    assert [line.split()[1] for line in asked] == ["update", "install"]
    assert "chromium" in asked[1] and "apt-get install" not in done.stderr


@pytest.mark.parametrize(("user", "apt_fails"), [(1000, False), (0, True)])
def test_browser__is_named_where_it_cannot_be_installed(tmp_path, user, apt_fails):
    done, asked = run(tmp_path, user=user, apt_fails=apt_fails)
    assert done.returncode == 0
    assert "apt-get install chromium" in done.stderr
    assert len(asked) == apt_fails


def test_browser__that_is_there_is_not_installed(tmp_path):
    (tmp_path / "chromium").write_text("#!/bin/sh\n")
    (tmp_path / "chromium").chmod(0o755)
    done, asked = run(tmp_path, user=0)
    assert (done.returncode, done.stderr, asked) == (0, "", [])
