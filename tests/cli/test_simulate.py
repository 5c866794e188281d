"""The command line, as a stranger meets it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from command import BYZMAB, Forked, Terminal, byzmab
from waiting import LONG

from byzmab import Result, __version__

SMALL = ["--agents", "5", "--byzantine", "1", "--horizon", "200", "--runs", "3"]


def simulate_json(*arguments, **settings):
    return json.loads(byzmab("simulate", *SMALL, *arguments, "--json", **settings).stdout)


def test_json_is_the_contract():
    printed = simulate_json()
    assert set(printed) >= {"experiment", "regret", "messages", "agent_steps", "seconds", "agent_steps_per_second"}
    assert set(printed["regret"]) == {"mean", "std", "stderr", "per_agent"}
    assert printed["experiment"]["f"] == 1
    assert printed["agent_steps"] == 3 * 5 * 200
    assert printed["messages"] == 3 * 20 * 200
    assert printed["arms_told"] == 4 * printed["messages"]


def test_the_saving_is_that_over_the_same_agents_solo():
    printed = simulate_json("--attack", "none")
    solo = simulate_json("--attack", "none", "--filter", "solo")
    assert printed["solo"]["mean"] == solo["regret"]["mean"] and solo["solo"] is solo["saving"] is None
    saving = printed["saving"]
    assert saving["mean"] == pytest.approx(1 - printed["regret"]["mean"] / solo["regret"]["mean"])
    assert saving["low"] < saving["mean"] < saving["high"]
    assert simulate_json("--no-solo")["saving"] is None


def test_the_first_line_is_the_answer():
    lines = byzmab("simulate", *SMALL).stdout.splitlines()
    assert re.fullmatch(r"regret \S+ ±\S+ per honest agent; solo \S+ ±\S+; (saves|costs) .+", lines[0])
    assert lines[1].startswith("trimmed with ucb against constant on complete: 1 of 5 agents Byzantine, 200 rounds")


def test_bytes_are_of_what_was_really_told():
    told = simulate_json("--tell", "growth:0.1", "--attack", "starve")
    assert told["messages"] <= told["arms_told"] < 3 * 20 * 200
    assert told["bytes"] == 16 * told["arms_told"]


def test_one_run_has_no_standard_deviation():
    regret = simulate_json("--runs", "1")["regret"]
    assert regret["std"] is None
    assert regret["stderr"] is None


def test_workers_do_not_change_a_digit():
    assert simulate_json("--workers", "1")["regret"] == simulate_json("--workers", "3")["regret"]


def test_flags_win_over_the_file_and_both_say_the_same(tmp_path):
    (tmp_path / "e.toml").write_text(
        'agents = 5\nbyzantine = 1\nhorizon = 200\nruns = 3\nattack = "extreme"\narms = [0.9, 0.1]\n'
    )
    from_file = json.loads(byzmab("simulate", "e.toml", "--json", cwd=tmp_path).stdout)
    from_flags = simulate_json("--attack", "extreme", "--arms", "0.9,0.1")
    assert from_file["regret"] == from_flags["regret"]
    assert from_file["experiment"] == from_flags["experiment"]
    changed = json.loads(byzmab("simulate", "e.toml", "--json", "--attack", "none", cwd=tmp_path).stdout)
    assert changed["experiment"]["attack"] == "none"


def test_a_file_may_say_how_it_is_run(tmp_path):
    (tmp_path / "e.toml").write_text(
        'agents = 5\nbyzantine = 1\nhorizon = 50\nruns = 2\ntime-varying = true\njson = true\nworkers = 1\nout = "here"\n'
    )
    printed = json.loads(byzmab("simulate", "e.toml", cwd=tmp_path).stdout)
    assert printed["experiment"]["time_varying"] is True
    assert (tmp_path / "here" / "result.nc").exists()
    (tmp_path / "bad.toml").write_text("workers = 0\n")
    assert "workers 0" in byzmab("simulate", "bad.toml", cwd=tmp_path, code=2).stderr


def test_a_result_killed_while_it_is_written_leaves_the_old_one_whole(tmp_path):
    byzmab("simulate", *SMALL, "--out", tmp_path)
    before = (tmp_path / "result.nc").read_bytes()
    code = "import os, sys; from byzmab.results.result import Result\nResult.save = lambda self, path: (open(path, 'w').write('half'), os._exit(9))\nsys.argv = ['byzmab', *sys.argv[1:]]\nfrom byzmab.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "simulate", *SMALL, "--seed", "5", "--overwrite", "--out", str(tmp_path)]
    )
    assert done.returncode == 9
    assert (tmp_path / "result.nc").read_bytes() == before


def test_what_cannot_be_written_is_told(tmp_path):
    (tmp_path / "result.nc").mkdir()
    assert "result.nc" in byzmab("simulate", *SMALL, "--out", tmp_path, code=2).stderr


def test_every_option_of_the_contract_is_a_flag():
    options = [
        "--kappa", "1.1,1.3,1.6,1.9", "--graph", "erdos-renyi:0.8", "--time-varying", "--filter", "trimmed", "--memory", "2",
        "--policy", "tuned", "--rewards", "bernoulli,beta", "--subset", "3", "--epoch", "2", "--delay", "1", "--tell", "growth:0.2", "--algorithm",
        "resilient", "--seed", "7", "--f", "1", "--attack", "constant:0.4,0.5", "--workers", "1",
    ]  # fmt: skip
    settings = simulate_json(*options)["experiment"]
    assert settings["kappa"] == [1.1, 1.3, 1.6, 1.9]
    assert settings["rewards"] == ["bernoulli", "beta"]
    assert settings["time_varying"] is True
    assert settings["tell"] == "growth:0.2"
    assert (settings["subset"], settings["epoch"], settings["delay"], settings["memory"], settings["seed"]) == (
        3,
        2,
        1,
        2,
        7,
    )
    assert simulate_json("--kappa", "random", "--arms", "random:20")["experiment"]["arms"] == "random:20"


def test_out_leaves_what_reproduces_the_result(tmp_path):
    (tmp_path / "g.json").write_text(
        '{"nodes": [{"id": 1}, {"id": 2}, {"id": 3}], "edges": [{"source": 1, "target": 2}, {"source": 3, "target": 2}]}'
    )
    flags = ["--graph", "g.json", "--byzantine", "1", "--horizon", "100", "--runs", "2", "--f", "0"]
    first = byzmab("simulate", *flags, "--out", "here/there", "--json", cwd=tmp_path)
    out = tmp_path / "here/there"
    assert sorted(path.name for path in out.iterdir()) == [
        ".byzmab.json",
        "experiment.toml",
        "graph.json",
        "regret.pdf",
        "regret.png",
        "result.nc",
        "solo.nc",
    ]
    again = byzmab("simulate", out / "experiment.toml", "--json", cwd=tmp_path / "here")
    assert json.loads(again.stdout)["regret"] == json.loads(first.stdout)["regret"]
    assert Result.load(out / "result.nc").summary()["regret"] == json.loads(first.stdout)["regret"]


def test_out_keeps_a_copy_of_plugins_and_no_absolute_path(tmp_path):
    (tmp_path / "plug").mkdir()
    (tmp_path / "plug" / "mine.py").write_text(
        "from byzmab.attacks.extreme import Extreme\nclass Mine(Extreme):\n    pass\n"
    )
    first = simulate_json("--attack", tmp_path / "plug" / "mine.py:Mine", "--out", "out", cwd=tmp_path)
    assert str(tmp_path) not in (tmp_path / "out" / "experiment.toml").read_text()
    (tmp_path / "plug" / "mine.py").unlink()
    again = byzmab("simulate", tmp_path / "out" / "experiment.toml", "--json", cwd="/")
    assert json.loads(again.stdout)["regret"] == first["regret"]


def test_a_plugin_in_the_current_directory_is_found(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from byzmab import Policy, compiled\n\n@compiled\ndef choose(belief, time, params, rng):\n    return 0\n\n"
        "class First(Policy):\n    choose = staticmethod(choose)\n"
    )
    printed = simulate_json("--policy", "mine:First", "--arms", "0.5,0.4", cwd=tmp_path)
    assert printed["regret"]["mean"] == 0.0
    assert simulate_json("--policy", "mine.py:First", "--arms", "0.4,0.5", cwd=tmp_path)["regret"][
        "mean"
    ] == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--f", "-1"], "f -1"),
        (["--f", "many"], "f 'many'"),
        (["--kappa", "2"], "kappa 2.0"),
        (["--kappa", "a"], "kappa 'a'"),
        (["--arms", "0.5"], "arms 0.5"),
        (["--arms", "means.tsv"], "allowed: numbers with commas between them, FILE.csv, or random:M"),
        (["--algorithm", "mine"], "or your own as file.py:Name"),
        (["--arms", "0.5,nan"], "arms [0.5, nan] is not allowed"),
        (["--byzantine", "10"], "byzantine 10"),
        (["--runs", "0"], "runs 0"),
        (["--agents", "1e3"], "'1e3'"),
        (["--tell", "growth:2"], "tell 'growth:2'"),
        (["--workers", "0"], "workers 0"),
        (["--horizon", "0"], "horizon 0"),
        (["--attack", "extrem"], "did you mean 'extreme'"),
        (["--graph", "none.json"], "none.json"),
        (["--out", "/proc/nowhere"], "/proc/nowhere"),
        (["--atack", "none"], "--atack"),
        (["nowhere.toml"], "nowhere.toml"),
    ],
)
def test_bad_input_ends_with_one_sentence_and_code_2(arguments, words):
    done = byzmab("simulate", *arguments, code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unknown_command_is_told_with_those_that_there_are():
    told = byzmab("simulat", code=2).stderr
    assert told.startswith("error: No such command 'simulat'.") and " Known: simulate, reproduce, " in told


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_closed_streams_are_written_to_in_silence(closed):
    command = f"{shlex.join(BYZMAB)} simulate --horizon 50 --runs 2 {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert ("regret" in done.stdout) == (closed == "2>&-")


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "marked.toml").write_text("runs = 2\nhorizon = 7\n", encoding="utf-8-sig")
    told = json.loads(byzmab("simulate", "marked.toml", "--json", cwd=tmp_path).stdout)
    assert told["experiment"]["horizon"] == 7


def test_an_unwritable_directory_is_told_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("")
    done = byzmab("simulate", "--horizon", 10**9, "--out", tmp_path / "file" / "out", code=2)
    assert "cannot be written to" in done.stderr


def test_too_large_an_f_is_warned_of_on_stderr_alone():
    done = byzmab("simulate", *SMALL, "--f", "2", "--json")
    json.loads(done.stdout)
    assert [line for line in done.stderr.splitlines() if line.startswith("warning: f = 2 needs 5")]


@pytest.mark.parametrize("command", ["simulate", "bounds"])
def test_more_liars_than_f_are_warned_of_on_stderr_alone(command):
    done = byzmab(command, "--horizon", 50, "--runs", 2, "--f", 1, "--byzantine", 2, "--json")
    warned = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 1
    assert "f = 1 is too small" in warned[0]
    printed = json.loads(done.stdout)
    if command == "bounds":
        assert {agent["upper_bound"] for agent in printed["agents"]} == {None}


def test_everything_there_is_can_be_listed():
    listed = json.loads(byzmab("list", "--json").stdout)
    assert {"trimmed", "screened"} <= set(listed["filter"])
    assert "two-case" in listed["graph"]
    assert all(entry["about"] for kind in listed.values() for entry in kind.values())
    assert "kl-ucb" in byzmab("list").stdout


def test_one_kind_can_be_listed_alone():
    assert set(json.loads(byzmab("list", "filter", "--json").stdout)) == {"filter"}
    shown = byzmab("list", "filter").stdout
    assert shown.startswith("filter\n") and "trimmed" in shown and "kl-ucb" not in shown
    assert "kind 'filters' is not known; did you mean 'filter'? known: " in byzmab("list", "filters", code=2).stderr


def test_what_may_be_left_out_stands_in_one_pair_of_brackets():
    assert "[OPTIONS] [FILE.toml] " in byzmab("simulate", "--help").stdout


def test_the_version_is_told():
    assert byzmab("--version").stdout == f"byzmab {__version__}\n"


def test_help_needs_no_numba():
    """Help is instant because nothing heavy is imported for it."""
    code = "import sys; sys.argv = ['byzmab', 'simulate', '--help']\nfrom byzmab.cli import main\ntry: main.main()\nexcept SystemExit: pass\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print([m for m in ('numba', 'numpy', 'xarray') if m in sys.modules])"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith("[]\n"), done.stdout[-300:]


def test_control_c_stops_at_once_and_says_so(tmp_path):
    with Terminal() as terminal:
        process = Forked(["simulate", "--horizon", "100000000", "--json"], terminal.name, tmp_path / "out")
        shown = terminal.read(process, until="simulating")
        process.send_signal(signal.SIGINT)
        shown += terminal.read(process)
    assert process.wait() == 130
    assert (tmp_path / "out").read_text() == ""
    assert shown.endswith("stopped\n")
    assert "Traceback" not in shown


def test_a_progress_bar_is_shown_on_a_terminal_and_not_in_a_pipe():
    assert "simulating" not in byzmab("simulate", *SMALL).stderr
    with Terminal() as terminal:
        around = {**os.environ, "TERM": "xterm"}
        shown = terminal.read(Forked(["simulate", *SMALL], terminal.name, os.devnull, environment=around))
    assert "simulating" in shown
    assert "100%" in shown


CAUGHT_HALF_MADE = """
import os, signal
from byzmab.cli import main

class HalfMade:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGINT)
        self.file = None
    def __del__(self):
        self.file

main.app = lambda **settings: HalfMade()
main.main()
"""


LOST_IN_A_LIBRARY = """
import ctypes, signal, time
from byzmab.cli import main

@ctypes.CFUNCTYPE(None)
def called_by_a_library():
    signal.raise_signal(signal.SIGINT)

def app(**settings):
    called_by_a_library()
    END

main.app = app
main.main()
"""


@pytest.mark.parametrize("end", ["time.sleep(3600)", "raise RuntimeError('no compiled object yet')"])
def test_control_c_is_not_lost_while_a_library_calls_back(end):
    """numba compiles so: an exception does not leave what it calls, and what it made is missing afterwards."""
    program = [sys.executable, "-c", LOST_IN_A_LIBRARY.replace("END", end)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=LONG)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def test_what_control_c_catches_half_made_does_not_complain():
    done = subprocess.run([sys.executable, "-c", CAUGHT_HALF_MADE], capture_output=True, text=True, timeout=LONG)
    assert (done.returncode, done.stderr) == (130, "stopped\n")
