"""Reports as a browser shows them: nothing too wide, no error, no request, and the script works."""

import pytest
from support.browser import Browser, found_browser
from support.selections import HOSTILE, make_dated, make_table

from vbks.report import report_of, write_report

pytestmark = pytest.mark.skipif(
    found_browser() is None, reason="there is no Chromium. On Debian: apt-get install chromium"
)

OPEN_ALL = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"

TOO_WIDE = """
[...document.querySelectorAll("body *")]
  .filter((own) => own.getClientRects().length)
  .filter((own) => !own.closest(".stacked thead"))
  .filter((own) => own.getBoundingClientRect().right > innerWidth + 1)
  .map((own) => own.tagName + " " + own.textContent.slice(0, 40)).join("; ")
"""
"""Everything that is seen and leaves the window, texts in figures included."""

CONTRAST = """
(() => {
  const light = (color) => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map((own) => own / 255)
      .map((own) => own <= 0.03928 ? own / 12.92 : ((own + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const behind = (own) => {
    for (let at = own; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(color) && color !== "transparent") return color;
    }
    return "rgb(255, 255, 255)";
  };
  let least = 99;
  const texts = "p, li, th, td, code, caption, summary, h1, h2, text";
  for (const own of document.querySelectorAll(texts)) {
    if (!own.textContent.trim() || !own.getClientRects().length) continue;
    const style = getComputedStyle(own);
    const a = light(own.tagName === "text" ? style.fill : style.color), b = light(behind(own));
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()
"""


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    selections = {
        "dated": make_dated(),
        "table": make_table(),
        "hostile": make_dated(feature_names=(HOSTILE,), target_name=HOSTILE),
    }
    return {
        name: write_report(report_of(own), folder / f"{name}.html")
        for name, own in selections.items()
    }


@pytest.mark.parametrize("name", ["dated", "table", "hostile"])
@pytest.mark.parametrize(("width", "dark"), [(360, False), (1280, True)])
def test_page__fits_is_quiet_and_can_be_read(browser, pages, name, width, dark):
    seen = browser.open(pages[name], width, dark=dark)
    browser.value(OPEN_ALL)
    assert browser.value("document.scrollingElement.scrollWidth") <= width
    assert browser.value(TOO_WIDE) == ""
    assert browser.value(CONTRAST) >= 4.5
    assert browser.value("document.querySelectorAll('figure svg').length") > 0
    assert (seen.messages, seen.requests) == ([], [])


def test_watch__sees_what_a_page_should_not_do(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
        "<p style='width: 900px; color: #eee'>wide</p><script>throw Error('x')</script>"
        "<img src='other.png'>"
    )
    seen = browser.open(bad, 360)
    assert browser.value(CONTRAST) < 99
    assert seen.messages
    wide = tmp_path / "wide.html"
    wide.write_text("<div style='width: 900px'>wide</div><script>console.error('x')</script>")
    seen = browser.open(wide, 360)
    assert browser.value("document.scrollingElement.scrollWidth") > 360
    assert "DIV wide" in browser.value(TOO_WIDE)
    assert seen.messages
    loads = tmp_path / "loads.html"
    loads.write_text("<img src='other.png'>")
    assert browser.open(loads, 360).requests


def test_script__sorts_filters_and_tells_values(browser, pages):
    browser.open(pages["dated"], 1280)
    browser.value(OPEN_ALL)
    kernels = "[...document.querySelectorAll('#candidates tbody tr')].filter((r) => !r.hidden)"
    kernels += ".map((r) => r.cells[0].querySelector('code').textContent).join()"
    assert browser.value(kernels) == "SE * PER,SE,LIN,OU"
    browser.value("document.querySelector('#candidates thead button').click()")
    assert browser.value(kernels) == "LIN,OU,SE,SE * PER"
    browser.value("document.querySelectorAll('#candidates thead button')[6].click()")
    heads = "[...document.querySelectorAll('#candidates th[aria-sort]')].map((h) => h.textContent)"
    assert browser.value(f"{heads}.join()") == "parameters"
    assert browser.value(kernels).startswith("SE * PER")
    browser.value(
        "(() => { const input = document.querySelector('[data-filter]'); input.value = 'per';"
        "input.dispatchEvent(new Event('input')); })()"
    )
    assert browser.value(kernels) == "SE * PER"
    told = browser.value(
        "(() => { const svg = document.querySelector('.wide svg[data-hover]');"
        "const box = svg.getBoundingClientRect();"
        "svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.right, clientY: 300}));"
        "return document.querySelector('.readout').textContent; })()"
    )
    assert told.startswith("2020-04: median ") and "90 %" in told


def test_print__opens_what_is_folded(browser, pages, tmp_path):
    browser.open(pages["dated"], 1280)
    browser.print(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert browser.value("document.querySelectorAll('details:not([open])').length") == 0
