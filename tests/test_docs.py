"""The examples in the documentation run, and print what it says they print.

`BYZMAB_WRITE_DOCS=1 pytest tests/test_docs.py` runs the console examples too and writes all outputs anew.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.S | re.M)
WRITE = "BYZMAB_WRITE_DOCS" in os.environ


def run_console(body):
    """Run the commands of a console block; them and their output."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "110",
        "NO_COLOR": "1",
    }
    lines = []
    for command in (line[2:] for line in body.splitlines() if line.startswith("$ ")):
        done = subprocess.run(
            command, shell=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        lines += [f"$ {command}", *(line.rstrip() for line in done.stdout.rstrip().splitlines())]
    return "\n".join(lines) + "\n"


@pytest.mark.filterwarnings("ignore:f = ")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    space, printed = {"__name__": "__main__"}, None

    def run(block):
        nonlocal printed
        language, info, body = block.groups()
        title = re.search(r'title="([^"]+)"', info)
        if title and title[1] == "output":
            assert WRITE or body.rstrip() == printed.rstrip()
            body = printed.rstrip() + "\n"
        elif title:
            (tmp_path / title[1]).write_text(body)
        elif language == "console" and WRITE:
            body = run_console(body)
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(body, str(page), "exec"), space)
            printed = out.getvalue()
        return f"```{language}{info}\n{body}```"

    text = BLOCK.sub(run, page.read_text())
    if WRITE:
        page.write_text(text)


@pytest.mark.parametrize("name", ["ads", "relays"])
def test_the_example_files_are_those_of_the_pages(name):
    assert (ROOT / "examples" / f"{name}.toml").read_text().strip() in (
        ROOT / "docs" / "examples" / f"{name}.md"
    ).read_text()
