"""The report in a real browser: it opens offline, shows every figure, and fits a phone."""

import pytest
from pages import open_page

from byzmab.paper.figures import read_figures
from byzmab.paper.reproduction import reproduce

pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    reproduce(read_figures(["F3", "F7", "F11"], runs=3, horizon=200), out)
    return out / "report.html"


@pytest.mark.parametrize("width", [1200, 390])
def test_the_report_opens_offline_and_fits(browser, report, width):
    page = open_page(browser, report, width, "#plot-F11 .main-svg")
    assert page.complaints == []
    assert page.foreign == []
    assert page.locator(".plot .main-svg").count() >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("td.verdict").count() == 3  # C4 and C5 of F3, and C12


def test_curves_can_be_toggled(browser, report):
    page = open_page(browser, report, 1200, "#plot-F11 .main-svg")
    shown = "document.getElementById('plot-F3').data.filter(trace => trace.visible !== 'legendonly').length"
    before = page.evaluate(shown)
    page.locator("#plot-F3 .legendtoggle").first.click()
    page.wait_for_function(f"{shown} < {before}")
