"""Shared by all tests."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # naive.py is imported by name

# the first example compiles, and examples must not change from run to run
settings.register_profile("byzmab", deadline=None, derandomize=True)
settings.load_profile("byzmab")


@pytest.fixture
def browser():
    """Debian's chromium, without a screen."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    assert chromium, "chromium is missing; `make test` installs it as root, or install Debian's package chromium"
    quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=[*quiet, *sandbox])
        yield browser
        browser.close()
