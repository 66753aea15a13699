import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from vbks.cli import app


def test_demo__prints_a_table_of_kernels():
    done = CliRunner().invoke(app, ["demo", "--show", "5"])
    assert done.exit_code == 0, done.output
    assert "144 kernels on 144 months" in done.output
    evidences = [float(row) for row in re.findall(r"(-?\d+\.\d) *│\n", done.output)]
    assert len(evidences) == 5
    assert evidences == sorted(evidences, reverse=True)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["demo", "--help"]])
def test_help__answers_without_tensorflow(arguments):
    code = (
        f"import sys; sys.argv = ['vbks', *{arguments!r}]\n"
        "from vbks.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'tensorflow' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_wrong_option__is_one_clear_message():
    done = CliRunner().invoke(app, ["demo", "--show", "0"])
    assert done.exit_code == 2
    assert "--show" in done.output.splitlines()[-1]
