"""Shared by all tests."""

import multiprocessing.process
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from byzmab.core import compiler

sys.path.insert(0, str(Path(__file__).parent))  # naive.py is imported by name

# the first example compiles, and examples must not change from run to run
settings.register_profile("byzmab", deadline=None, derandomize=True)
settings.load_profile("byzmab")

STARTED = []  # the processes, of Popen or Forked, that the running test has started
# What is compiled where it is imported, in the order in which one part needs the other; those in a row at the same time.
COMPILED = (
    ("byzmab.engine.round", "byzmab.testbed.warm, byzmab.contexts.pull"),
    ("byzmab.contexts.round", "byzmab.engine.widths, byzmab.engine.baseline_round"),
)
LONGEST = "with_every_index_checked"  # minutes, which another worker has for all others
MANY_CASES, ONE_IN = 6, 8  # with --sample, a test with more cases than this plays one in so many


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out tests that start a process or a browser")
    parser.addoption("--sample", action="store_true", help="of tests with many cases, play one case in eight")


def pytest_collection_modifyitems(config, items):
    """Begin with the longest test; with --sample leave out seven of eight cases of one that has many, always the same."""
    items.sort(key=lambda item: LONGEST not in item.nodeid)
    if not config.getoption("--sample"):
        return
    cases = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    many = [found for found in cases.values() if len(found) > MANY_CASES]
    left_out = {item for found in many for number, item in enumerate(found) if number % ONE_IN}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def nothing_kept(tmp_path, monkeypatch):
    """No plug-in of a user has been compiled before, whatever earlier runs of the tests have kept on disk."""
    monkeypatch.setattr(compiler, "OWN", str(tmp_path / "kept"))


def pytest_sessionstart(session):
    """Compile once what all workers import, each core its part: otherwise each of them compiles everything."""
    if hasattr(session.config, "workerinput") or not getattr(session.config.option, "numprocesses", None):
        return
    for stage in COMPILED:
        commands = [[sys.executable, "-c", f"import {modules}"] for modules in stage]
        started = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
        for process in started:
            process.wait()  # what cannot be imported is told of where tests import it


def pytest_configure():
    """Let Control-C reach what tests start: a shell that puts us into the background lets us ignore it, and them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Note which processes a test starts itself, apart from those of its fixtures."""
    from command import Forked

    def noting(start):
        def note(self, *arguments, **settings):
            start(self, *arguments, **settings)
            STARTED.append(self)

        return note

    with pytest.MonkeyPatch.context() as patch:
        for kind in (subprocess.Popen, Forked):
            patch.setattr(kind, "__init__", noting(kind.__init__))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    """End what a test that failed has left running: it would take the time of all that follow."""
    done = yield
    while STARTED:
        if (process := STARTED.pop()).poll() is None:
            process.kill()
    return done


@pytest.fixture(autouse=True, scope="session")
def no_processes(request):
    """With --quick, a test that starts a process is skipped as soon as it does; so none can be forgotten."""
    if not request.config.getoption("--quick"):
        yield
        return
    start = subprocess.Popen.__init__

    def refuse(*arguments, **settings):
        pytest.skip("starts a process")

    def open_process(self, command, *arguments, **settings):
        if command[0] != "git":  # provenance asks it for the revision
            refuse()
        start(self, command, *arguments, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", open_process)
        patch.setattr(multiprocessing.process.BaseProcess, "start", refuse)
        yield


@pytest.fixture(scope="module")
def chromium(request):
    """Debian's chromium, without a screen, for the tests of a module."""
    if request.config.getoption("--quick"):
        pytest.skip("starts a browser")
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    assert chromium, "chromium is missing; `make test` installs it as root, or install Debian's package chromium"
    quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=[*quiet, *sandbox])
        # Nothing moves by itself: a test would see a colour or a place half-way.
        browser.new_page = partial(browser.new_page, reduced_motion="reduce")
        yield browser
        browser.close()


@pytest.fixture
def browser(chromium):
    """The same for one test: pages share nothing with those of other tests, and those it opens are closed in the end."""
    before = {*chromium.contexts}
    yield chromium
    for context in {*chromium.contexts} - before:
        context.close()
