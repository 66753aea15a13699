import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from support.selections import HOSTILE, make_dated

from vbks.report.labels import printable
from vbks.report.page import notebook_of, page_of
from vbks.report.values import Missing

EMPTY = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """The tags of a page, its texts, and whether every tag is closed in its place."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(text)


@pytest.fixture(scope="module", params=["dated", "table", "hostile"])
def page(request):
    return page_of(request.getfixturevalue(request.param))


def test_page__is_well_formed_with_headings_in_order(page):
    levels = [int(tag[1]) for tag, _ in Reader(page).tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_page__is_one_file_without_any_address(page):
    for tag, attributes in Reader(page).tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form")
        for name, value in attributes.items():
            if name in ("src", "href", "action", "srcset", "xlink:href"):
                assert (tag, value) == ("link", "data:,")
            assert not name.startswith("on") and name != "style"
    assert (
        "@import" not in page
        and "url(" not in page
        and "http" not in page.replace("http-equiv", "")
    )


def test_page__allows_its_own_style_and_script_and_nothing_else(page):
    (policy,) = (
        own["content"]
        for tag, own in Reader(page).tags
        if own.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy
    for name in ("style", "script"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", page, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_page__tables_have_headers_and_captions_and_figures_say_what_they_show(page):
    tags = Reader(page).tags
    assert page.count("<table") == page.count("<caption>") == page.count("<thead>") > 0
    for tag, attributes in tags:
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or len(attributes["aria-label"]) > 20


def test_page__runs_nothing_that_columns_are_called(hostile):
    page = page_of(hostile)
    reader = Reader(page)
    assert page.count("<script") == 1 and "<img" not in page and "\x1b" not in page
    assert "\u202e" not in page
    name = printable(HOSTILE)
    assert any(name in text for text in reader.texts)
    assert f"{name} by {name}" in "".join(reader.texts)


def test_page__shows_the_reason_in_place_of_a_section(dated):
    failed = Missing("<b>no rows</b>")
    names = ("outlook", "parts", "belief", "properties", "criticism", "past", "method")
    page = page_of(replace(dated, **dict.fromkeys(names, failed)))
    Reader(page)
    assert page.count("&lt;b&gt;no rows&lt;/b&gt;") == len(names)


def test_page__has_what_the_report_says(dated):
    text = " ".join("".join(Reader(page_of(dated)).texts).split())
    told = [*dated.summary, *(part.sentence for part in dated.parts.main.parts)]
    told += [row.sentence for row in dated.properties.rows]
    told += [dated.criticism.verdict, dated.past.sentence]
    for sentence in told:
        assert sentence in text
    for candidate in dated.method.candidates:
        assert candidate.expression in text and candidate.reading in text
    assert "no start was finite" in text and "PER of log targets" in text
    for row in dated.outlook.forecasts:
        assert row.place in text


def test_page__keeps_signs_on_the_line_of_their_numbers(dated):
    text = "".join(Reader(page_of(dated)).texts)
    assert "\u00a0%" in text and "&nbsp" not in text
    assert not [part for part in text.split("\n") if " %" in part]


def test_page__warns_loudly(dated):
    page = page_of(replace(dated, warnings=("An outlier decides.",)))
    assert '<p class="warning"><strong>Careful:</strong> An outlier decides.</p>' in page


def test_notebook__is_a_compact_piece(dated, hostile):
    piece = notebook_of(dated)
    Reader(piece)
    assert len(piece) < 4000
    assert dated.title in piece and "SE * PER" in piece and "62\u00a0%" in piece
    assert "<script" not in notebook_of(hostile)


def test_selection__shows_itself_in_notebooks():
    assert "sold by month" in make_dated()._repr_html_()
