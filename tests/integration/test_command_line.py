"""The program as it is started from a shell, and what it answers before it needs TensorFlow."""

import subprocess
import sys

import pytest

CODE = """
import sys
sys.argv = ['vbks', *{arguments!r}]
from vbks.ui.cli import main
try:
    main()
except SystemExit as end:
    assert (end.code or 0) == {code}, end.code
assert 'tensorflow' not in sys.modules
"""


def answer(arguments, code):
    """What the program writes without TensorFlow: standard output, standard error."""
    text = CODE.format(arguments=arguments, code=code)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("command", [[], ["fit"], ["predict"], ["demo"]])
def test_help__answers_without_tensorflow(command):
    output, _ = answer([*command, "--help"], 0)
    assert "Usage:" in output


def test_version__answers_without_tensorflow():
    assert answer(["--version"], 0)[0].startswith("vbks ")


def test_bad_table__is_refused_without_tensorflow(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("day,load\n2020-01-01,1\n2020-01-02,\n" + "2020-01-03,4\n" * 5)
    _, errors = answer(["fit", str(file)], 2)
    assert errors == (
        f"vbks: the target 'load' of '{file}' has 1 missing value, in line 3. "
        "Fill it, or leave such rows out: --missing drop.\n"
    )


def test_wrong_number__is_one_clear_message():
    _, errors = answer(["demo", "--budget", "0"], 2)
    assert "--budget" in errors.splitlines()[-1]
