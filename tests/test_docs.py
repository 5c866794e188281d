"""The examples in the documentation run, and print what it says they print.

Python blocks print the very text of the block with the title "output" behind them. Console blocks are run in a shell,
and what they print is compared with numbers masked. A block that takes too long, or needs more than one machine, is left
out by a line before it, `<!-- not run: why -->`; there are few of these. `BYZMAB_WRITE_DOCS=1 pytest tests/test_docs.py`
writes all outputs anew.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command import run_byzmab

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^(<!-- not run: [^\n]+ -->\n)?```(\w*)([^\n]*)\n(.*?)^```$", re.S | re.M)
RUN = ("python", "console")
MOST_NOT_RUN = 2
WRITE = "BYZMAB_WRITE_DOCS" in os.environ
REWRITE = "the page prints something else; BYZMAB_WRITE_DOCS=1 writes all outputs anew"
# a command, and what a shell does with its output
OURS = re.compile(r"byzmab (?P<arguments>[^|&;<>$*`~]*?)(?P<quiet> 2>/dev/null)?(?P<rest> [|>] .*)?")
NUMBER = re.compile(r"[-+−]?\d[\d,.]*(e[-+]?\d+)?")


def named(page):
    return str(page.relative_to(ROOT))


def blocks_that_run(page):
    return [block for block in BLOCK.finditer(page.read_text()) if block[2] in RUN and not block[1]]


def run_command(command, environment):
    """What a line prints; our commands are forked, and a shell has the rest."""
    ours = OURS.fullmatch(command)
    if not ours:
        return run_shell(command, environment)
    arguments, together = shlex.split(ours["arguments"]), not (ours["quiet"] or ours["rest"])
    done = run_byzmab(arguments, environment=environment, together=together)
    told = "" if together or ours["quiet"] else done.stderr
    return told + (run_shell(f"cat{ours['rest']}", environment, done.stdout) if ours["rest"] else done.stdout)


def run_shell(command, environment, given=None):
    around = {"env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, shell=True, input=given, **around).stdout


def run_console(body):
    """Run the commands of a console block; them and their output."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "110",
        "NO_COLOR": "1",
    }
    commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
    assert commands, f"no line of this console block is a command, as '$ byzmab list' would be:\n{body}"
    lines = []
    for command in commands:
        printed = run_command(command, environment)
        told = [line.rstrip() for line in printed.rstrip().splitlines() if not line.startswith("compiling ")]
        lines += [f"$ {command}", *told]
    return "\n".join(lines) + "\n"


def masked(printed):
    """What was printed, without numbers, units of time, the widths of tables and the note on compiling."""
    lines = [line for line in printed.splitlines() if not line.startswith("compiling ")]
    text = NUMBER.sub("#", "\n".join(lines))
    return re.sub(r"[ ─━]+", " ", re.sub(r"# (s|min|h)\b", "# s", text)).strip()


@pytest.mark.filterwarnings("ignore:f = ")
@pytest.mark.parametrize("page", list(filter(blocks_that_run, PAGES)), ids=named)
def test_the_examples_of_a_page_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    space, printed = {"__name__": "__main__"}, None

    def run(block):
        nonlocal printed
        comment, language, info, body = block.groups()
        title = re.search(r'title="([^"]+)"', info)
        if comment:
            return block[0]
        if title and title[1] == "output":
            assert WRITE or body.rstrip() == printed.rstrip(), REWRITE
            body = printed.rstrip() + "\n"
        elif title:
            (tmp_path / title[1]).write_text(body)
        elif language == "console":
            shown = run_console(body)
            assert WRITE or masked(shown) == masked(body), REWRITE
            body = shown
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(body, str(page), "exec"), space)
            printed = out.getvalue()
        return f"```{language}{info}\n{body}```"

    text = BLOCK.sub(run, page.read_text())
    if WRITE:
        page.write_text(text)


def test_few_blocks_are_not_run_and_each_says_why():
    left_out = [
        (named(page), block[1].strip()) for page in PAGES for block in BLOCK.finditer(page.read_text()) if block[1]
    ]
    assert len(left_out) <= MOST_NOT_RUN, left_out


def test_a_changed_word_in_an_output_is_noticed_and_a_changed_number_is_not():
    told = "$ byzmab list\n┃ filter ┃ 12.5 ┃\n"
    assert masked(told) == masked("compiling filter trimmed …\n$ byzmab list\n┃ filter ┃  -7 ┃\n")
    assert masked(told) != masked(told.replace("filter", "policy"))


@pytest.mark.parametrize("name", ["ads", "relays"])
def test_the_example_files_are_those_of_the_pages(name):
    assert (ROOT / "examples" / f"{name}.toml").read_text().strip() in (
        ROOT / "docs" / "examples" / f"{name}.md"
    ).read_text()
