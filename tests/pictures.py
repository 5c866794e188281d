"""Take the pictures of the live pages: `python tests/pictures.py` plays the default network for a minute and looks at it.

Those of the lab are taken by its tests: `BYZMAB_WRITE_DOCS=1 pytest tests/dashboard/test_lab.py`.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from command import BYZMAB
from pages import addresses_of

PICTURES = Path(__file__).parents[1] / "docs" / "live"
PLAYED = 65_000  # milliseconds: the liars are expelled after 40 s
SETTLED = 3_000


def main():
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        command = [*BYZMAB, "network", "--page-port", "0", "--data", f"{directory}/network"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            overview, nodes = addresses_of(process)
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            node = browser.new_page(viewport={"width": 1200, "height": 900})
            node.goto(nodes[3])  # it draws what it has seen since it was opened
            node.wait_for_timeout(PLAYED)
            node.screenshot(path=PICTURES / "node-1200-light.png", full_page=True)
            for width in (1200, 390):
                page = browser.new_page(viewport={"width": width, "height": 900})
                page.goto(overview)
                page.wait_for_selector("#plot-regret .main-svg")
                page.wait_for_timeout(SETTLED)
                page.screenshot(path=PICTURES / f"overview-{width}-light.png", full_page=True)
            browser.close()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


if __name__ == "__main__":
    sys.exit(main())
