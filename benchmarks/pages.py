"""The lab in chromium: its first view with a cold cache, the time until the story is told, frames while curves grow."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

COMMAND = [sys.executable, "-m", "byzmab.cli.main", "lab", "--port", "0", "--no-open"]
HEAVY = "#horizon=100000&runs=10|horizon=100000&runs=10&filter=mean"
LINK = "#graph=ring%3A4&filter=guarded&horizon=600&runs=4"
COUNT = """() => new Promise((resolve) => {
  const began = performance.now();
  let frames = 0;
  const next = () => {
    frames += 1;
    const growing = !document.getElementById("cancel").disabled;
    if (growing && performance.now() - began < 8000) requestAnimationFrame(next);
    else resolve((1000 * frames) / (performance.now() - began));
  };
  requestAnimationFrame(next);
})"""
SAYS = "(id) => document.getElementById(id).textContent.includes('ompiling')"


@contextmanager
def lab(**environment: str) -> Iterator[str]:
    """A lab, by its address."""
    process = subprocess.Popen(COMMAND, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    assert process.stderr is not None
    line = next(line for line in process.stderr if line.startswith("the lab is at"))
    try:
        yield re.findall(r"http\S+/", line)[0]
    finally:
        process.terminate()
        process.wait()


def measure_cold(browser: Any, fragment: str, drawn: str, status: str) -> tuple[float, float]:
    """Seconds from the command, nothing compiled, until a graph is drawn and until the page says that it compiles."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as empty, lab(BYZMAB_CACHE_DIR=empty) as address:
        page.goto(address + fragment)
        page.wait_for_selector(drawn)
        seen = time.perf_counter() - began
        page.wait_for_function(SAYS, arg=status)
        said = time.perf_counter() - began
        page.close()
    return seen, said


def measure_story(page: Any, address: str) -> str:
    """What the page says of the story once all of it is compiled."""
    page.goto(address)
    told = ""
    for _ in range(2):  # the first time may compile
        page.wait_for_selector("#tale-build:not([disabled])", timeout=300_000)
        told = page.locator("#tale-status").text_content()
        page.reload()
    return told


def main() -> None:
    """Print seconds, and frames per second."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("pages: chromium is missing")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, *where in (
            ("the story", "", "#tale-network .agent", "tale-status"),
            ("a shared link", LINK, "#form .network .agent", "status"),
        ):
            seen, said = measure_cold(browser, *where)
            print(f"pages: {name}, cache cold: its graph after {seen:.1f} s, says that it compiles after {said:.1f} s")
        with lab() as address:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            print(f"pages: the story is told: {measure_story(page, address)}")
            page.goto("about:blank")
            page.goto(address + HEAVY)
            page.wait_for_selector("#plot-regret .main-svg", timeout=300_000)
            print(f"pages: {page.evaluate(COUNT):.0f} frames per second while curves grow; 30 are wanted")
        browser.close()


if __name__ == "__main__":
    main()
