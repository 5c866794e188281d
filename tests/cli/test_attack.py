"""byzmab attack search, as a stranger meets it."""

import json
import os
import signal
import subprocess
import sys

import pytest
from command import Forked, byzmab
from waiting import LONG, until

SMALL = ["--horizon", "200", "--runs", "4", "--trials", "6", "--search-runs", "2"]


def test_a_search_leaves_an_attack_that_simulate_accepts(tmp_path):
    printed = json.loads(byzmab("attack", "search", *SMALL, "--filter", "pooled", "--json", cwd=tmp_path).stdout)
    assert printed["experiment"]["filter"] == "pooled"
    assert printed["search"]["trials"] == len(printed["search"]["regrets"]) == 6
    assert printed["fresh"]["seed"] != printed["search"]["seed"]
    assert json.loads((tmp_path / "attack/search.json").read_text()) == printed
    flags = ["--horizon", "200", "--runs", "4", "--filter", "pooled", "--seed", printed["fresh"]["seed"], "--json"]
    again = byzmab("simulate", *flags, "--attack", "attack/found.py:Found", cwd=tmp_path)
    assert json.loads(again.stdout)["regret"]["mean"] == printed["fresh"]["attacks"]["found"]["regret"]["mean"]
    table = byzmab("attack", "search", *SMALL, "--filter", "pooled", cwd=tmp_path).stdout
    assert "found exceeds it by" in table
    for name in ("extreme", "adaptive", "solo"):
        assert f"{printed['fresh']['attacks'][name]['excess']['difference']:+.2f}" in table


def test_all_filters_are_shown_in_a_table_of_eighty_columns(tmp_path):
    sizes = ["--horizon", "50", "--runs", "2", "--trials", "3", "--search-runs", "1", "--restarts", "1"]
    lines = byzmab("attack", "search", "--all-filters", *sizes, cwd=tmp_path).stdout.splitlines()
    written = json.loads((tmp_path / "attack/worst-cases.json").read_text())
    rows = {(row["filter"], row["policy"]): row for row in written}
    assert ("guarded", "moss") in rows
    assert ("trimmed", "ucb") in rows
    assert all(filter != "solo" for filter, _ in rows)
    assert (tmp_path / "attack/guarded-moss/found.py").exists()
    table = [line for line in lines if "crafted" not in line]
    assert max(map(len, table)) <= 80
    for (filter, policy), row in rows.items():
        line = next(line for line in table if f" {filter} " in line and f" {policy} " in line)
        for key in ("solo", "named", "found"):
            assert f"{row[key]['regret']['mean']:.1f} ±" in line
        assert row["named"]["attack"].replace(":careful=1", "*") in line
        assert f"{filter} {policy}: {row['found']['attack']}" in lines


def test_all_filters_are_played_with_the_policy_given_and_printed_as_written(tmp_path):
    sizes = [
        "--agents",
        "3",
        "--byzantine",
        "1",
        "--horizon",
        "2",
        "--runs",
        "2",
        "--trials",
        "3",
        "--search-runs",
        "1",
    ]
    done = byzmab("attack", "search", "--all-filters", "--policy", "greedy", *sizes, "--json", cwd=tmp_path)
    printed = json.loads(done.stdout)["worst_cases"]
    assert {row["policy"] for row in printed} == {"greedy"}
    assert json.loads((tmp_path / "attack/worst-cases.json").read_text()) == printed


def test_the_settings_may_come_from_a_file(tmp_path):
    (tmp_path / "e.toml").write_text('horizon = 100\nruns = 2\narms = [0.9, 0.1]\nout = "here"\nworkers = 1\n')
    byzmab("attack", "search", "e.toml", "--trials", "3", "--search-runs", "1", cwd=tmp_path)
    assert json.loads((tmp_path / "here/search.json").read_text())["experiment"]["arms"] == [0.9, 0.1]


def test_control_c_leaves_the_worst_so_far(tmp_path):
    arguments = ["attack", "search", "--trials", "100000", "--horizon", "300", "--search-runs", "1"]
    process = Forked(arguments, tmp_path / "err", tmp_path / "out", tmp_path)
    until(lambda: len(list(tmp_path.rglob("attack/points/*/*.npz"))) >= 5 or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=LONG) == 130
    assert (tmp_path / "out").read_text() == ""
    err = (tmp_path / "err").read_text()
    assert "Traceback" not in err
    assert "attack/found.py" in err
    assert err.splitlines()[-1] == "stopped"
    saved = json.loads((tmp_path / "attack/search.json").read_text())
    assert saved["search"]["interrupted"] is True
    assert saved["fresh"] is None
    byzmab("simulate", "--horizon", "50", "--runs", "1", "--attack", "attack/found.py:Found", cwd=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--trials", "2"], "trials 2"),
        (["--search-runs", "0"], "search runs 0"),
        (["--runs", "1"], "runs 1"),
        (["--optimizer", "tpi"], "did you mean 'tpe'"),
        (["--goal", "regrets"], "did you mean 'regret'"),
        (["--lock-in", "-1"], "lock-in -1.0"),
        (["--restarts", "0"], "restarts 0"),
        (["--byzantine", "0"], "byzantine 0"),
        (["--all-filters", "--runs", "1"], "runs 1"),
        (["--all-filters", "--policy", "gredy"], "did you mean 'greedy'"),
        (["--filter", "solo"], "filter 'solo'"),
        (["--filter", "poold"], "did you mean 'pooled'"),
        (["--trails", "9"], "--trails"),
        (["--out", "/proc/nowhere"], "/proc/nowhere"),
    ],
)
def test_bad_input_ends_with_one_sentence_and_code_2(arguments, words, tmp_path):
    done = byzmab("attack", "search", *arguments, cwd=tmp_path, code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("missing", ["optuna", "cmaes"])
def test_without_optuna_the_pip_line_is_told(missing, tmp_path):
    code = f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['byzmab', 'attack', 'search']\nfrom byzmab.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 2
    told = done.stderr.splitlines()[-1]  # the first command after an edit says that it compiles
    assert told == f"error: attack search needs {missing}, which is missing: pip install 'byzmab[search]'"


def test_help_tells_how_long_it_takes_and_needs_no_numba(tmp_path):
    code = "import sys; sys.argv = ['byzmab', 'attack', 'search', '--help']\nfrom byzmab.cli import main\ntry: main.main()\nexcept SystemExit: pass\nprint([m for m in ('numba', 'numpy', 'optuna') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.endswith("[]\n"), done.stdout[-300:]
    assert "minutes" in done.stdout
    assert "--search-runs" in done.stdout
