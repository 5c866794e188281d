"""The lab's page of contexts: decision regions alone, believing everyone and filtering.

`BYZMAB_WRITE_DOCS=1 pytest tests/dashboard/test_contexts.py` also takes the picture of the documentation.
"""

import json
import os
from pathlib import Path

import pytest
from pages import open_page

pytest.importorskip("litestar")

from litestar.testing import TestClient

from byzmab import BadInput
from byzmab.core.contexts.reports import checked_context_report
from byzmab.dashboard.lab import regions
from byzmab.dashboard.lab.regions import ARMS, ATTACKS, GRID, Group, Regions
from byzmab.dashboard.lab.routes import make_app
from byzmab.dashboard.pages import serve_in_background

PATIENCE = 200_000  # ms: the first time compiles
DOCS = Path(__file__).parents[2] / "docs" / "lab"
SHORT = 80  # rounds


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(regions, "ROUNDS", SHORT)


def last_of(liars, attack):
    game = Regions(liars, attack)
    game.prepare()
    return list(game.updates())[-1]


def test_without_lies_believing_everyone_is_better_than_being_alone_and_with_them_only_filtering_is():
    honest, lied_to = last_of(0, "flip")["ways"], last_of(3, "constant")["ways"]
    assert honest["believing"]["regret"] < honest["alone"]["regret"] / 2
    assert lied_to["believing"]["regret"] > 2 * lied_to["alone"]["regret"]
    assert lied_to["filtering"]["regret"] < lied_to["alone"]["regret"] / 2
    assert lied_to["filtering"]["right"] > 0.85 > 0.7 > lied_to["believing"]["right"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_liars_tell_is_possible_by_itself(attack):
    group = Group("filtering", 1, attack)
    for _ in range(20):
        group.play(regions._points()[:: len(regions._points()) // 10][: len(group.agents)], [0.4] * len(group.agents))
    told = group.agents[0].report()
    assert checked_context_report(ATTACKS[attack](told), ARMS, 3) is not None


def test_the_page_is_told_regions_frame_by_frame(short):
    with TestClient(make_app()) as client:
        answer = client.post("/contexts/run", json={"liars": 1, "attack": "swap"})
        blocks = [block.split("\n") for block in answer.text.replace("\r\n", "\n").strip().split("\n\n")]
        events = [(name.partition(": ")[2], json.loads(data.partition(": ")[2])) for data, name in map(sorted, blocks)]
        names = [name for name, _ in events if name != "compiling"]
        assert names == ["begin", *["frame"] * 4, "end"]
        assert [frame["round"] for name, frame in events if name == "frame"] == [50, 60, 70, SHORT]
        frame = events[-2][1]
        assert frame["round"] == SHORT and list(frame["ways"]) == ["alone", "believing", "filtering"]
        for way in frame["ways"].values():
            assert [len(table) for table in way["estimates"]] == [GRID * GRID] * len(ARMS)
        curves = [frame["ways"]["alone"]["curve"] for name, frame in events if name == "frame"]
        assert sum(map(len, curves)) == SHORT // regions.TOLD_EVERY, "each point of the curve is sent once"
        for bad in ({"liars": 9, "attack": "swap"}, {"liars": 1, "attack": "none"}):
            refused = client.post("/contexts/run", json=bad)
            assert refused.status_code == 400 and "allowed" in refused.json()["detail"]
    with pytest.raises(BadInput, match="liars -1 is not allowed"):
        Regions(-1, "flip")


@pytest.mark.skipif("BYZMAB_WRITE_DOCS" not in os.environ, reason="takes pictures")
def test_pictures_are_taken(browser):
    with serve_in_background(make_app(), 0) as address:
        page = open_page(browser, f"{address}contexts", 1200, "#liars button")
        page.wait_for_selector("#verdict:not([hidden])", timeout=PATIENCE)
        page.screenshot(path=DOCS / "contexts-1200-light.png", full_page=True)


def test_three_pictures_fill_as_rounds_go_and_a_lever_plays_again(browser, short):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    with serve_in_background(make_app(), 0) as address:
        for width, scheme in ((1200, "light"), (390, "dark")):
            page = open_page(browser, f"{address}contexts", width, "#liars button", color_scheme=scheme)
            expect(page.locator("#verdict")).to_be_visible(timeout=PATIENCE)
            assert page.locator("figure .numbers").all_inner_texts()[2].startswith("right at")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert not Axe().run(page).response["violations"]
        before = page.locator("figure[data-way=believing] .numbers").inner_text()
        page.get_by_role("button", name="4").click()
        expect(page.locator("#verdict")).to_be_visible(timeout=PATIENCE)
        assert page.locator("figure[data-way=believing] .numbers").inner_text() != before
        page.locator("#round").press("Home")
        expect(page.locator("#status")).to_contain_text(f"Round {regions.FIRST_FRAME} of {SHORT}")
        assert not page.complaints and not page.foreign
        page.get_by_role("link", name="The lab").click()
        page.get_by_role("link", name="Contexts").click()
        page.wait_for_selector("#liars button")
