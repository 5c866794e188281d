"""The lab in a real browser: every control used, curves growing, rounds looked into, links shared.

`BYZMAB_WRITE_DOCS=1 pytest tests/dashboard/test_lab.py` also takes the pictures of the documentation.
"""

import csv
import os
import re
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest
from command import BYZMAB
from pages import open_page

from byzmab.dashboard.lab.setup import read_setup

pytest.importorskip("playwright.sync_api")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

DOCS = Path(__file__).parents[2] / "docs" / "lab"
SMALL = "horizon=600&runs=5"
READY = ".network .agent"
PATIENCE = 60_000  # ms: the first run compiles
OTHERS = {  # every setting of the form, and something else than usual
    "arms": "0.6,0.5,0.2",
    "agents": "8",
    "byzantine": "1",
    "f": "2",
    "kappa": "random",
    "filter": "screened",
    "policy": "tuned",
    "attack": "alie",
    "horizon": "200",
    "runs": "3",
    "rewards": "beta:4",
    "memory": "2",
    "subset": "6",
    "epoch": "2",
    "delay": "1",
    "seed": "7",
    "record": "50",
}


@pytest.fixture(scope="module")
def lab():
    """The address of a lab, run as its users run it."""
    process = subprocess.Popen([*BYZMAB, "lab", "--port", "0", "--no-open"], stderr=subprocess.PIPE, text=True)
    line = next((line for line in process.stderr if line.startswith("the lab is at http://127.0.0.1:")), None)
    assert line, "the lab ended before it began"
    yield line.split()[4].rstrip(";")
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=20)
    assert (process.returncode, "Traceback" in rest) == (0, False), rest


@pytest.fixture
def open_lab(browser, lab):
    """Opens the lab at a set-up; in the end, nothing went wrong and nobody else was asked."""
    pages = []

    def opened(fragment="", width=1200, ready=READY, **context):
        page = open_page(browser, f"{lab}#{fragment}", width, ready, **context)
        page.set_default_timeout(PATIENCE)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        assert page.complaints == []
        assert page.foreign == []


def played(page):
    expect(page.locator("#status")).to_have_text("Played.", timeout=PATIENCE)


def points(page, name):
    """How many points of a curve are drawn."""
    return page.evaluate(
        "(name) => document.getElementById('plot-regret').data?.find((trace) => trace.name === name)?.x.length ?? 0",
        name,
    )


def saved(page, button, directory):
    with page.expect_download() as download:
        page.click(button)
    path = directory / download.value.suggested_filename
    download.value.save_as(path)
    return path


def take_pictures(page, name):
    """For the documentation: what is seen first, or on a phone the curves, and a round."""
    DOCS.mkdir(exist_ok=True)
    if name.endswith("light"):
        page.locator("section[aria-labelledby='title-step']").screenshot(path=DOCS / f"round-{name}.png")
    if page.viewport_size["width"] < 640:
        page.locator("section[aria-labelledby='title-regret']").screenshot(path=DOCS / f"lab-{name}.png")
    else:
        page.set_viewport_size({"width": 1200, "height": 1130})
        page.evaluate("() => { window.scrollTo(0, 0); document.querySelector('.bench').scrollTo(0, 0); }")
        page.wait_for_timeout(300)
        page.screenshot(path=DOCS / f"lab-{name}.png")


def test_curves_grow_while_they_are_played_and_a_run_can_be_cancelled(open_lab):
    page = open_lab("horizon=500000&runs=20")
    expect(page.locator("#empty")).to_contain_text("Press Run")
    page.click("#run")
    expect(page.locator("#status")).to_contain_text("round", timeout=PATIENCE)
    page.wait_for_selector("#plot-regret .main-svg")
    seen = points(page, "trimmed, ucb")
    page.wait_for_function(
        "(seen) => document.getElementById('plot-regret').data.find((trace) => trace.name === 'trimmed, ucb').x.length > seen",
        arg=seen,
    )
    page.click("#cancel")
    expect(page.locator("#status")).to_have_text("Cancelled.")
    expect(page.locator("#numbers tbody tr")).to_contain_text("to round")
    assert 0 < points(page, "trimmed, ucb") < 200
    for _ in range(4):  # a cancelled run makes room: the server plays only three at once
        page.click("#run")
        expect(page.locator("#status")).to_contain_text(re.compile("ready|round"))
        page.click("#cancel")
        expect(page.locator("#status")).to_have_text("Cancelled.")
    page.fill("#set-horizon", "400")
    page.press("#set-horizon", "Enter")
    played(page)
    assert points(page, "trimmed, ucb") == points(page, "alone") == 200


def test_every_setting_counts_and_the_link_opens_the_same_set_up(open_lab):
    page = open_lab()
    page.locator("details.more summary").click()
    for name, text in OTHERS.items():
        control = page.locator(f"#set-{name}")
        if control.evaluate("(element) => element.tagName") == "SELECT":
            control.select_option(text)
        else:
            control.fill(text)
    page.select_option("#set-graph", "erdos-renyi")
    assert page.input_value("#set-graph-params") == "0.8"
    page.fill("#set-graph-params", "0.9")
    page.fill("#set-attack-params", "2")
    page.check("#set-time_varying")
    page.fill("#label", "mine")
    expect(page.locator("#command")).to_contain_text("alie:2")
    settings = {**OTHERS, "graph": "erdos-renyi:0.9", "attack": "alie:2", "time_varying": "true"}
    file = tomllib.loads(page.locator("#toml").text_content())
    assert file == {key: value for key, value in read_setup(settings).settings().items() if value is not None}
    again = open_lab(page.url.partition("#")[2])
    for name in OTHERS:
        assert again.input_value(f"#set-{name}") == page.input_value(f"#set-{name}")
    assert (again.input_value("#label"), again.input_value("#set-graph-params")) == ("mine", "0.9")
    assert again.is_checked("#set-time_varying")
    expect(again.locator("#toml")).to_have_text(page.locator("#toml").text_content())
    again.click("#run")
    played(again)
    page.reload()
    page.wait_for_selector(READY)
    page.locator("details.more summary").click()
    assert page.input_value("#set-seed") == "7"
    page.select_option("#set-algorithm", "consensus")
    expect(page.locator("#error-memory")).to_contain_text("memory 2 does not go with algorithm 'consensus'")


def test_experiments_are_laid_over_each_other_and_taken_away(open_lab, tmp_path):
    page = open_lab(SMALL)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.fill("#label", "with trimming")
    page.click("#add")
    page.select_option("#set-filter", "mean")
    expect(page.locator("#setups .choose").nth(1)).to_contain_text("mean")
    page.click("#run-all")
    played(page)
    names = page.locator("#plot-regret .legendtext").all_text_contents()
    assert names == ["alone", "with trimming", "bound, with trimming", "mean"]
    expect(page.locator("#caption")).to_contain_text("No bound for mean: the paper proves it for filter trimmed")
    page.click("#scale-log")
    page.wait_for_function("() => document.getElementById('plot-regret').layout.yaxis.type === 'log'")
    page.click("#scale-linear")
    page.wait_for_function("() => document.getElementById('plot-regret').layout.yaxis.type !== 'log'")
    rows = list(csv.DictReader(saved(page, "#save-csv", tmp_path).open()))
    assert len(rows) == 400
    assert float(rows[199]["bound"]) > float(rows[199]["alone_mean"]) > 0
    assert (rows[200]["experiment"], rows[200]["bound"]) == ("mean", "")
    toml = tomllib.loads(saved(page, "#save-toml", tmp_path).read_text())
    assert (toml["filter"], toml["horizon"]) == ("mean", 600)
    assert saved(page, "#save-png", tmp_path).read_bytes().startswith(b"\x89PNG")
    assert "with trimming" in saved(page, "#save-svg", tmp_path).read_text()
    page.click("#copy-command")
    expect(page.locator("#export-status")).to_have_text("Command copied.")
    assert (
        page.evaluate("() => navigator.clipboard.readText()") == "byzmab simulate --filter mean --horizon 600 --runs 5"
    )
    page.click("#copy-link")
    expect(page.locator("#export-status")).to_have_text("Link copied.")
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    page.locator("#setups .choose").first.press("Enter")
    assert page.input_value("#set-filter") == "trimmed"
    expect(page.locator("#setups .choose").first).to_be_focused()
    page.click("button[aria-label='Remove with trimming']")
    expect(page.locator("#numbers tbody tr")).to_have_count(1)
    page.go_back()
    expect(page.locator("#setups .choose")).to_have_count(2)
    expect(page.locator("#numbers tbody tr")).to_have_count(2)  # with its curve


def test_the_graph_is_edited_by_clicking_edges_and_agents(open_lab):
    page = open_lab(f"{SMALL}&graph=ring:2&agents=6")
    note = page.locator("#graph-note")
    expect(note).to_have_text("12 edges")
    page.locator("[data-edge='3-4']").click()
    expect(note).to_have_text("10 edges")
    assert page.input_value("#set-graph") == "edges"
    for agent in (1, 4):  # by keyboard
        page.locator(f"[data-agent='{agent}']").press("Enter")
    expect(note).to_have_text("12 edges")
    expect(page.locator("[data-agent='4']")).to_be_focused()
    page.select_option("#connect", "one")
    for agent in (5, 2):
        page.locator(f"[data-agent='{agent}']").click()
    expect(note).to_have_text("13 edges")
    assert page.input_value("#set-graph-params") == "6:1-2,1-4,1-6,2-3,4-5,5>2,5-6"
    expect(page.locator("[data-agent='2']")).to_have_attribute("aria-label", "agent 2, lies, hears 3")
    expect(page.locator("#command")).to_contain_text("'edges:6:1-2,1-4,1-6,2-3,4-5,5>2,5-6'")
    page.click("#run")
    played(page)


def test_bad_input_is_marked_at_its_field_and_says_what_is_allowed(open_lab):
    page = open_lab(SMALL)
    page.fill("#set-kappa", "3")
    expect(page.locator("#error-kappa")).to_contain_text(
        "kappa 3.0 is not allowed; allowed: a number in [1, 2)", timeout=PATIENCE
    )
    expect(page.locator("#set-kappa")).to_have_attribute("aria-invalid", "true")
    page.fill("#set-kappa", "1.2")
    expect(page.locator("#error-kappa")).to_be_hidden()
    page.fill("#set-runs", "400")
    page.fill("#set-horizon", "900000")
    page.click("#run")
    expect(page.locator("#error-horizon")).to_contain_text("allowed in the lab: up to 75000")
    expect(page.locator("#set-horizon")).to_be_focused()
    page.fill("#set-f", "4")
    page.fill("#set-horizon", "300")
    expect(page.locator("#warning")).to_contain_text("f = 4 needs")
    strange = open_lab("colour=red|filter=x.py:Y&here=", ready="#set-arms")
    expect(strange.locator("#error-filter")).to_contain_text("filter 'x.py' is not known")
    strange.click("#run-all")  # what is wrong with another set-up is shown there
    expect(strange.locator("#problem")).to_contain_text("setting 'colour' is not known")


def test_a_round_is_stepped_through(open_lab, lab):
    page = open_lab(f"{SMALL}&attack=adaptive")
    settings = {"horizon": "600", "runs": "5", "attack": "adaptive"}

    def shows(run, round, agent):
        question = {"settings": settings, "run": run, "round": round, "agent": agent}
        told = page.request.post(f"{lab}lab/step", data=question).json()
        expect(page.locator("#story")).to_contain_text(f"Agent {agent}")
        expect(page.locator("#story li").last).to_contain_text(f"in round {round} it pulls arm {told['choice']}.")
        table = page.locator("#round-table")
        expect(table.locator("thead th.chosen")).to_have_text(f"arm {told['choice']}")
        expect(table.locator("tr", has_text="index").locator("strong")).to_have_text(f"{max(told['index']):.4f}")
        for report in told["heard"]:
            row = table.locator(f"tr:has(th:text-matches('^agent {report['agent']}(,|$)'))")
            assert row.locator(".fate").all_text_contents() == report["fates"]

    page.click("#open-step")
    page.wait_for_selector("#plot-round .main-svg")
    shows(1, 100, 3)
    page.fill("#step-round", "400")
    page.select_option("#step-agent", "7")
    page.fill("#step-run", "2")
    shows(2, 400, 7)
    page.click("#step-back")
    shows(2, 399, 7)
    page.click("#step-on")
    page.locator("#step-slide").fill("600")
    shows(2, 600, 7)
    page.fill("#step-round", "601")
    expect(page.locator("#step-problem")).to_have_text("round 601 does not exist; there are 1 to 600.")
    page.locator("details.more summary").click()
    page.select_option("#set-algorithm", "coop-ucb2")
    expect(page.locator("#step-problem")).to_contain_text("coop-ucb2 has no filter to step through")


def test_examples_are_a_start(open_lab):
    page = open_lab()
    page.select_option("#example", "F3")
    expect(page.locator("#setups .name")).to_have_text([f"q={q}" for q in ("0.2", "0.4", "0.6", "0.8", "1.0")])
    page.select_option("#example", "ads")
    expect(page.locator("#setups .name")).to_have_text(["ads, trimmed", "ads, mean"])
    assert page.input_value("#set-arms").startswith("0.6339,0.608,")
    assert page.input_value("#set-graph") == "firms"
    page.go_back()
    expect(page.locator("#setups .name")).to_have_count(5)


def test_a_lab_that_is_gone_says_so(open_lab):
    page = open_lab(SMALL)
    page.route("**/lab/run", lambda route: route.abort())
    page.click("#run")
    expect(page.locator("#problem")).to_contain_text("Is `byzmab lab` still running?")
    page.complaints.clear()  # the browser's own word on the lost connection
    page.unroute("**/lab/run")
    page.click("#run")
    played(page)


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "light"), (1200, "dark")])
def test_the_page_is_for_everybody(open_lab, width, scheme):
    """At a desk, on a phone, at night: nothing sticks out, and axe finds nothing to complain about."""
    common = "attack=extreme&horizon=3000&runs=20"
    page = open_lab(f"label=trimmed&{common}|label=no+trimming&filter=mean&{common}&here=", width, color_scheme=scheme)
    page.click("#run-all")
    played(page)
    page.locator("#setups .choose").first.click()
    page.click("#open-step")
    page.wait_for_selector("#plot-round .main-svg")
    expect(page.locator("#step-view .fate").first).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    if "BYZMAB_WRITE_DOCS" in os.environ:
        take_pictures(page, f"{width}-{scheme}")
