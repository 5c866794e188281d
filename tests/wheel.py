"""Use byzmab as it was installed from its wheel: run by `make dist` where nothing else is.

With `bare` it was installed without extras: it simulates, and names the extra that a command lacks.
"""

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import byzmab

BARE = (["--version"], ["list"], ["simulate", "--horizon", "200", "--runs", "2"], ["bounds", "--horizon", "20"])
COMMANDS = (*BARE, ["keygen", "node.key"], ["simulate", "--horizon", "200", "--runs", "2", "--out", "result"])
LACKING = {"study": ["reproduce", "F1"], "node": ["keygen", "node.key"], "node,study": ["lab"]}


def run(command, directory):
    """What became of a command."""
    return subprocess.run([sys.executable, "-m", "byzmab", *command], cwd=directory, capture_output=True, text=True)


def check_bare(directory):
    """Without extras commands work, or end with one sentence that names the extra."""
    for extra, command in LACKING.items():
        ended = run(command, directory)
        assert ended.returncode == 2 and f"pip install 'byzmab[{extra}]'" in ended.stderr, ended.stderr


def check_whole():
    """Import everything that the package offers, and look for the files of the pages."""
    for name in byzmab.__all__:
        getattr(byzmab, name)
    pages = {path.name for path in files("byzmab.dashboard").joinpath("static").iterdir()}
    assert {"lab.html", "node.html", "overview.html", "style.css"} <= pages, f"pages are missing: {sorted(pages)}"


def main():
    """Check the package that is installed here, bare or whole, and run its commands."""
    installed = Path(byzmab.__file__)
    assert "site-packages" in installed.parts, f"{installed} is not the installed package"
    bare = sys.argv[1:] == ["bare"]
    with tempfile.TemporaryDirectory() as directory:
        for command in BARE if bare else COMMANDS:
            ended = run(command, directory)
            assert ended.returncode == 0, ended.stderr
        if bare:
            check_bare(directory)
        else:
            check_whole()
    print(f"byzmab {byzmab.__version__} works as installed{', bare' if bare else ''}")


if __name__ == "__main__":
    main()
