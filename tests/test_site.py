"""The documentation's site, opened from the disk as a person opens it who has no server and no network."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture
def wrong():
    """What a page asked of the network, and what went wrong in it."""
    return []


@pytest.fixture
def page(browser, wrong):
    page = browser.new_page()
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    page.on("pageerror", lambda error: wrong.append(error))  # playwright takes no bound method of a list
    yield page
    page.close()


def test_search_works_from_the_disk_and_asks_nobody(site, page, wrong):
    page.goto((site / "concepts/loop.html").as_uri())
    page.locator(".md-search__input").press_sequentially("guarded")  # it listens to keys, and `fill` presses none
    found = page.locator(".md-search-result__item")
    found.first.wait_for(timeout=60_000)
    assert any("Filters" in text for text in found.all_inner_texts())
    assert wrong == []


def test_formulas_are_drawn_as_mathematics(site, page):
    page.goto((site / "concepts/reports-and-beliefs.html").as_uri())
    formulas = page.locator("math")
    assert formulas.count() >= 3
    assert formulas.first.bounding_box()["height"] > 20  # a fraction under a root, not a line of text
    assert page.locator(".arithmatex").count() == 0


def test_a_logarithm_stands_apart_from_what_is_beside_it(site):
    formulas = (site / "concepts/theory.html").read_text()
    assert "<mi>ln</mi><mspace" in formulas
    assert "<mi>ln</mi><mi>" not in formulas and "</mn><mi>ln</mi>" not in formulas


def test_indices_stand_below_their_symbols_but_not_in_code(site, page):
    page.goto((site / "concepts/theory.html").as_uri())
    assert page.locator("article i:text-is('Q') + sub:text-is('j')").count() > 0
    page.goto((site / "concepts/loop.html").as_uri())
    assert page.locator("code:text-is('N_i')").count() > 0
