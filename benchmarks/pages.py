"""The lab in chromium: frames per second while curves grow, and the time until the story is told."""

import re
import shutil
import subprocess
import sys

COMMAND = [sys.executable, "-m", "byzmab.cli.main", "lab", "--port", "0", "--no-open"]
HEAVY = "#horizon=100000&runs=10|horizon=100000&runs=10&filter=mean"
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


def main() -> None:
    """Print frames per second, and seconds."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("pages: chromium is missing")
        return
    from playwright.sync_api import sync_playwright

    process = subprocess.Popen(COMMAND, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = next(line for line in process.stderr if line.startswith("the lab is at"))
    address = re.findall(r"http\S+/", line)[0]
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address)
            for _ in range(2):  # the first time may compile
                page.wait_for_selector("#tale-build:not([disabled])", timeout=300_000)
                told = page.locator("#tale-status").text_content()
                page.reload()
            print(f"pages: the story is told: {told}")
            page.goto("about:blank")
            page.goto(address + HEAVY)
            page.wait_for_selector("#plot-regret .main-svg", timeout=300_000)
            print(f"pages: {page.evaluate(COUNT):.0f} frames per second while curves grow; 30 are wanted")
            browser.close()
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
