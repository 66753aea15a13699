import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
from rich.table import Table

from vbks.ui.terminal import Terminal, records


def test_terminal__says_lines_in_options_and_without_control_characters(capsys):
    Terminal().say("Give a larger budget= for \x1b[2Jsales.")
    assert capsys.readouterr().out == "Give a larger --budget for \\x1b[2Jsales.\n"


def test_terminal__answers_people_or_programs(capsys):
    table = Table(title="A title")
    table.add_column("kernel")
    for is_json in (False, True):
        terminal = Terminal(is_json)
        terminal.say("A sentence.")
        terminal.show(table)
        terminal.answer({"größe": [1, None]})
    people, programs = capsys.readouterr().out.split("{", 1)
    assert "A sentence." in people and "A title" in people
    assert json.loads("{" + programs) == {"größe": [1, None]}
    assert "A " not in programs


def test_records__are_plain():
    table = pd.DataFrame(
        {"day": pd.to_datetime(["2020-01-02", "2020-01-03"]), "y": [1.5, np.nan], "n": [1, 2]}
    )
    assert records(table) == [
        {"day": "2020-01-02T00:00:00.000", "y": 1.5, "n": 1},
        {"day": "2020-01-03T00:00:00.000", "y": None, "n": 2},
    ]


def test_reader_that_goes_away__does_not_end_the_program():
    code = (
        "import sys\nfrom vbks.ui.terminal import Terminal\n"
        "for _ in range(3): Terminal().say('x' * 100000)\n"
        "print('on', file=sys.stderr)"
    )
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=written, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(written)
    assert (done.returncode, done.stderr) == (0, "on\n")


def test_sentences__are_cut_between_words_on_terminals_alone(capsys, monkeypatch):
    sentence = "- one two three four --five=six seven"
    Terminal().say(sentence)
    assert capsys.readouterr().out == f"{sentence}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "16")
    Terminal().say(sentence)
    lines = ["- one two three", "  four", "  --five=six", "  seven"]
    assert capsys.readouterr().out.splitlines() == lines
