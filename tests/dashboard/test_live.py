"""The live pages in a real browser: a network of processes watched, hurt and mended, a liar trimmed and then expelled.

`python tests/pictures.py` takes the pictures of the documentation.
"""

import json
import re
import signal
import sqlite3
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import BYZMAB, byzmab
from live import NETWORK, Process, frame, key_of, neighbour_of
from pages import addresses_of, leave_undrawn, open_page, turn
from waiting import LONG

pytest.importorskip("playwright.sync_api")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PATIENCE = 120_000  # ms: six processes and a browser share slow cores
HERE = Path(__file__).parent
LOUD = "loud.py:Loud"  # a tally that could be: it is trimmed, and never proven
TOKEN = "correct-horse-battery-staple"
LOST = re.compile("ERR_|Failed to load resource|Plotly could not be loaded")  # words on a lost connection
expect.set_options(timeout=PATIENCE)


class Overview:
    """A network of five nodes, of which the first lies, and the addresses of its pages."""

    def __init__(self, address, nodes):
        self.address, self.nodes = address, nodes


@contextmanager
def running(directory, equivocators="expel"):
    """A network run as its users run it, and ended by Ctrl-C."""
    options = ["--equivocators", equivocators]
    options += ["--agents", "5", "--byzantine", "1", "--attack", LOUD, "--traffic", "10"]
    options += ["--f", "1", "--filter", "trimmed", "--policy", "ucb"]  # which trims the loudest
    command = [*BYZMAB, "network", *options, "--page-port", "0", "--data", str(directory / "network")]
    process = subprocess.Popen(command, cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    yield Overview(*addresses_of(process))
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=LONG)
    assert (process.returncode, "Traceback" in rest) == (0, False), rest


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """One for all tests that do not mind what became of it before."""
    with running(tmp_path_factory.mktemp("live")) as overview:
        yield overview


@pytest.fixture
def look(browser):
    """Opens live pages; in the end, nothing went wrong but connections that were cut, and nobody else was asked."""
    pages = []

    def opened(address, width=1200, live=True, charts=True, **context):
        page = open_page(browser, address, width, "#status", charts, **context)
        page.set_default_timeout(PATIENCE)
        pages.append(page)
        if live:
            is_live(page)
        return page

    yield opened
    for page in pages:
        assert [complaint for complaint in page.complaints if not LOST.search(complaint)] == []
        assert page.foreign == []


def is_live(page):
    expect(page.locator("#status")).to_have_text("live", timeout=PATIENCE)


def fate(page, neighbour):
    return page.locator(f"[data-peer='{neighbour}']")


def state(page, name):
    return page.locator("#agents tr", has=page.locator("a", has_text=name)).locator(".chip").last


def pull(page, lever, name, then):
    page.get_by_role("button", name=f"{name},").click()
    page.get_by_role("button", name=f"{lever}: {name}").click()
    expect(state(page, name)).to_have_text(then, timeout=PATIENCE)


def edge(page, teller, hearer):
    return page.locator(f"[data-edge='{teller}>{hearer}']")


def number(page, selector):
    return int(page.locator(selector).text_content(timeout=PATIENCE).replace(",", ""))


def ask(address, body, **headers):
    request = urllib.request.Request(address, body, {"content-type": "application/json", **headers}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=LONG) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["detail"]


def saved(page, button, directory):
    with page.expect_download() as download:
        page.locator(button).click()
    path = directory / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_a_liar_is_trimmed_then_caught_with_proof_and_expelled(look, tmp_path):
    """The page of an honest node tells the story while it happens; the proof convinces a third party."""
    with running(tmp_path, "keep") as network:
        pages = [look(address, charts=False) for address in (network.nodes[3], network.address)]
        watch_a_liar_fall(*pages, tmp_path)


def watch_a_liar_fall(page, overview, tmp_path):
    expect(page.locator("#name")).to_have_text("agent-3")
    expect(fate(page, "agent-1")).to_have_attribute("data-fate", "trimmed", timeout=PATIENCE)
    expect(page.locator("#n-caught")).to_have_text("0none expelled")
    against = page.locator("#trust tr", has_text="agent-1").locator(".chip").first
    expect(against).to_have_text("merely extreme", timeout=PATIENCE)
    expect(overview.locator("#n-proven")).to_contain_text("0 of 1none so far")
    expect(edge(overview, 1, 3)).to_have_class(re.compile("trimmed"))
    overview.select_option("#attack", "extreme")
    expect(overview.locator("#done")).to_contain_text("lie by extreme", timeout=PATIENCE)
    expect(overview.locator("#n-proven")).to_contain_text(
        "1 of 1kept; none expelled", timeout=PATIENCE
    )  # proven, and heard
    expect(against).to_have_text("proven", timeout=PATIENCE)
    expect(overview.locator("#unheard")).to_be_hidden()
    overview.get_by_role("button", name="Expel who is proven").click()
    expect(fate(page, "agent-1")).to_have_attribute("data-fate", "expelled", timeout=PATIENCE)
    expect(page.locator("#n-caught")).to_contain_text("1 expelled")
    expect(overview.locator("#n-proven")).to_contain_text("1 of 11 expelled", timeout=PATIENCE)
    expect(overview.locator("#unheard")).to_contain_text("Nobody listens: agent-1 is expelled")
    expect(edge(overview, 1, 3)).to_have_class(re.compile("expelled"))
    expect(overview.locator("#happened")).to_contain_text("agent-1 is expelled")
    first = "document.getElementById('plot-regret').data?.at(-1)?.x[0]"
    began = overview.evaluate(first)
    overview.reload()  # and nothing is lost
    expect(overview.locator("#happened")).to_contain_text("agent-1 is proven to lie", timeout=PATIENCE)
    overview.wait_for_function(f"(began) => {first} <= began", arg=began)
    overview.get_by_role("button", name="Take the liars back").click()
    expect(fate(page, "agent-1")).not_to_have_attribute("data-fate", "expelled", timeout=PATIENCE)
    expect(overview.locator("#unheard")).to_be_hidden(timeout=PATIENCE)
    pull(overview, "Kill", "agent-1", "down")
    expect(edge(overview, 1, 3)).to_have_class(re.compile("cut"))  # of a dead liar
    expect(edge(overview, 2, 3)).not_to_have_class(re.compile("cut"))
    one = saved(page, "#evidence tr button", tmp_path)
    proof = re.compile(r"(equivocation|sequence): ed25519:\w+ signed")
    assert proof.match(byzmab("evidence", "verify", one).stdout)
    everything = saved(page, "#save-evidence", tmp_path)
    assert proof.search(byzmab("evidence", "verify", everything).stdout)
    expect(overview.locator("#attack")).to_have_value("extreme")


def test_the_page_of_a_node_moves_without_being_loaded_again(network, look):
    page = look(network.nodes[2])
    page.evaluate("() => { window.here = true; }")
    page.wait_for_selector("#plot-rates .main-svg", timeout=PATIENCE)
    points = "(seen) => (document.getElementById('plot-arms').data?.at(-1)?.x.length ?? 0) > seen"
    seen = page.evaluate("() => document.getElementById('plot-arms').data.at(-1).x.length")
    page.wait_for_function(points, arg=seen + 1)
    for view, title in {"width": "width", "pulls": "own pulls", "share": "share of own pulls"}.items():
        page.click(f"[data-view='{view}']")
        expect(page.locator("#plot-arms .ytitle")).to_have_text(title, timeout=PATIENCE)
    page.locator("[data-view='estimate']").press("Enter")
    expect(page.locator("#plot-arms .ytitle")).to_have_text("estimate z", timeout=PATIENCE)
    names = page.locator("#arms th").all_text_contents()
    pulls = sum(int(text.replace(",", "")) for text in page.locator("#arms td:nth-child(4)").all_text_contents())
    told = json.loads(urllib.request.urlopen(f"{network.nodes[2]}v1/arms").read())["arms"]  # the page may be behind
    assert names == [arm["arm"] for arm in told]
    assert 0 < pulls <= sum(arm["pulls"] for arm in told)
    expect(page.locator("#n-reports")).to_contain_text("per second")
    assert len(page.evaluate("() => document.getElementById('plot-trust').data[0].y")) == 4
    assert page.evaluate("() => window.here"), "it was not loaded again"


def test_nodes_are_killed_cut_off_and_hung_and_their_pages_recover(network, look):
    overview, page = (look(address, charts=False) for address in (network.address, network.nodes[4]))
    expect(page.locator("#facts")).to_contain_text("epoch ", timeout=PATIENCE)
    epoch = re.search(r"epoch \d+", page.locator("#facts").text_content())[0]
    pull(overview, "Kill", "agent-4", "down")
    expect(page.locator("#status")).to_have_text("reconnecting…", timeout=PATIENCE)
    expect(page.locator("#problem")).to_contain_text("The node does not answer")
    expect(overview.locator("#n-up")).to_contain_text("4 of 5")
    expect(overview.get_by_role("button", name="Partition: agent-4")).to_be_disabled()
    pull(overview, "Restart", "agent-4", "up")
    is_live(page)
    expect(page.locator("#facts")).not_to_contain_text(epoch, timeout=PATIENCE)
    expect(page.locator("#problem")).to_be_hidden()
    pull(overview, "Partition", "agent-4", "cut off")
    expect(page.locator("#no-neighbours")).to_be_visible(timeout=PATIENCE)
    pull(overview, "Heal", "agent-4", "up")
    expect(fate(page, "agent-5")).to_be_visible(timeout=PATIENCE)
    pull(overview, "Hang", "agent-4", "hung")
    expect(page.locator("#status")).to_have_text("no news", timeout=PATIENCE)
    pull(overview, "Wake", "agent-4", "up")
    is_live(page)


def test_an_honest_node_is_turned_into_a_liar_and_back(network, look):
    page = look(network.address, charts=False)
    pull(page, "Turn into a liar", "agent-5", "up")
    expect(page.locator("#map [data-agent='5']")).to_have_attribute(
        "aria-label", re.compile("agent-5, lies"), timeout=PATIENCE
    )
    expect(page.locator("#n-proven")).to_contain_text("of 2", timeout=PATIENCE)
    expect(page.locator("#happened")).to_contain_text("agent-5 lies")
    expect(page.locator("#map .liar")).to_have_count(2)
    pull(page, "Make honest", "agent-5", "up")
    expect(page.locator("#map [data-agent='5']")).to_have_attribute(
        "aria-label", re.compile("agent-5, honest"), timeout=PATIENCE
    )


def test_the_overview_shows_honest_nodes_against_two_shadows_and_opens_their_pages(network, look):
    page = look(network.address)
    page.wait_for_selector("#plot-regret .main-svg", timeout=PATIENCE)
    names = page.evaluate("() => document.getElementById('plot-regret').data.map((trace) => trace.name)")
    assert [name for name in names if name] == ["believing everyone", "alone", "honest nodes"]
    expect(page.locator("#n-regret")).to_contain_text(re.compile(r"% \(.+ to .+\) saved of being alone"))
    before = number(page, "#agents tr:nth-child(2) td:nth-child(3)")
    page.wait_for_function(
        "(seen) => Number(document.querySelector('#agents tr:nth-child(2) td:nth-child(3)').textContent.replace(',', '')) > seen",
        arg=before,
    )
    expect(page.locator("#map .liar").first).to_have_attribute("aria-label", re.compile("agent-1, lies"))
    page.locator("#map [data-agent='5']").press("Enter")
    with page.expect_popup() as popup:
        page.locator("#chosen-name").click()
    expect(popup.value.locator("#name")).to_have_text("agent-5", timeout=PATIENCE)
    assert popup.value.url == network.nodes[5]
    popup.value.close()


def test_levers_are_for_this_page_alone(network):
    """Another site can neither send JSON unasked nor ask under its own name; what is not there is named."""
    deeds, attack = f"{network.address}network/deeds", f"{network.address}network/attack"
    kill = json.dumps({"deed": "kill", "agent": 2}).encode()
    assert ask(deeds, kill, **{"content-type": "text/plain"})[0] == 415
    assert ask(deeds, kill, host="evil.example")[0] == 421
    assert ask(deeds, b'{"deed": "kill", "agent": 9}') == (400, "agent 9 does not exist; allowed: 1 to 5")
    assert ask(deeds, b'{"deed": "stop", "agent": 2}')[0] == 400
    assert ask(attack, b'{"attack": "file.py:Evil"}')[1].startswith("attack 'file.py:Evil' is not known here; allowed")


def test_a_guarded_node_asks_for_its_token(look, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    node = Process(1, tmp_path, http={"token_file": str(tmp_path / "token")}, report_every=0.2).start()
    try:
        page = look(f"{node.url}/", live=False, charts=False)
        expect(page.locator("#status")).to_have_text("token needed", timeout=PATIENCE)
        page.fill("#token", "a wrong one")
        page.press("#token", "Enter")
        expect(page.locator("#problem")).to_contain_text("not the node's")
        page.fill("#token", TOKEN)
        page.click("#token-form button")
        is_live(page)
        expect(page.locator("#arms-note")).to_contain_text("Nothing was pulled yet")
        expect(page.locator("#no-neighbours")).to_be_visible()
        expect(page.locator("#no-evidence")).to_be_visible()
        assert page.locator("#save-evidence").is_disabled()
        assert page.locator("#token-form").is_hidden()
    finally:
        assert node.stop() == 0


def test_the_pages_are_for_everybody(network, look):
    """At a desk, on a phone, at night: nothing sticks out, and axe finds nothing to complain about."""
    attack = json.dumps({"attack": "extreme"}).encode()
    assert ask(f"{network.address}network/attack", attack) == (204, "")
    pages = {"#plot-trust": look(network.nodes[3]), "#plot-regret": look(network.address)}
    expect(fate(pages["#plot-trust"], "agent-1")).to_have_attribute("data-fate", "expelled", timeout=PATIENCE)
    for plot, page in pages.items():
        page.wait_for_selector(f"{plot} .main-svg", timeout=PATIENCE)
        for width, scheme in ((1200, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            turn(page, scheme)
            page.wait_for_function("() => document.documentElement.scrollWidth <= window.innerWidth")
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        page.close()


def test_a_node_whose_key_is_accused_says_so_on_its_page(browser, tmp_path):
    """Somebody has signed two reports of one version with its key, and a neighbour has shown it the proof."""
    node = Process(1, tmp_path).start()
    assert node.stop() == 0
    one, other = frame(1, 5), frame(1, 5, (3, 3, 3, 4))
    with sqlite3.connect(node.directory / "agent-1" / "node.db") as file:
        row = (key_of(1).public, "equivocation", NETWORK, 1, 5, 0.0, one, other)
        file.execute("INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    node.start()
    page = browser.new_page()
    leave_undrawn(page)
    page.goto(node.url)
    expect(page.locator("#alarm")).to_contain_text("others hold proof of lying", timeout=PATIENCE)
    byzmab("node", "pardon", node.file, key_of(1).public)
    expect(page.locator("#alarm")).to_be_hidden(timeout=PATIENCE)
    assert node.stop() == 0


def test_the_page_of_a_node_with_too_few_neighbours_says_that_it_decides_alone(look, tmp_path):
    node = Process(1, tmp_path, [neighbour_of(2)], f="auto").start()
    page = look(node.url, charts=False)
    note = "This node decides alone. f = auto needs 4 neighbours or more, and this agent may hear 1"
    expect(page.locator("#ignored")).to_contain_text(note, timeout=PATIENCE)
    page.screenshot(path=tmp_path / "ignored.png")
    node.stop()
