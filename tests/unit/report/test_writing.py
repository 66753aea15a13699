import json
import math
from dataclasses import asdict, replace

import pytest
from support.selections import make_dated

from vbks.errors import FileError
from vbks.report.page import page_of
from vbks.report.writing import json_of, write_report


def test_write__is_a_page_or_data_by_the_name(dated, tmp_path):
    page = write_report(dated, tmp_path / "boss.html")
    assert page.read_text(encoding="utf-8") == page_of(dated)
    data = write_report(dated, tmp_path / "boss.JSON")
    assert data.read_text(encoding="utf-8") == json_of(dated)


def test_json__has_the_content_of_the_page(dated):
    values = json.loads(json_of(dated))
    assert values.pop("kind") == "vbks report" and values.pop("version")
    assert values == json.loads(json.dumps(asdict(dated)))
    assert values["outlook"]["forecasts"][0]["place"] == "2018-05"


def test_json__has_null_where_there_is_no_number(dated):
    (first, *others) = dated.outlook.forecasts
    forecasts = (replace(first, low=math.nan, high=math.inf), *others)
    values = json.loads(
        json_of(replace(dated, outlook=replace(dated.outlook, forecasts=forecasts)))
    )
    first = values["outlook"]["forecasts"][0]
    assert (first["low"], first["high"]) == (None, None)


def test_write__refuses_other_names_and_places(dated, tmp_path):
    with pytest.raises(FileError, match=r"'.*report.pdf' does not end in .html or .json"):
        write_report(dated, tmp_path / "report.pdf")
    with pytest.raises(FileError, match=r"cannot be written: No such file"):
        write_report(dated, tmp_path / "none" / "report.html")


def test_selection__writes_a_report_and_gives_its_content(tmp_path):
    report = make_dated().report(tmp_path / "report.html")
    assert report.title in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert make_dated().report().title == report.title
