"""The report in a real browser: it opens offline, shows every figure, and fits a phone."""

import pytest
from pages import open_page

from byzmab.paper.figures import read_figures
from byzmab.paper.reproduction import reproduce

pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    return reproduce(read_figures(["F3", "F7", "F11"], runs=3, horizon=200), tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def report(reproduction):
    return next(path for path in reproduction.files if path.name == "report.html")


@pytest.fixture(scope="module")
def page(chromium, report):
    """Opened once, for the tests that only read it."""
    return open_page(chromium, report, 1200, "#plot-F11 .main-svg")


@pytest.mark.parametrize("width", [1200, 390])
def test_the_report_opens_offline_and_fits(browser, report, width):
    page = open_page(browser, report, width, "#plot-F11 .main-svg")
    assert page.complaints == []
    assert page.foreign == []
    assert page.locator(".plot .main-svg").count() >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("td.verdict").count() == 3  # C4 and C5 of F3, and C12


def test_no_drawing_covers_part_of_a_frame(page):
    sizes = page.locator(".plot").evaluate_all(
        "(boxes) => boxes.map((box) => [box.clientWidth, box.clientHeight, box.querySelector('.main-svg').width.baseVal.value,"
        " box.querySelector('.main-svg').height.baseVal.value])"
    )
    assert all(drawn_width <= width and drawn_height <= height for width, height, drawn_width, drawn_height in sizes)


def test_the_report_opens_with_the_tally_of_verdicts_and_a_list_of_contents(page):
    counts = [int(text.split()[0]) for text in page.locator(".tally strong").all_text_contents()]
    verdicts = page.locator("td.verdict").all_text_contents()
    assert counts == [verdicts.count(word) for word in ("holds", "fails", "inconclusive")]
    assert (
        page.evaluate("() => document.querySelector('h1').nextElementSibling.nextElementSibling.className") == "tally"
    )
    for link in page.locator(".contents a, .tally a").all():
        assert page.locator(link.get_attribute("href")).count() == 1
    assert page.locator(".contents a").count() == 4


def test_paired_differences_stand_beside_every_figure_with_curves(page, reproduction):
    data = reproduction.figures["F3"]
    rows = page.locator("#plot-F3 ~ .scroll").first.locator("tr").all()[1:]
    shown = {row.locator("td").first.text_content(): row.locator("td").nth(1).text_content() for row in rows}
    series = data.curves
    for label in ("q=0.2", "q=1.0"):
        paired = (series[label][:, -1] - series["solo"][:, -1]).mean()
        assert shown[f"{label} − solo"] == f"{paired:+.1f}"
    assert "q=0.4 − q=0.2" in shown


def test_curves_can_be_toggled(page):
    shown = "document.getElementById('plot-F3').data.filter(trace => trace.visible !== 'legendonly').length"
    before = page.evaluate(shown)
    page.locator("#plot-F3 .legendtoggle").first.click()
    page.wait_for_function(f"{shown} < {before}")
