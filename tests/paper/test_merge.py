"""One report in one directory: a figure is merged into it, and none that a person made is lost silently."""

import json
import multiprocessing
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import byzmab
from waiting import LONG

from byzmab import BadInput
from byzmab.paper.figures import IDS, read_figure, read_figures
from byzmab.paper.reproduction import reproduce
from byzmab.results.outputs import RECORD

HORIZON = ["--horizon", "150"]
KILLED = """
import os, sys
from pathlib import Path
real, left = Path.replace, [int(sys.argv[1])]
def replace(self, target):
    if Path(target).name.startswith("F5."):
        left[0] -= 1
        if left[0] < 0:
            os._exit(9)
    return real(self, target)
Path.replace = replace
sys.argv = ["byzmab", *sys.argv[2:]]
from byzmab.cli.main import main; main()
"""


def run(directory, *arguments, runs=2, code=0):
    return byzmab("reproduce", *arguments, "--runs", runs, *HORIZON, "--out", directory, code=code)


def summary(directory):
    return json.loads((Path(directory) / "summary.json").read_text())


def runs_of(directory):
    return {id: figure["runs"] for id, figure in summary(directory)["figures"].items()}


def content(directory, pattern="*"):
    return {path.name: path.read_bytes() for path in Path(directory).glob(pattern) if path.is_file()}


def sections(directory):
    """What the report says of each figure: the line below its heading."""
    page = (Path(directory) / "report.html").read_text()
    return dict(re.findall(r'<h2 id="(\w+)">[^<]*</h2>\n<p class="caption"><strong>([^<]*)</strong>', page))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The whole paper, with two runs."""
    directory = tmp_path_factory.mktemp("whole")
    reproduce(read_figures(["all"], runs=2, horizon=150), directory)
    return directory


@pytest.fixture
def some(tmp_path):
    """F5, F9 and F10 with two runs."""
    reproduce(read_figures(["F5", "F9", "F10"], runs=2, horizon=150), tmp_path)
    return tmp_path


def test_a_figure_with_more_runs_is_merged_into_the_report_of_all(whole):
    before, others = summary(whole), content(whole, "F[!3]*")
    done = run(whole, "F3", runs=3)
    assert runs_of(whole) == {id: 3 if id == "F3" else 2 for id in IDS}
    assert content(whole, "F[!3]*") == others  # neither simulated nor drawn again
    after = summary(whole)
    assert [id for id in IDS if after["figures"][id] != before["figures"][id]] == ["F3"]
    assert [id for id in after["claims"] if after["claims"][id] != before["claims"][id]] == ["C4", "C5"]
    assert after["claims"]["C4"]["decided_from"] == {"F3": {"runs": 3, "seed": 0, "horizon": 150}}
    told = sections(whole)
    assert list(told) == list(IDS)
    assert told == {id: f"{3 if id == 'F3' else 2} runs, seed 0, horizon 150." for id in IDS}
    page = (whole / "report.html").read_text()
    assert "F3: 3 runs, seed 0, horizon 150. All other figures: 2 runs, seed 0, horizon 150." in page
    assert page.count('class="plot" id="plot-F') == 12
    assert "decided from F9, F10: 2 runs, seed 0, horizon 150" in page
    assert "with 11 from before" in done.stderr
    assert "F9" not in done.stdout and "C4" in done.stdout  # shows what was asked for


def test_a_figure_read_from_its_file_is_the_figure_that_was_made(some):
    made = reproduce(read_figures(["F1", "F7", "F11"], runs=3, horizon=150), some)
    again = reproduce(read_figures(["F5"], runs=2, horizon=150), some)
    assert {id: again.figures[id].summary() for id in made.figures} == {
        id: data.summary() for id, data in made.figures.items()
    }
    assert again.claims == made.claims
    assert again.figures["F7"].graph == made.figures["F7"].graph
    assert made.figures["F11"].shares.size
    assert (again.figures["F11"].shares == made.figures["F11"].shares).all()


def test_claims_on_two_figures_say_what_each_of_them_was(some):
    run(some, "F9", runs=3)
    claim = summary(some)["claims"]["C10"]
    assert {id: sizes["runs"] for id, sizes in claim["decided_from"].items()} == {"F9": 3, "F10": 2}
    assert "decided from F9: 3 runs, seed 0, horizon 150; F10: 2 runs" in (some / "report.html").read_text()
    fresh = reproduce(read_figures(["F9"], runs=3, horizon=150), some / "fresh")
    assert claim["evidence"][2]["mean"] == pytest.approx(
        (fresh.figures["F9"].curves["greedy"] - fresh.figures["F9"].curves["ucb"])[:, -1].mean()
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["F5", "--runs", "1", "--horizon", "150"], "F5 with 2 runs (asked for 1)"),
        (["F5", "--runs", "2", "--horizon", "150", "--seed", "4"], "F5 with seed 0 (asked for 4)"),
        (["F3", "F5", "--runs", "9", "--horizon", "99"], "F5 with horizon 150 (asked for 99)"),
        (["all", "--runs", "2", "--seed", "4"], "F5 with seed 0 (asked for 4), horizon 150"),
    ],
)
def test_a_figure_that_would_be_lost_is_kept_and_the_command_refused(some, arguments, words):
    before = content(some)
    done = byzmab("reproduce", *arguments, "--out", some, "--json", code=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert words in done.stderr and "allowed: another directory, or --overwrite" in done.stderr
    assert content(some) == before
    if len(arguments) == 7:
        byzmab("reproduce", *arguments, "--out", some, "--overwrite")
        assert summary(some)["figures"]["F5"]["seed"] == 4
        assert sections(some)["F5"] == "2 runs, seed 4, horizon 150."


def test_all_completes_a_report_and_keeps_figures_with_more_runs(some):
    run(some, "F5", runs=3)
    before = content(some, "F5.*")
    done = byzmab("reproduce", "all", "--runs", 2, *HORIZON, "--out", some, "--json")
    assert "F5 has 3 runs, more than 2, and is kept" in done.stderr
    assert content(some, "F5.*") == before
    assert runs_of(some) == {id: 3 if id == "F5" else 2 for id in IDS}
    assert json.loads(done.stdout) == summary(some)


def test_figures_of_different_seeds_stand_side_by_side(some):
    byzmab("reproduce", "F8", "--runs", 2, "--horizon", 99, "--seed", 7, "--out", some)
    assert sections(some)["F8"] == "2 runs, seed 7, horizon 99."
    assert set(runs_of(some)) == {"F5", "F8", "F9", "F10"}


def test_a_reproduction_killed_before_its_report_keeps_its_figures(some):
    for name in ("report.html", "summary.json"):
        (some / name).unlink()
    run(some, "F8")
    assert set(runs_of(some)) == {"F5", "F8", "F9", "F10"}


@pytest.mark.parametrize("moved", range(0, 6, 2))
def test_one_killed_while_it_puts_a_figure_leaves_whole_files_and_goes_on(some, moved):
    before = content(some)
    arguments = ["reproduce", "F5", "--runs", "3", *HORIZON, "--out", str(some)]
    done = subprocess.run([sys.executable, "-c", KILLED, str(moved), *arguments])
    assert done.returncode == 9
    for name in ("report.html", "summary.json", "F9.nc", "F5.nc"):
        assert content(some)[name] == before[name]
    run(some, "F9")
    assert runs_of(some) == {"F5": 2, "F9": 2, "F10": 2}
    run(some, "F5", runs=3)
    assert runs_of(some) == {"F5": 3, "F9": 2, "F10": 2}


def test_a_report_without_a_record_or_data_of_an_older_version_is_merged_into(some):
    """Data files had no attribute `figure`, and folders no record; the store has the runs."""
    import xarray

    (some / RECORD).unlink()
    for path in some.glob("F*.nc"):
        with xarray.open_dataset(path, engine="h5netcdf") as file:
            data = file.load().drop_vars(["against_alone", "difference"])
        del data.attrs["figure"]
        data.to_netcdf(path, engine="h5netcdf")
    before = summary(some)["claims"]["C10"]
    run(some, "F8")
    assert set(runs_of(some)) == {"F5", "F8", "F9", "F10"}
    assert summary(some)["claims"]["C10"] == before
    assert "F5 with 2 runs (asked for 1)" in run(some, "F5", runs=1, code=2).stderr
    assert "made by another version" in run(some, "F5").stderr


def test_a_broken_figure_is_taken_from_the_results_or_told_with_what_makes_it_again(some):
    (some / "F9.nc").write_bytes(b"\x89HDF\r\n\x1a\nbroken")
    run(some, "F5")
    assert set(runs_of(some)) == {"F5", "F9", "F10"}
    (some / "results").rename(some / "elsewhere")  # may be deleted
    before = content(some)
    told = run(some, "F5", code=2).stderr
    assert "F9, which cannot be read" in told and "byzmab reproduce F9 first" in told
    assert content(some) == before
    run(some, "F9")
    run(some, "F5")
    assert set(runs_of(some)) == {"F5", "F9", "F10"}


def test_results_may_be_deleted_and_the_report_stays_whole(some):
    (some / "results").rename(some / "elsewhere")
    run(some, "F8")
    assert set(runs_of(some)) == {"F5", "F8", "F9", "F10"}
    assert [path.name for path in (some / "results/points").iterdir()]  # those of F8 alone
    stored = len(list((some / "results/points").iterdir()))
    assert stored == len(read_figure("F8").all_experiments())


def test_a_broken_summary_is_written_anew(some):
    (some / "summary.json").write_text("{")
    run(some, "F5")
    assert set(runs_of(some)) == {"F5", "F9", "F10"}


def _reproduce(directory, id, runs):
    reproduce(read_figures([id], runs=runs, horizon=150), directory)


def test_two_processes_at_once_leave_one_report_of_both(some):
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_reproduce, args=(some, id, 3)) for id in ("F5", "F9")]
    for process in both:
        process.start()
    for process in both:
        process.join(LONG)
        assert process.exitcode == 0
    assert runs_of(some) == {"F5": 3, "F9": 3, "F10": 2}
    assert not [path.name for path in some.glob(".F*")]


def test_a_figure_file_that_was_edited_is_another_figure(tmp_path):
    source = read_figure("F5").source
    (tmp_path / "mine.toml").write_text(source)
    run(tmp_path / "out", tmp_path / "mine.toml")
    (tmp_path / "mine.toml").write_text(source.replace("kind", "# edited\nkind"))
    told = run(tmp_path / "out", tmp_path / "mine.toml", code=2).stderr
    assert "mine with another file" in told
    run(tmp_path / "out", tmp_path / "mine.toml", "--overwrite")


def test_two_files_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text(read_figure("F5").source)
    with pytest.raises(BadInput, match="two figures are called 'mine'"):
        read_figures([str(tmp_path / "a/mine.toml"), str(tmp_path / "b/mine.toml")])
