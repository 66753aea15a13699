import json

import vbks
from vbks.ui.commands.report import write_reports


def test_fit__writes_a_report_and_a_new_fit_replaces_it(run, table, tmp_path):
    small = ("fit", "data.csv", "--space", "SE, LIN", "--warps", "identity")
    code, output, errors = run(*small)
    assert code == 0, errors
    page = tmp_path / "data-vbks" / "report.html"
    assert "The report is in data-vbks/report.html." in output
    assert "<h1>load by day</h1>" in page.read_text()
    assert json.loads(page.with_suffix(".json").read_text())["title"] == "load by day"
    code, output, errors = run(*small, "--force", "--no-report")
    assert code == 0, errors
    assert "report" not in output and not page.exists()


def test_report__is_of_a_saved_selection(run, fitted, tmp_path):
    code, output, errors = run("report", "data-vbks")
    assert (code, output) == (0, "The report is in data-vbks/report.html.\n"), errors
    assert (tmp_path / "data-vbks" / "report.json").is_file()
    assert run("report", "data-vbks")[0] == 0
    code, output, _ = run("report", "data-vbks", "--out", "boss.html")
    assert (code, output) == (0, "The report is in boss.html.\n")
    assert "<h1>load by day</h1>" in (tmp_path / "boss.html").read_text()
    vbks.load("data-vbks")


def test_report__refuses_in_one_line_before_the_work(run, fitted, tmp_path):
    (tmp_path / "there.html").write_text("mine")
    for arguments, message in (
        (("none",), "'none' holds no saved selection"),
        (("data-vbks", "--out", "there.html"), "'there.html' exists already"),
        (("data-vbks", "--out", "report.pdf"), "'report.pdf' does not end in .html, .htm or .json"),
        (("data-vbks", "--out", "none/report.html"), "there is no folder 'none'"),
    ):
        code, output, errors = run("report", *arguments)
        assert (code, output) == (2, "")
        assert message in errors and errors.count("\n") == 1
    assert (tmp_path / "there.html").read_text() == "mine"


def test_write_reports__writes_the_page_and_its_data(fitted, tmp_path):
    found = write_reports(vbks.load("data-vbks"), tmp_path)
    assert found == tmp_path / "report.html" and found.is_file()
    assert (tmp_path / "report.json").is_file()
