"""The lab in a real browser: every control used, curves growing, rounds looked into, links shared.

`BYZMAB_WRITE_DOCS=1 pytest tests/dashboard/test_lab.py` also takes the pictures of the documentation.
"""

import csv
import os
import re
import signal
import subprocess
import tomllib
import urllib.request
from pathlib import Path

import pytest
from command import BYZMAB
from pages import open_page, turn
from waiting import LONG

from byzmab import simulate
from byzmab.dashboard.lab.setup import read_setup
from byzmab.results.statistics import saved_interval

pytest.importorskip("playwright.sync_api")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

DOCS = Path(__file__).parents[2] / "docs" / "lab"
WRITE = "BYZMAB_WRITE_DOCS" in os.environ
SMALL = "horizon=600&runs=5"
FIRST = "f=auto&filter=guarded&policy=moss&horizon=600&runs=5"
READY = "#graph-note:not(:empty)"
PATIENCE = 120_000  # ms: the first run compiles
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
    "audit": "false",
}
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def lab():
    """The address of a lab, run as its users run it."""
    process = subprocess.Popen([*BYZMAB, "lab", "--port", "0", "--no-open"], stderr=subprocess.PIPE, text=True)
    line = next((line for line in process.stderr if line.startswith("the lab is at http://127.0.0.1:")), None)
    assert line, "the lab ended before it began"
    address = line.split()[4].rstrip(";")
    urllib.request.urlopen(f"{address}lab/menu", timeout=300).close()  # the first question may compile
    yield address
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=LONG)
    assert (process.returncode, "Traceback" in rest) == (0, False), rest


@pytest.fixture
def open_lab(browser, lab):
    """Opens the lab at a set-up; in the end, nothing went wrong and nobody else was asked."""
    pages = []

    def opened(fragment=FIRST, width=1200, ready=READY, charts=True, **context):
        page = open_page(browser, f"{lab}#{fragment}" if fragment else lab, width, ready, charts, **context)
        page.set_default_timeout(PATIENCE)
        pages.append(page)
        if fragment:  # it plays itself: that is not what most tests are about
            page.evaluate("() => document.getElementById('cancel').click()")
            expect(page.locator("#run")).to_be_enabled()
        return page

    yield opened
    for page in pages:
        assert page.complaints == []
        assert page.foreign == []


def played(page):
    """Wait until all is played, and drawn; with an empty cache it compiles first."""
    expect(page.locator("#status")).to_have_text("Played.", timeout=2 * PATIENCE)
    expect(page.locator("#plot-regret[aria-busy]")).to_have_count(0)


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


def fits_everybody(page):
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


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


def choose(page, setting, name):
    """Choose from a menu as a person does, and touch nothing else; what the command then says."""
    page.select_option(f"#set-{setting}", name)
    expect(page.locator("#command")).to_contain_text(f"--{setting} {name}")
    return page.locator("#command").text_content()


@pytest.mark.filterwarnings("ignore:f = ")
def test_a_graph_that_is_chosen_is_the_graph_that_is_shown_and_played(open_lab):
    page = open_lab(SMALL, charts=False)
    params = page.locator("#set-graph-params")
    graphs = {"erdos-renyi": None, "two-case": None, "ring": 40, "star": 18, "edges": 18, "firms": 48}
    for graph, edges in graphs.items():
        command = choose(page, "graph", graph)
        text = f"{graph}:{params.input_value()}" if params.is_visible() else graph
        assert f"--graph {text} " in command.replace("'", "")
        if edges is not None:
            expect(page.locator("#graph-note")).to_have_text(f"{edges} edges")
        if graph == "star":
            expect(page.locator("[data-agent='3']")).to_have_attribute("aria-label", re.compile("hears 9"))
        page.click("#run")
        messages = simulate(read_setup({"graph": text, "horizon": "600", "runs": "5"})).message_counts.mean()
        expect(page.locator("#numbers td:last-child")).to_contain_text(f"{messages:,.0f} (")
        played(page)


def test_an_attack_that_is_chosen_shows_the_parameters_that_it_plays(open_lab):
    page = open_lab(f"{SMALL}&attack=extreme", charts=False)
    for attack, shown in {"alie": "1.5", "constant": "0.4,0.5,0.4,0.3", "crafted": ""}.items():
        page.select_option("#set-attack", attack)
        expect(page.locator("#set-attack-params")).to_have_value(shown)
        expect(page.locator("#toml")).to_contain_text(f'attack = "{attack}"')
    page.click("#run")
    played(page)


def test_saved_is_told_against_the_same_policy_alone_with_its_paired_interval(open_lab):
    page = open_lab("filter=trimmed&policy=tuned&horizon=2000&runs=10", charts=False)
    page.click("#run")
    played(page)
    together = simulate(read_setup({"policy": "tuned", "horizon": "2000", "runs": "10"})).network_regret[:, -1]
    alone = simulate(
        read_setup({"filter": "solo", "attack": "none", "policy": "tuned", "horizon": "2000", "runs": "10"})
    ).network_regret[:, -1]
    row = page.locator("#numbers tbody td")
    expect(row.nth(3)).to_have_text(f"{alone.mean():.1f}")
    found = saved_interval(together, alone)
    assert (
        row.nth(4).text_content().replace("−", "-")
        == f"{100 * found.mean:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"
    )


def test_going_back_undoes_an_edge_that_was_cut(open_lab):
    page = open_lab(f"{SMALL}&graph=ring:2&agents=6", charts=False)
    page.locator("[data-edge='3-4']").click()
    expect(page.locator("#graph-note")).to_have_text("10 edges")
    page.go_back()
    expect(page.locator("#graph-note")).to_have_text("12 edges")
    assert page.input_value("#set-graph") == "ring"


def test_a_shared_link_and_a_page_loaded_again_play_themselves(open_lab, browser, lab):
    page = open_page(browser, f"{lab}#{SMALL}|{SMALL}&filter=mean", 1200, READY, charts=False)
    played(page)
    expect(page.locator("#numbers tbody tr")).to_have_count(2)
    page.reload()
    played(page)
    expect(page.locator("#numbers tbody tr")).to_have_count(2)


def test_the_command_copied_is_that_of_the_form_or_there_is_a_reason(open_lab):
    page = open_lab(SMALL, charts=False)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.fill("#set-horizon", "700")
    page.click("#copy-command")  # before the page has asked what that is
    expect(page.locator("#export-status")).to_have_text("Command copied.")
    assert page.evaluate("() => navigator.clipboard.readText()") == "byzmab simulate --horizon 700 --runs 5"
    page.fill("#set-kappa", "3")
    page.click("#copy-command")
    expect(page.locator("#export-status")).to_contain_text(
        "There is no command for what is in the form: kappa 3.0 is not allowed"
    )
    expect(page.locator("#command")).to_contain_text("# kappa 3.0")


def test_the_program_copied_plays_what_the_page_has_played(open_lab):
    page = open_lab(f"{SMALL}&attack=extreme&filter=median", charts=False)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#run")
    played(page)
    page.click("#copy-python")
    expect(page.locator("#export-status")).to_have_text("Python copied.")
    program, made = page.evaluate("() => navigator.clipboard.readText()"), {}
    page.locator("summary", has_text="The same in Python").click()
    expect(page.locator("#python")).to_have_text(program)
    exec(program, made)
    regret = made["result"].summary()["regret"]["mean"]
    expect(page.locator("#numbers tbody td").nth(1)).to_have_text(f"{regret:.1f}")


def test_a_log_scale_has_plain_ticks_and_no_band_below_zero(open_lab):
    page = open_lab("filter=pooled&policy=greedy&attack=extreme&horizon=600&runs=5")
    page.click("#run")
    played(page)
    page.click("#scale-log")
    page.wait_for_function("() => document.getElementById('plot-regret').layout.yaxis.type === 'log'")
    lowest = page.evaluate(
        "() => Math.min(...document.getElementById('plot-regret').data.filter((trace) => !trace.name).flatMap((trace) => trace.y))"
    )
    assert lowest > 0
    ticks = page.locator("#plot-regret .ytick text").all_text_contents()
    assert ticks and all(re.fullmatch(r"0\.0*1|10*", tick) for tick in ticks), ticks


def test_curves_grow_while_they_are_played_and_a_run_can_be_cancelled(open_lab):
    page = open_lab("horizon=100000&runs=20")
    page.click("#run")
    expect(page.locator("#status")).to_contain_text(re.compile("about \\d+ s left"), timeout=PATIENCE)
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


def told(page):
    """The captions of the story: what is told of each way to listen, and its regret."""
    expect(page.locator("#tale-build")).to_be_enabled(timeout=2 * PATIENCE)
    parts = page.locator("#tale-captions li")
    return {part.get_attribute("data-part"): int(part.locator(".figure").text_content()) for part in parts.all()}


def test_the_lab_opens_on_a_story_whose_levers_play_it_again(open_lab):
    page = open_lab("", ready="#tale-network .agent")
    first = told(page)
    page.wait_for_function(  # the last curve, which is below the others, is drawn to its end as well
        "() => document.getElementById('plot-tale').calcdata.every((curve) => curve.at(-1).x === 10000)"
    )
    assert (
        first["chosen"] < first["papers"] < first["alone"] < first["believing"] / 2
    )  # filtering pays, believing does not
    assert page.locator("#tale-network .liar").count() == 2
    page.click("[data-liars='0']")
    expect(page.locator("#tale-change")).to_contain_text("liars 2 → 0")
    expect(page.locator("#tale-captions [data-part='papers']")).to_contain_text("With f = 0 nothing is trimmed")
    honest = told(page)
    assert honest["believing"] < honest["alone"]  # where nobody lies, believing everyone is fine
    assert page.locator("#tale-network .liar").count() == 0
    page.click("[data-liars='2']")
    page.select_option("#lever-attack", "adaptive")
    expect(page.locator("#tale-change")).to_contain_text("attack extreme → adaptive", timeout=PATIENCE)
    assert told(page)["believing"] < first["alone"]
    page.select_option("#lever-filter", "trimmed")
    expect(page.locator("#tale-change")).to_contain_text("filter guarded → trimmed", timeout=PATIENCE)
    expect(page.locator("#tale-change")).to_contain_text(re.compile(r"guarded \d+ → trimmed \d+"))
    assert set(told(page)) == {"alone", "believing", "chosen"}
    page.click("#tale-build")
    expect(page.locator("#setups .name")).to_have_text(["trimmed", "believing everyone"])
    played(page)
    page.go_back()
    expect(page.locator("#story-view")).to_be_visible()


def test_the_story_waits_while_others_take_all_seats(browser, lab):
    page, seats = browser.new_page(), []

    def refuse(route):
        if seats:
            route.continue_()
            return
        route.fulfill(status=429, json={"detail": "3 experiments are being played already"})

    page.route("**/lab/run", refuse)
    page.goto(lab)
    expect(page.locator("#tale-status")).to_have_text("3 experiments are being played already")
    seats.append("one is free again")
    expect(page.locator("#tale-build")).to_be_enabled()
    assert set(told(page)) == {"alone", "believing", "papers", "chosen"}


def test_a_click_on_a_curve_opens_that_round(open_lab):
    page = open_lab("horizon=600&runs=5&attack=extreme")
    page.click("#run")
    played(page)
    box = page.locator("#plot-regret .nsewdrag").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#step")).to_be_visible()
    assert 290 <= int(page.input_value("#step-round")) <= 310


def test_any_attack_can_be_made_careful_where_it_is_chosen(open_lab):
    page = open_lab(SMALL, charts=False)
    page.select_option("#set-attack", "mimic")
    page.fill("#set-attack-params", "careful=1")
    expect(page.locator("#command")).to_contain_text("--attack mimic:careful=1")
    page.fill("#set-runs", "3")
    expect(page.locator("#command")).to_contain_text("--attack mimic:careful=1")


def test_every_setting_counts_and_the_link_opens_the_same_set_up(open_lab):
    page = open_lab(SMALL, charts=False)
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
    expect(page.locator("#command")).to_contain_text("--no-audit")
    expect(page.locator("#command")).to_contain_text("--time-varying")
    settings = {**OTHERS, "graph": "erdos-renyi:0.9", "attack": "alie:2", "time_varying": "true"}
    file = tomllib.loads(page.locator("#toml").text_content())
    assert file == {key: value for key, value in read_setup(settings).settings().items() if value is not None}
    again = open_lab(page.url.partition("#")[2], charts=False)
    for name in OTHERS:
        assert again.input_value(f"#set-{name}") == page.input_value(f"#set-{name}")
    assert (again.input_value("#label"), again.input_value("#set-graph-params")) == ("mine", "0.9")
    assert again.is_checked("#set-time_varying")
    expect(again.locator("#toml")).to_have_text(page.locator("#toml").text_content())
    again.click("#run")
    played(again)
    page.reload()  # and plays itself
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
    assert names == ["alone", "with trimming", "mean"]  # the bound lies above this picture
    expect(page.locator("#caption")).to_contain_text("shown only on the log scale")
    expect(page.locator("#caption")).to_contain_text("No bound for mean: the paper proves it for filter trimmed")
    page.click("#scale-log")
    page.wait_for_function("() => document.getElementById('plot-regret').layout.yaxis.type === 'log'")
    names = page.locator("#plot-regret .legendtext")
    expect(names).to_have_text(["alone", "with trimming", "bound, with trimming", "mean"])
    page.click("#scale-linear")
    page.wait_for_function("() => document.getElementById('plot-regret').layout.yaxis.type !== 'log'")
    expect(names).to_have_text(["alone", "with trimming", "mean"])
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
    page = open_lab(f"{SMALL}&graph=ring:2&agents=6", charts=False)
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
    page = open_lab(SMALL, charts=False)
    page.fill("#set-kappa", "3")
    expect(page.locator("#error-kappa")).to_contain_text(
        "kappa 3.0 is not allowed; allowed: a number in [1, 2)", timeout=PATIENCE
    )
    expect(page.locator("#set-kappa")).to_have_attribute("aria-invalid", "true")
    page.fill("#set-kappa", "1.2")
    expect(page.locator("#error-kappa")).to_be_hidden()
    page.fill("#set-runs", "400")
    page.fill("#set-horizon", "9000000")
    page.click("#run")
    expect(page.locator("#error-horizon")).to_contain_text("of work; allowed in the lab: about 4 minutes, here up to ")
    expect(page.locator("#set-horizon")).to_be_focused()
    page.fill("#set-f", "4")
    page.fill("#set-horizon", "300")
    expect(page.locator("#warning")).to_contain_text("f = 4 needs")
    strange = open_lab("colour=red|filter=x.py:Y&here=", ready="#set-arms", charts=False)
    strange.locator("#setups .choose").nth(1).click()
    expect(strange.locator("#error-filter")).to_contain_text("filter 'x.py' is not known")
    expect(strange.locator("#problem")).to_be_hidden()
    strange.click("#run-all")  # goes to the first set-up that is wrong
    expect(strange.locator("#setups .choose").first).to_have_attribute("aria-pressed", "true")
    expect(strange.locator("#problem")).to_contain_text("setting 'colour' is not known")
    expect(strange.locator("#problem")).to_be_visible()
    expect(strange.locator("#error-filter")).to_be_hidden()


def test_a_round_is_stepped_through(open_lab, lab):
    page = open_lab(f"{SMALL}&attack=adaptive", charts=False)
    settings = {"horizon": "600", "runs": "5", "attack": "adaptive"}

    def shows(run, round, agent):
        question = {"settings": settings, "run": run, "round": round, "agent": agent}
        told = page.request.post(f"{lab}lab/step", data=question).json()
        page.locator("#stages button").last.click()
        expect(page.locator("#stage-caption")).to_have_text(
            f"So in round {round} agent {agent} pulls arm {told['choice']}, whose index is the largest."
        )
        expect(page.locator("#round-table tr.chosen th")).to_have_text(f"arm {told['choice']}")
        expect(page.locator("#round-table tr.chosen")).to_contain_text(f"{max(told['index']):.4f}")
        fates = {str(report["agent"]): report["fates"][told["choice"] - 1] for report in told["heard"]}
        rows = page.locator("#reports-table tbody tr:not(.total)").all()
        assert {
            re.search(r"\d+", row.locator("th").text_content())[0]: row.locator(".fate").text_content() for row in rows
        } == fates
        return told

    page.click("#open-step")
    page.wait_for_selector("#scene .mark")
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


def test_the_steps_of_a_round_appear_one_by_one_beside_what_believing_everyone_would_do(open_lab, lab):
    page = open_lab(f"{SMALL}&attack=extreme", charts=False)
    question = {"settings": {"horizon": "600", "runs": "5", "attack": "extreme"}, "run": 1, "round": 500, "agent": 4}
    step = page.request.post(f"{lab}lab/step", data=question).json()
    page.click("#open-step")
    page.fill("#step-round", "500")
    page.select_option("#step-agent", "4")
    own = f"own{step['means'][step['choice'] - 1]:.3f}{step['pulls'][step['choice'] - 1]:.0f}"
    expect(page.locator("#reports-table tr.total")).to_have_text(own)  # not of the round that was shown first
    expect(page.locator("#round-table thead")).to_contain_text("round 500")
    expect(page.locator("#title-scene")).to_have_text(f"Arm {step['choice']}, which is pulled")
    names = page.locator("#stages button").all_text_contents()
    assert names == ["1 hear", "2 consistency", "3 trimming", "4 estimate", "5 index", "6 choice"]
    page.locator("#stages button").first.click()
    page.locator("#scene").focus()
    fates = {report["agent"]: report["fates"][step["choice"] - 1] for report in step["heard"]}

    def seen():
        marks = page.locator("#scene .mark").all()
        return {int(mark.get_attribute("data-agent")): mark.get_attribute("data-fate") for mark in marks}

    assert set(seen().values()) == {"heard"}
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#stage-caption")).to_contain_text("Step B: the 2 largest and the 2 smallest means go")
    assert {agent for agent, fate in seen().items() if fate == "heard"} == {
        a for a, fate in fates.items() if fate == "kept"
    }
    page.keyboard.press("ArrowRight")
    expect(page.locator("#stage-caption")).to_contain_text(f"z = {step['estimates'][step['choice'] - 1]:.3f}")
    assert seen() == fates
    page.keyboard.press("ArrowDown" if step["choice"] == 1 else "ArrowUp")
    other = 2 if step["choice"] == 1 else step["choice"] - 1
    expect(page.locator("#title-scene")).to_have_text(f"Arm {other}")
    said = page.locator("#counterfactual").text_content()
    assert f"believing everyone gives z = {step['everyone']['estimates'][other - 1]:.3f}" in said
    if step["everyone"]["choice"] != step["choice"]:
        assert f"It would have pulled arm {step['everyone']['choice']}" in said
    page.keyboard.press("PageDown")
    expect(page.locator("#step-round")).to_have_value("501")


@pytest.mark.parametrize(
    ("motion", "seconds", "steps"),
    [("reduce", "0s", ["6 choice"]), ("no-preference", "0.12s", ["1 hear", "2 consistency"])],
)
def test_nothing_moves_by_itself_for_a_person_who_asked_for_less_motion(open_lab, motion, seconds, steps):
    """A round is shown at its last step; for others it begins at the first and plays itself."""
    page = open_lab(f"{SMALL}&attack=extreme", charts=False, reduced_motion=motion)
    lasts = page.locator("#run").evaluate("(button) => getComputedStyle(button).transitionDuration")
    assert set(lasts.split(", ")) == {seconds}
    page.evaluate(
        "() => { window.steps = []; new MutationObserver(() => window.steps.push(document.querySelector('#stages [aria-pressed=true]')"
        ".textContent)).observe(document.getElementById('stage-caption'), { childList: true }); }"
    )
    page.click("#open-step")
    page.wait_for_function("(wanted) => window.steps.length >= wanted", arg=len(steps))
    assert page.evaluate("() => window.steps")[: len(steps)] == steps


def test_captions_of_a_round_tell_what_the_filter_and_the_policy_in_use_do(open_lab):
    page = open_lab(f"{FIRST}&attack=extreme", charts=False)
    page.click("#open-step")
    page.locator("#stages [data-stage='trimming']").click()
    expect(page.locator("#stage-caption")).to_contain_text("What pulls the estimate hardest goes")
    page.locator("#stages [data-stage='index']").click()
    expect(page.locator("#stage-caption")).to_contain_text("alpha = 0.2")
    page.locator("#set-f").fill("5")  # two liars are expelled: three may be left among seven neighbours
    page.locator("#stages [data-stage='trimming']").click()
    expect(page.locator("#stage-caption")).to_contain_text("None is used: too few are left against f = 3")


def test_fifty_arms_are_listed_and_the_pulled_one_is_in_view(open_lab):
    page = open_lab("arms=random:50&horizon=200&runs=2&attack=extreme", charts=False)
    page.click("#open-step")
    expect(page.locator("#arms-scene .arm")).to_have_count(50)
    expect(page.locator("#arms-scene .shown")).to_be_in_viewport(ratio=0.5)
    page.locator("[data-arm='50']").click()
    expect(page.locator("#title-scene")).to_contain_text("Arm 50")
    page.locator("#step-view summary").click()
    expect(page.locator("#round-table tbody tr")).to_have_count(50)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_on_a_phone_run_brings_the_curves_into_view_and_the_button_stays(open_lab):
    page = open_lab(SMALL, width=390)
    page.click("#run")
    played(page)
    expect(page.locator("#plot-regret")).to_be_in_viewport(ratio=0.5)
    expect(page.locator("#run")).to_be_in_viewport(ratio=1)


def test_examples_are_a_start(open_lab):
    page = open_lab(charts=False)
    page.select_option("#example", "F3")
    expect(page.locator("#setups .name")).to_have_text([f"q={q}" for q in ("0.2", "0.4", "0.6", "0.8", "1.0")])
    page.select_option("#example", "ads")
    expect(page.locator("#setups .name")).to_have_text(["ads, trimmed", "ads, mean", "ads, guarded"])
    page.wait_for_function("() => document.getElementById('graph-note').textContent === '48 edges'")  # it was checked
    expect(page.locator("#status")).to_contain_text("two of them lie. Press Run all.")
    assert page.input_value("#set-arms").startswith("0.6339,0.608,")
    assert page.input_value("#set-graph") == "firms"
    page.go_back()
    expect(page.locator("#setups .name")).to_have_count(5)


def test_a_lab_that_is_gone_says_so(open_lab):
    page = open_lab(SMALL, charts=False)
    page.route("**/lab/run", lambda route: route.abort())
    page.click("#run")
    expect(page.locator("#problem")).to_contain_text("Is `byzmab lab` still running?")
    page.complaints.clear()  # the browser's own word on the lost connection
    page.unroute("**/lab/run")
    page.click("#run")
    played(page)


@pytest.mark.parametrize(("width", "schemes"), [(1200, ("light", "dark")), (390, ("light",))])
def test_the_page_is_for_everybody(open_lab, width, schemes):
    """At a desk, when night falls, on a phone: nothing sticks out, and axe finds nothing to complain about."""
    common = f"attack=extreme&{'horizon=3000&runs=20' if WRITE else SMALL}"
    page = open_lab(f"label=trimmed&{common}|label=no+trimming&filter=mean&{common}&here=", width, color_scheme="light")
    page.click("#run-all")
    played(page)
    page.locator("#setups .choose").first.click()
    page.click("#open-step")
    page.wait_for_selector("#scene .mark")
    expect(page.locator("#step-view .fate").first).to_be_visible()
    page.locator("#stages [data-stage='index']").click()
    for summary in page.locator(".export summary").all():
        summary.click()
    for scheme in schemes:
        turn(page, scheme)
        fits_everybody(page)
        if WRITE:
            take_pictures(page, f"{width}-{scheme}")
    page.click("#to-story")
    told(page)
    for scheme in reversed(schemes):
        turn(page, scheme)
        fits_everybody(page)
    if WRITE:
        page.set_viewport_size({"width": width, "height": 930})
        page.mouse.click(1, 1)  # away from what was pressed
        page.screenshot(path=DOCS / f"story-{width}-light.png")
