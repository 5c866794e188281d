"""What commands print fits a narrow, dumb terminal: nothing is cut, and nothing is said by colour alone."""

import json
import os
import re

import pytest
from command import Forked, Terminal

from byzmab.cli.layout import Table, numbers, print_table, words
from byzmab.cli.tables import show_network

CASES = {
    "simulate": ["simulate", "--horizon", "50", "--runs", "2", "--graph", "erdos-renyi:0.85", "--policy", "thompson:2.5,1.5"],
    "list": ["list"],
    "tournament": ["tournament", "--horizon", "50", "--runs", "2", "--filter", "trimmed", "--filter", "mean", "--policy", "ucb", "--agents", "6", "--graph", "complete"],
}  # fmt: skip


def printed(arguments, cwd, columns=80, term="dumb", notes=False):
    """What a command prints to a terminal of so many columns; with `notes` also what goes to stderr."""
    around = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    with Terminal(columns) as terminal:
        log = terminal.name if notes else os.devnull
        process = Forked(arguments, log, terminal.name, cwd, {**around, "TERM": term})
        text = terminal.read(process)
        assert process.wait() == 0
        return text


@pytest.mark.parametrize("command", CASES)
def test_eighty_columns_of_a_dumb_terminal_are_enough(command, tmp_path):
    text = printed(CASES[command], tmp_path)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text.replace("=…", "")  # nothing is cut; … is how parameters without a default are written
    assert "\x1b" not in text and not re.search("[─━┃│]", text)


def test_a_dumb_terminal_gets_lines_and_no_codes_from_both_streams(tmp_path):
    lines = printed(CASES["simulate"], tmp_path, notes=True).splitlines()
    assert all(lines) and not any("\x1b" in line for line in lines)


def test_names_and_numbers_are_whole_in_a_narrow_terminal(tmp_path):
    text = printed(CASES["simulate"], tmp_path)
    for word in ("trimmed", "thompson:2.5,1.5", "constant", "erdos-renyi:0.85"):
        assert word in text
    wide = printed([*CASES["simulate"], "--json"], tmp_path)
    assert f"{json.loads(wide)['messages']:,}" in text


def shown(table, capsys, monkeypatch, columns):
    monkeypatch.setattr("byzmab.cli.layout.FILE_WIDTH", columns)
    print_table(table)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= columns
    return text


def wide_table():
    columns = [*words("name"), *numbers("first"), *numbers("second", "third", rank=1), *numbers("fourth", rank=2)]
    table = Table("numbers of two", [*columns, *words("place", rank=1), *numbers("same", rank=1)])
    for row in "ab":
        table.add(f"row {row}", *(f"{row}-{number:020}" for number in range(4)), f"place {row}", "7")
    return table


def test_what_is_equal_in_all_rows_stands_once_above_the_table(capsys, monkeypatch):
    lines = shown(wide_table(), capsys, monkeypatch, 200).splitlines()
    assert lines[:2] == ["numbers of two", "same 7"]
    assert "left out" not in "".join(lines)


def test_a_table_too_wide_leaves_columns_out_by_rank_and_names_them(capsys, monkeypatch):
    text = shown(wide_table(), capsys, monkeypatch, 80)
    assert text.count("numbers of two") == 1 and text.count("row a") == 1
    assert "left out at 80 columns: third, fourth, place; a wider terminal" in text.replace("\n", " ")
    for row in "ab":
        assert f"{row}-{0:020}" in text and f"{row}-{1:020}" in text and f"{row}-{2:020}" not in text


def test_worse_than_solo_is_said_without_colour(tmp_path):
    cells = [
        "tournament",
        "--horizon",
        "400",
        "--runs",
        "4",
        "--filter",
        "mean",
        "--policy",
        "tuned",
        "--attack",
        "extreme",
    ]
    text = printed([*cells, "--agents", "6", "--graph", "complete"], tmp_path)
    assert re.search(r"\d\.\d\d ±\d\.\d\d!", text)  # believing everyone under extreme lies


def test_a_network_tells_of_every_proof_and_of_no_suspicion(capsys):
    pytest.importorskip("byzmab.node.evidence")
    kinds = {"agent-1": "equivocation", "agent-2": "sequence", "agent-4": "impossible"}
    evidence = [{"against": name, "kind": kind} for name, kind in kinds.items()]
    row = {"agent": 3, "lies": False, "url": "", "state": "up", "decisions": 1, "regret": 0.0, "solo_regret": 0.0}
    regret = {"regret": None, "solo_regret": None}
    agents = [{**row, "evidence": evidence, "refusals": {}, "expelled": []}]
    show_network({"seconds": 1.0, "attack": "extreme", "regret": regret, "agents": agents})
    told = capsys.readouterr().out
    assert "agent-1, agent-2" in told and "agent-4" not in told
