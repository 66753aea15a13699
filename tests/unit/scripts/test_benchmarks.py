from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.door import Context, Figure, peak_memory
from benchmarks.door.catalogue import catalogue
from benchmarks.door.command import main
from benchmarks.door.record import Line, commit_of, read
from benchmarks.door.session import RECORD, run
from rich.console import Console

MAIN = Path(__file__).parents[3] / "scripts" / "benchmarks" / "__main__.py"

FIGURES = [
    Figure("time to answer", 12.5, "s", asked="below 20 s", others="GPflow loop: 140 s", met=True),
    Figure("memory", 800.0, "MB", asked="below 500 MB", met=False),
    Figure("kernels [all]", 144.0, "kernels"),
]


def fake(**more: Any) -> Any:
    return SimpleNamespace(run=lambda context: FIGURES, **more)


def run_fake(folder: Path, benchmark: Any = None, **context: Any) -> str:
    text = StringIO()
    console = Console(file=text, width=120)
    run("fake", benchmark or fake(), Context(**context), folder, console)
    return text.getvalue()


def test_run__prints_the_figure_what_was_asked_and_what_others_reach(tmp_path: Path) -> None:
    text = run_fake(tmp_path)
    assert "time to answer │ 12.5 s" in text
    assert "below 20 s   │ yes │ GPflow loop: 140 s" in text
    assert "below 500 MB │ no" in text
    assert "kernels [all]" in text


def test_run__appends_one_line_with_what_the_figures_depend_on(tmp_path: Path) -> None:
    run_fake(tmp_path, seed=3)
    run_fake(tmp_path, seed=4)
    first, second = (tmp_path / RECORD).read_text().splitlines()
    fields = json.loads(first)
    assert fields["name"] == "fake"
    assert fields["figures"][1]["value"] == 800.0
    assert set(fields["versions"]) == {"vbks", "tensorflow", "gpflow", "numpy", "python"}
    assert fields["cores"] >= 1
    assert fields["seed"] == 3
    assert json.loads(second)["seed"] == 4


def test_record__is_read_as_it_was_written(tmp_path: Path) -> None:
    run_fake(tmp_path)
    (line,) = read(tmp_path / RECORD)
    assert line.figures == tuple(FIGURES)
    assert isinstance(line.left_out, tuple)


def test_commit__is_marked_for_changed_code_and_not_for_changed_records(tmp_path: Path) -> None:
    code, record = tmp_path / "code.py", tmp_path / "docs" / "benchmarks" / RECORD
    record.parent.mkdir(parents=True)
    assert commit_of(tmp_path) == ""
    for file in (code, record):
        file.write_text("first")
    author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "first")):
        subprocess.run(("git", *words), cwd=tmp_path, check=True)
    commit = commit_of(code.parent)
    assert len(commit) >= 7 and commit.isalnum()
    record.write_text("second")
    assert commit_of(tmp_path / "docs") == commit
    code.write_text("second")
    assert commit_of(tmp_path / "docs") == f"{commit}+"


def test_run__draws_a_picture(tmp_path: Path) -> None:
    run_fake(tmp_path)
    assert (tmp_path / "fake.png").read_bytes().startswith(b"\x89PNG")


def test_quick_run__is_recorded_and_not_drawn(tmp_path: Path) -> None:
    text = run_fake(tmp_path, quick=True)
    assert "A quick run" in text
    assert read(tmp_path / RECORD)[0].quick
    assert not (tmp_path / "fake.png").exists()


def test_own_picture__is_drawn_from_the_full_runs_of_that_benchmark(tmp_path: Path) -> None:
    drawn: list[Sequence[Line]] = []
    benchmark = fake(draw=lambda lines, path: drawn.append(lines))
    run("other", fake(), Context(), tmp_path, Console(file=StringIO()))
    run_fake(tmp_path, quick=True)
    run_fake(tmp_path, seed=1)
    run_fake(tmp_path, benchmark, seed=2)
    (lines,) = drawn
    assert [line.seed for line in lines] == [1, 2]


def test_missing_data__is_printed_and_recorded(tmp_path: Path) -> None:
    def measure(context: Context) -> list[Figure]:
        assert context.file("large/load.csv") is None
        return FIGURES

    text = run_fake(tmp_path, SimpleNamespace(run=measure))
    assert "left out: large/load.csv: no folder of real data was given (--data DIR)" in text
    assert len(read(tmp_path / RECORD)[0].left_out) == 1


def test_nothing_measured__is_recorded_and_not_drawn(tmp_path: Path) -> None:
    run_fake(tmp_path, SimpleNamespace(run=lambda context: []))
    assert read(tmp_path / RECORD)[0].figures == ()
    assert not (tmp_path / "fake.png").exists()


def test_context_file__is_found_in_the_folder_of_data(tmp_path: Path) -> None:
    (tmp_path / "load.csv").touch()
    context = Context(data=tmp_path)
    assert context.file("load.csv") == tmp_path / "load.csv"
    assert context.file("gone.csv") is None
    assert context.left_out == [f"gone.csv: not in {tmp_path}"]


def test_catalogue__finds_modules_and_their_first_sentences(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text(
        '"""All kernels at once.\n\nMore."""\nimport no_such_module\n'
    )
    (tmp_path / "__main__.py").touch()
    (tmp_path / "door").mkdir()
    (tmp_path / "door" / "__init__.py").touch()
    assert catalogue(tmp_path) == {"bank": "All kernels at once."}


@pytest.mark.parametrize("name", ["averaging", "calibration", "paper", "series"])
def test_catalogue__has_what_measures_answers_and_says_what_it_is(name: str) -> None:
    assert catalogue()[name].endswith((".", "?"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "invalid choice: 'nothing'"),
        (["list", "--data", "gone"], "no folder 'gone'"),
        (["paper", "--part", "figure-9"], "its parts are: figure-5, swissgrid"),
        (["bank", "--part", "K12"], "it has no parts"),
    ],
)
def test_command__names_what_is_wrong(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(tmp_path, arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("python", [["-I"], []], ids=["isolated", "usual"])
def test_door__opens_from_any_folder(python: list[str], tmp_path: Path) -> None:
    command = [sys.executable, *python, str(MAIN), "list"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_peak_memory__counts_in_megabytes_and_does_not_go_down() -> None:
    block = b"x" * 200_000_000
    peak = peak_memory()
    del block
    assert 200 < peak < 100_000
    assert peak_memory() >= peak
