"""byzmab compare, and `python -m byzmab`."""

import json
import subprocess
import sys

from command import byzmab


def write(directory, name, **settings):
    lines = {"horizon": 300, "runs": 6, "workers": 1, **settings}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
    (directory / name).write_text(text)


def test_two_files_are_compared_run_by_run(tmp_path):
    write(tmp_path, "a.toml", filter="mean", attack="extreme")
    write(tmp_path, "b.toml", filter="trimmed", attack="extreme")
    told = json.loads(byzmab("compare", "a.toml", "b.toml", "--json", cwd=tmp_path).stdout)
    regret = [told[key]["regret"]["mean"] for key in "ab"]
    assert abs(told["difference"] - (regret[0] - regret[1])) < 1e-9
    assert told["low"] < told["difference"] < told["high"]
    assert told["differs"] is (told["low"] > 0 or told["high"] < 0)
    shown = byzmab("compare", "a.toml", "b.toml", cwd=tmp_path).stdout
    assert f"a.toml less b.toml: {told['difference']:+.2f}" in shown


def test_a_saved_result_is_compared_without_being_played_again(tmp_path):
    write(tmp_path, "a.toml", filter="trimmed")
    byzmab("simulate", "a.toml", "--out", "out", cwd=tmp_path)
    told = json.loads(byzmab("compare", "out/result.nc", "a.toml", "--json", cwd=tmp_path).stdout)
    assert (told["difference"], told["differs"]) == (0.0, False)


def test_results_of_one_name_are_told_apart_by_their_directories(tmp_path):
    for name in ("solo", "trimmed"):
        byzmab("simulate", "--horizon", 100, "--runs", 3, "--filter", name, "--out", name, cwd=tmp_path)
    shown = byzmab("compare", "solo/result.nc", "trimmed/result.nc", cwd=tmp_path).stdout
    assert "solo/result.nc less trimmed/result.nc: " in shown


def test_experiments_that_met_different_luck_are_refused_before_they_are_played(tmp_path):
    write(tmp_path, "a.toml", horizon=2_000_000_000)
    write(tmp_path, "b.toml", horizon=300)
    done = byzmab("compare", "a.toml", "b.toml", code=2, cwd=tmp_path)
    assert done.stderr == "error: horizon differs, 2000000000 and 300; allowed: experiments with the same horizon\n"


def test_python_m_byzmab_is_the_command():
    done = subprocess.run([sys.executable, "-m", "byzmab", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("byzmab ")
