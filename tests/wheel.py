"""Use byzmab as it was installed from its wheel: run by `make dist` where nothing else is."""

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import byzmab

COMMANDS = (
    ["--version"],
    ["list"],
    ["simulate", "--horizon", "200", "--runs", "2"],
    ["keygen", "node.key"],
)


def main():
    """Import everything that the package offers, run commands, and look for the files of the pages."""
    installed = Path(byzmab.__file__)
    assert "site-packages" in installed.parts, f"{installed} is not the installed package"
    for name in byzmab.__all__:
        getattr(byzmab, name)
    pages = {path.name for path in files("byzmab.dashboard").joinpath("static").iterdir()}
    assert {"lab.html", "node.html", "overview.html", "style.css"} <= pages, f"pages are missing: {sorted(pages)}"
    with tempfile.TemporaryDirectory() as directory:
        for command in COMMANDS:
            subprocess.run([sys.executable, "-m", "byzmab", *command], check=True, cwd=directory, capture_output=True)
    print(f"byzmab {byzmab.__version__} works as installed")


if __name__ == "__main__":
    main()
