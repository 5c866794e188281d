"""An output directory is resumed by the same work and refused to any other: nothing a person made is lost silently."""

import json
import time
from dataclasses import replace

import pytest
from command import Forked, byzmab

import byzmab as package
from byzmab import BadInput, Experiment, Result
from byzmab.results.outputs import RECORD, Work, open_output
from byzmab.search import save_search, search_attack
from byzmab.search.keep import work_of

SMALL = ["--horizon", "60", "--runs", "2"]
EXPERIMENT = Experiment(horizon=60, runs=2)
SEARCH = ["attack", "search", *SMALL, "--trials", "3", "--search-runs", "1"]
COMPARISON = ["compare-algorithms", "trimmed", "--network", "2 lie, 4 arms, complete", "--attack", "extreme"]
COMPARISON += ["--horizon", "60", "--runs", "2", "--trials", "3"]
TOURNAMENT = ["tournament", "--filter", "trimmed", "--policy", "ucb", "--graph", "complete", "--agents", "5"]
TOURNAMENT += ["--byzantine", "1", *SMALL, "--attack", "extreme"]
GRID = "[experiment]\nhorizon = 60\nruns = 2\n[grid]\nkappa = [1.1, 1.5]\n"
COMMANDS = {  # what is done first, what is other work
    "simulate": (["simulate", *SMALL], ["--seed", "5"]),
    "bounds": (["bounds", *SMALL], ["--seed", "5"]),
    "attack search": (SEARCH, ["--trials", "4"]),
    "tournament": (TOURNAMENT, ["--seed", "5"]),
    "compare-algorithms": (COMPARISON, ["--seed", "5"]),
    "as published": (["reproduce", "--as-published", *SMALL], ["--seed", "5"]),
    "reproduce": (["reproduce", "F5", *SMALL], ["--seed", "5"]),
    "sweep": (["sweep", "grid.toml", "--plot"], ["--kappa", "1.1"]),
}


def content(directory):
    return {path: path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def refused(done, *words):
    """It ended with exit code 2 and one sentence that says what is there and what is allowed."""
    assert done.stderr.splitlines()[-1].startswith("error: "), done.stderr
    assert done.stderr.count("error: ") == 1 and done.stdout == ""
    for word in (*words, "allowed: "):
        assert word in done.stderr, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_work_is_resumed_and_other_work_refused_unless_told_to_overwrite(command, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    same, other = COMMANDS[command]
    byzmab(*same, "--out", "out", cwd=tmp_path)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    byzmab(*same, "--out", "out", cwd=tmp_path)
    before = content(tmp_path / "out")
    refused(byzmab(*same, *other, "--out", "out", cwd=tmp_path, code=2), "'out'", "--overwrite")
    assert content(tmp_path / "out") == before
    byzmab(*same, *other, "--out", "out", "--overwrite", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= names
    refused(byzmab(*same, "--out", "out", cwd=tmp_path, code=2)) if command != "sweep" else None


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_of_something_else_is_refused_and_left_as_it_is(command, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    (tmp_path / "thesis").mkdir()
    for name in ("chapter.tex", "report.html", "result.nc", "found.py"):
        (tmp_path / "thesis" / name).write_text("mine")
    before = content(tmp_path / "thesis")
    refused(byzmab(*COMMANDS[command][0], "--out", "thesis", cwd=tmp_path, code=2), "thesis", "chapter.tex")
    assert content(tmp_path / "thesis") == before


def test_a_result_that_is_there_is_shown_and_what_a_person_edited_stays(tmp_path):
    first = byzmab("simulate", *SMALL, "--json", "--out", "out", cwd=tmp_path)
    (tmp_path / "out/experiment.toml").write_text("# edited\n")
    before = content(tmp_path / "out")
    again = byzmab("simulate", *SMALL, "--json", "--out", "out", cwd=tmp_path)
    assert again.stdout == first.stdout
    assert "holds this result already" in again.stderr
    assert content(tmp_path / "out") == before
    (tmp_path / "out/regret.png").unlink()
    byzmab("simulate", *SMALL, "--out", "out", cwd=tmp_path)
    assert (tmp_path / "out/regret.png").exists()
    assert (tmp_path / "out/experiment.toml").read_text() == "# edited\n"


def test_a_broken_result_of_the_same_experiment_is_made_again(tmp_path):
    first = json.loads(byzmab("simulate", *SMALL, "--json", "--out", "out", cwd=tmp_path).stdout)
    (tmp_path / "out/result.nc").write_bytes(b"\x89HDF\r\n\x1a\nbroken")
    again = json.loads(byzmab("simulate", *SMALL, "--json", "--out", "out", cwd=tmp_path).stdout)
    assert again["regret"] == first["regret"]
    assert Result.load(tmp_path / "out/result.nc").summary()["regret"] == first["regret"]


def test_a_result_that_another_experiment_left_there_is_not_shown_for_this_one(tmp_path):
    byzmab("simulate", *SMALL, "--out", "out", cwd=tmp_path)
    package.simulate(EXPERIMENT.but(seed=3)).save(tmp_path / "out/result.nc")
    before = content(tmp_path / "out")
    assert "another experiment's" in byzmab("simulate", *SMALL, "--out", "out", cwd=tmp_path, code=2).stderr
    assert content(tmp_path / "out") == before


def test_reports_of_two_commands_do_not_replace_each_other(tmp_path):
    byzmab(*TOURNAMENT, "--out", "out", cwd=tmp_path)
    before = (tmp_path / "out/report.html").read_bytes()
    refused(byzmab("reproduce", "F5", *SMALL, "--out", "out", cwd=tmp_path, code=2), "report.html", "byzmab tournament")
    assert (tmp_path / "out/report.html").read_bytes() == before
    byzmab("bounds", *SMALL, "--out", "out", cwd=tmp_path)  # its names are free
    assert (tmp_path / "out/bounds.png").exists()


def test_a_tournament_may_grow_and_not_shrink(tmp_path):
    byzmab(*TOURNAMENT, "--out", "out", cwd=tmp_path)
    byzmab(*TOURNAMENT, "--attack", "mimic", "--out", "out", cwd=tmp_path)
    refused(byzmab(*TOURNAMENT, "--out", "out", cwd=tmp_path, code=2), "attack mimic as well")


def test_searches_of_one_and_of_all_filters_stand_side_by_side(tmp_path):
    byzmab(*SEARCH, cwd=tmp_path)
    byzmab(*SEARCH, "--all-filters", "--policy", "greedy", cwd=tmp_path)
    names = {path.name for path in (tmp_path / "attack").iterdir()}
    assert {"found.py", "worst-cases.json", "pooled-greedy"} <= names
    refused(
        byzmab(*SEARCH, "--all-filters", "--policy", "ucb", "--seed", 4, cwd=tmp_path, code=2), "seed 0 (asked for 4)"
    )


def test_a_search_stopped_twice_keeps_what_the_longer_one_found(tmp_path):
    """The second is stopped while the store still answers: it has made fewer trials than the first."""
    how = {"trials": 50, "runs": 1}
    longer, shorter, whole = (search_attack(EXPERIMENT.but(horizon=20), trials, 1) for trials in (9, 5, 50))
    stopped = [work_of(EXPERIMENT, how, replace(found, wanted=50)) for found in (longer, shorter)]
    with open_output(tmp_path, work_of(EXPERIMENT, how)).writing(stopped[0], finished=False) as directory:
        save_search(longer, directory)
    again = open_output(tmp_path, work_of(EXPERIMENT, how))
    assert not again.complete
    assert again.allows(stopped[0]) and not again.allows(stopped[1])
    with again.writing():
        save_search(whole, tmp_path)
    with pytest.raises(BadInput, match=r"trials 50 \(asked for 60\)"):
        open_output(tmp_path, work_of(EXPERIMENT, {**how, "trials": 60}))


def test_a_sweep_adds_to_a_store_of_other_sweeps_and_its_figure_only_grows(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    byzmab("sweep", "grid.toml", "--plot", "--out", "out", cwd=tmp_path)
    (tmp_path / "other.toml").write_text(GRID.replace("1.1", "1.9"))
    byzmab("sweep", "other.toml", "--out", "out", cwd=tmp_path)  # results are only added
    refused(byzmab("sweep", "other.toml", "--plot", "--out", "out", cwd=tmp_path, code=2), "1 more points")
    byzmab("sweep", "--plot", "--out", "out", cwd=tmp_path)  # all of them


def test_a_killed_command_leaves_a_folder_that_it_resumes(tmp_path):
    process = Forked(
        ["simulate", "--horizon", "100000", "--runs", "500", "--out", "out"], tmp_path / "log", cwd=tmp_path
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / RECORD).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait(20)
    byzmab("simulate", *SMALL, "--out", "out", cwd=tmp_path)  # nothing was there to be lost
    assert (tmp_path / "out/result.nc").exists()


def test_of_two_processes_with_different_work_one_folder_keeps_the_first(tmp_path):
    slow, fast = (open_output(tmp_path, Work("byzmab simulate", ("a.txt",), {"seed": seed})) for seed in (1, 2))
    with fast.writing() as directory:
        (directory / "a.txt").write_text("fast")
    with pytest.raises(BadInput, match=r"seed 2 \(asked for 1\)"), slow.writing():
        pass
    assert (tmp_path / "a.txt").read_text() == "fast"


def test_a_record_that_cannot_be_read_is_told(tmp_path):
    byzmab("simulate", *SMALL, "--out", "out", cwd=tmp_path)
    for broken in ("{", "[]", '{"byzmab simulate": 3}', "\udcff"):
        (tmp_path / "out" / RECORD).write_bytes(broken.encode("utf-8", "surrogateescape"))
        refused(byzmab("simulate", *SMALL, "--out", "out", cwd=tmp_path, code=2), RECORD)
    byzmab("simulate", *SMALL, "--out", "out", "--overwrite", cwd=tmp_path)
    byzmab("simulate", *SMALL, "--out", "out", cwd=tmp_path)


def test_hidden_files_do_not_make_a_folder_taken(tmp_path):
    (tmp_path / ".gitkeep").touch()
    byzmab("bounds", *SMALL, "--out", tmp_path)


def test_an_experiment_file_that_names_its_folder_is_resumed_and_refused_alike(tmp_path):
    (tmp_path / "e.toml").write_text('horizon = 60\nruns = 2\nout = "here"\n')
    byzmab("simulate", "e.toml", cwd=tmp_path)
    byzmab("simulate", "e.toml", cwd=tmp_path)
    refused(byzmab("simulate", "e.toml", "--policy", "tuned", cwd=tmp_path, code=2), "policy ucb (asked for tuned)")


def test_an_edited_plugin_is_another_experiment(tmp_path):
    plugin = "from byzmab.attacks.extreme import Extreme\nclass Mine(Extreme):\n    {}\n"
    (tmp_path / "mine.py").write_text(plugin.format("pass"))
    command = ["simulate", *SMALL, "--attack", "mine.py:Mine", "--out", "out"]
    byzmab(*command, cwd=tmp_path)
    byzmab(*command, cwd=tmp_path)
    (tmp_path / "mine.py").write_text(plugin.format("strength = 2"))
    refused(byzmab(*command, cwd=tmp_path, code=2), "attack")


def test_saving_a_result_replaces_a_result_and_nothing_else(tmp_path):
    result = package.simulate(EXPERIMENT)
    result.save(tmp_path / "r.nc")
    package.simulate(EXPERIMENT.but(seed=4)).save(tmp_path / "r.nc")
    assert Result.load(tmp_path / "r.nc").experiment.seed == 4
    (tmp_path / "notes.txt").write_text("mine")
    import xarray

    xarray.Dataset({"mine": ("x", [1, 2])}).to_netcdf(tmp_path / "mine.nc", engine="h5netcdf")
    for name in ("notes.txt", "mine.nc"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(BadInput, match=f"{name}' exists and is not a result; allowed: "):
            result.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    (tmp_path / "half.nc").write_bytes((tmp_path / "r.nc").read_bytes()[:500])
    result.save(tmp_path / "half.nc")
    assert Result.load(tmp_path / "half.nc").experiment.seed == 0


@pytest.fixture
def alice(tmp_path):
    byzmab("keygen", "alice.key", cwd=tmp_path)
    (tmp_path / "alice.toml").write_text(
        'name = "alice"\nnetwork = "n"\nkey = "alice.key"\ndata = "data"\narms = ["a", "b"]\nf = 0\n'
    )
    byzmab("node", "init", "alice.toml", cwd=tmp_path)
    return tmp_path


def test_an_export_replaces_no_file(alice):
    byzmab("node", "export", "alice.toml", "--out", "alice.json", cwd=alice)
    (alice / "alice.json").write_text("an older backup")
    refused(
        byzmab("node", "export", "alice.toml", "--out", "alice.json", cwd=alice, code=2), "alice.json", "--overwrite"
    )
    assert (alice / "alice.json").read_text() == "an older backup"
    byzmab("node", "export", "alice.toml", "--out", "alice.json", "--overwrite", cwd=alice)
    assert json.loads((alice / "alice.json").read_text())
    refused(byzmab("node", "export", "alice.toml", "--out", "data", cwd=alice, code=2), "is a directory")
    assert json.loads(byzmab("node", "export", "alice.toml", "--out", "/dev/stdout", cwd=alice).stdout)


def test_a_backup_replaces_no_file_unless_told_to_overwrite(alice):
    (alice / "alice.sqlite").write_text("an older backup")
    command = ["node", "backup", "alice.toml", "alice.sqlite"]
    refused(byzmab(*command, cwd=alice, code=2), "alice.sqlite", "--overwrite")
    assert (alice / "alice.sqlite").read_text() == "an older backup"
    byzmab(*command, "--overwrite", cwd=alice)
    assert (alice / "alice.sqlite").read_bytes().startswith(b"SQLite format 3")


def test_keys_states_and_networks_are_never_replaced(alice):
    byzmab("node", "export", "alice.toml", "--out", "state.json", cwd=alice)
    before = content(alice)
    for command in (
        ["keygen", "alice.key"],
        ["node", "init", "alice.toml"],
        ["node", "import", "alice.toml", "state.json"],
        ["network", "--data", ".", "--duration", "1"],
    ):
        refused(byzmab(*command, cwd=alice, code=2))
    assert content(alice) == before


def test_every_option_that_takes_a_path_to_write_is_known_here():
    """A new command that writes is to be added to COMMANDS above, or to the tests below it."""
    import typer

    from byzmab.cli.main import app

    def walk(command, name=""):
        for each, sub in getattr(command, "commands", {}).items():
            yield from walk(sub, f"{name} {each}".strip())
        if not hasattr(command, "commands"):
            yield name, {option for item in command.params for option in item.opts}

    writing = {name for name, options in walk(typer.main.get_command(app)) if options & {"--out", "--data", "to"}}
    assert writing == {*COMMANDS, "node export", "node backup", "network"} - {"as published"}
    for name, options in walk(typer.main.get_command(app)):
        assert bool(options & {"--out", "to"}) == ("--overwrite" in options), name
