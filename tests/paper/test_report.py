"""The report in a real browser: it opens offline, shows every figure, and fits a phone."""

import shutil

import pytest

from byzmab.paper.figures import read_figures
from byzmab.paper.reproduction import reproduce

sync_api = pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    reproduce(read_figures(["F3", "F7", "F11"], runs=3, horizon=200), out)
    return out / "report.html"


@pytest.fixture
def browser():
    chromium = shutil.which("chromium")
    assert chromium, "chromium is missing; `make test` installs it as root, or install Debian's package chromium"
    quiet = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
    ]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=quiet)
        yield browser
        browser.close()


def open_page(browser, report, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.complaints, page.foreign = [], []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "data:", "blob:")) else page.foreign.append(request.url)
        ),
    )
    page.goto(report.as_uri())
    page.wait_for_selector("#plot-F11 .main-svg")
    return page


@pytest.mark.parametrize("width", [1200, 390])
def test_the_report_opens_offline_and_fits(browser, report, width):
    page = open_page(browser, report, width)
    assert page.complaints == []
    assert page.foreign == []
    assert page.locator(".plot .main-svg").count() >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("td.verdict").count() == 3  # C4 and C5 of F3, and C12


def test_curves_can_be_toggled(browser, report):
    page = open_page(browser, report, 1200)
    shown = "document.getElementById('plot-F3').data.filter(trace => trace.visible !== 'legendonly').length"
    before = page.evaluate(shown)
    page.locator("#plot-F3 .legendtoggle").first.click()
    page.wait_for_function(f"{shown} < {before}")
