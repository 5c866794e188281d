"""Comparing algorithms: published and tuned, under the worst named and found attack; resumed, drawn, written."""

import json
import time
from dataclasses import replace

import pytest
from command import Forked, byzmab

from byzmab import BadInput
from byzmab.cli.compare_algorithms import compare_algorithms as command
from byzmab.comparison.contestants import (
    ALONE,
    CONTESTANTS,
    FOUR,
    Network,
    Preset,
    contestants_of,
    experiment_of,
    preset_of,
)
from byzmab.comparison.draw import best_rows, draw_comparison
from byzmab.comparison.play import compare_algorithms
from byzmab.comparison.table import write_tables
from byzmab.experiment.parts import RESILIENT
from byzmab.search.judge import as_told
from byzmab.sweep.store import ResultStore

COMPLETE = Network(10, 2, FOUR, "complete", False)
CHANGING = Network(10, 2, FOUR, "erdos-renyi:0.5", True)
TINY = Preset((COMPLETE, CHANGING), ("extreme", "constant"), 400, 3, 4, 2)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return ResultStore(tmp_path_factory.mktemp("comparison"))


@pytest.fixture(scope="module")
def comparison(store):
    return compare_algorithms(contestants_of(["trimmed", "mp-ucb", "median-elimination"]), TINY, store)


def rows_of(comparison, name, network=COMPLETE):
    return [row for row in comparison.rows if (row.contestant.name, row.network) == (name, network)]


def test_every_contestant_meets_no_attack_the_worst_named_and_the_worst_found(comparison):
    for row in comparison.rows:
        if row.contestant.name != ALONE and not row.reason:
            assert row.without.attack == "none"
            assert row.named.attack in TINY.attacks
            assert row.found.attack.startswith("crafted")


def test_an_algorithm_without_defence_is_ruined_by_an_attack(comparison):
    (first, *_) = rows_of(comparison, "mp-ucb")
    assert first.worst.mean > 2 * first.without.mean


def test_tuned_constants_are_not_worse_than_published_ones_where_they_were_tuned(comparison):
    """On the luck of tuning; `trimmed` has a tuned row, as half of UCB1's width is better at any horizon."""
    published, tuned = rows_of(comparison, "trimmed")
    assert (published.kind, tuned.kind) == ("published", "tuned")
    assert tuned.worst.mean < published.worst.mean


def test_where_an_algorithm_makes_no_sense_the_reason_is_told(comparison, tmp_path):
    (row,) = rows_of(comparison, "median-elimination", CHANGING)
    assert "server" in row.reason and row.worst is None
    tables, numbers = write_tables(comparison, tmp_path)
    assert f"- `median-elimination`: {row.reason}" in tables.read_text()
    assert len(json.loads(numbers.read_text())["rows"]) == len(comparison.rows)


def test_whom_nobody_reaches_meets_no_attack(store):
    """`guarded` is alone where neighbours come and go: there is nothing to search for."""
    comparison = compare_algorithms(contestants_of(["guarded"]), TINY._replace(networks=(CHANGING,)), store)
    for row in comparison.rows:
        assert (row.named, row.found, row.cost.messages) == (None, None, 0.0)
    (axes,) = draw_comparison(comparison).axes  # on a logarithmic scale of messages there is no place for none
    assert [text.get_text() for text in axes.texts] == ["guarded is alone"]


def test_played_again_nothing_is_computed_and_every_digit_is_the_same(comparison, store):
    again = ResultStore(store.directory.parent)
    repeated = compare_algorithms(contestants_of(["trimmed"]), TINY, again)
    assert again.computed == 0
    outcomes = [row.worst for row in comparison.rows if row.contestant.name == "trimmed"]
    assert outcomes == [row.worst for row in repeated.rows if row.contestant.name == "trimmed"]


def test_the_figure_shows_the_better_constants_of_every_algorithm_that_was_played(comparison):
    names = {row.contestant.name for row in best_rows(comparison, CHANGING)}
    assert names == {"solo", "trimmed", "mp-ucb"}
    shown = {text.get_text() for text in draw_comparison(comparison).axes[1].texts}
    assert shown == names - {"solo"}


def test_the_command_prints_what_it_writes(tmp_path, capsys):
    command(["solo"], horizon=50, runs=2, json=True, out=tmp_path)
    printed = json.loads(capsys.readouterr().out)
    assert {row["algorithm"] for row in printed["rows"]} == {"solo"}
    assert json.loads((tmp_path / "comparison.json").read_text())["rows"] == printed["rows"]
    assert (tmp_path / "comparison.png").exists()


def test_all_algorithms_take_part():
    from byzmab.baselines import BASELINES

    played = {str(item.published["algorithm"]).partition(":")[0] for item in CONTESTANTS.values()}
    assert played == {RESILIENT, *BASELINES.entries}


def test_unknown_names_are_told():
    with pytest.raises(BadInput, match="did you mean 'small'"):
        preset_of("smal")
    with pytest.raises(BadInput, match="network '50 agents' is not known"):
        preset_of("full", ["50 agents"])


@pytest.mark.parametrize(("size", "least"), [("runs", 1), ("horizon", 1), ("trials", 3)])
def test_sizes_of_too_little_are_refused_before_anything_is_written(size, least):
    """A search needs three trials for the attacks that are known before."""
    with pytest.raises(BadInput, match=f"{size} 0 is not allowed; allowed: a whole number of at least {least}"):
        preset_of("small", **{size: 0})


def test_what_nobody_can_play_is_no_reason_not_to_be_played(store):
    """A seed that is none was told as the reason of every algorithm, below tables without a number."""
    with pytest.raises(BadInput, match="seed -1 is not allowed"):
        compare_algorithms(contestants_of(["gosine"]), TINY, store, seed=-1)


OWN = """
from dataclasses import dataclass
from byzmab import Baseline, Filter, compiled
from byzmab.baselines.mp_ucb import decide


@compiled
def believe(heard):
    return heard.own_mean, heard.own_pulls, 0.0


@dataclass(frozen=True)
class Crowd(Baseline):
    decide = staticmethod(decide)
    knows, assumes, trims = "everyone", "a good mood", False
    xi: float = 1.1


@dataclass(frozen=True)
class Alone(Filter):
    believe = staticmethod(believe)
"""


def test_an_algorithm_and_a_filter_of_ones_own_are_compared_too(store, tmp_path, monkeypatch):
    """The algorithm is `mp-ucb` under another name, with just the constant given; the filter hears nobody."""
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    chosen = contestants_of(["own.py:Crowd:0", "own.py:Alone", "mp-ucb:0"])
    assert [item.name for item in chosen] == [ALONE, "own.py:Crowd:0", "own.py:Alone", "mp-ucb:0"]
    comparison = compare_algorithms(chosen, TINY._replace(networks=(COMPLETE,)), store)
    (crowd,), (ours,) = rows_of(comparison, "own.py:Crowd:0"), rows_of(comparison, "mp-ucb:0")
    assert (crowd.without, crowd.named, crowd.found) == (ours.without, ours.named, ours.found)
    assert (crowd.contestant.knows, crowd.contestant.assumes) == ("everyone", "a good mood")
    for own, solo in zip(rows_of(comparison, "own.py:Alone"), rows_of(comparison, ALONE), strict=True):
        assert own.without == solo.without == own.named._replace(attack="none")
        assert own.kind == solo.kind


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "algorithm 'nobody' is not known; .*or your own as file.py:Name"),
        ("own.py:Crowd", "algorithm 'own.py:Crowd': there is no file 'own.py'"),
        ("json:loads", "algorithm 'json:loads': json has no class 'loads' derived from byzmab.Baseline"),
        ("gosine:eta=2", "algorithm parameters 'eta=2' are not understood; allowed: alpha=4"),
        ("trimmed:7", "filter parameters '7' are not understood; allowed: none"),
    ],
)
def test_what_cannot_be_compared_is_told_at_once(name, words):
    with pytest.raises(BadInput, match=words):
        contestants_of([name])


def test_killed_and_started_again_it_goes_on_to_the_same_digits(tmp_path):
    sizes = ["--network", "complete", "--horizon", 200, "--runs", 2, "--trials", 3, "--attack", "extreme", "--json"]
    arguments = ["compare-algorithms", "mp-ucb:0", *sizes]
    process = Forked([*arguments, "--out", "killed"], tmp_path / "log", cwd=tmp_path)
    while len(kept := list((tmp_path / "killed").rglob("[0-9]*.npz"))) < 5:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    resumed, whole = (
        json.loads(byzmab(*arguments, "--out", out, cwd=tmp_path).stdout)["rows"] for out in ("killed", "whole")
    )
    assert [{**row, "seconds": 0} for row in resumed] == [{**row, "seconds": 0} for row in whole]
    assert {path: path.stat().st_mtime_ns for path in kept} == stamps


def test_the_title_of_the_figure_fits_one_panel(comparison):
    """It was cut off on both sides."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    one = replace(comparison, preset=comparison.preset._replace(networks=(COMPLETE,)))
    figure = draw_comparison(one)
    box = figure.texts[0].get_window_extent(FigureCanvasAgg(figure).get_renderer())
    assert box.x0 >= 0.0 and box.x1 <= figure.bbox.width


def test_a_part_of_a_presets_networks_can_be_chosen():
    assert len(preset_of("full").networks) == 12
    chosen = preset_of("full", ["40 agents, 4 lie, 20 arms"]).networks
    assert [(item.agents, item.arms, item.time_varying) for item in chosen] == [
        (40, "random:20", False),
        (40, "random:20", False),
        (40, "random:20", True),
    ]


def test_who_audits_meets_careful_liars_too(store):
    preset = TINY._replace(networks=(COMPLETE,))
    (row, *_) = rows_of(compare_algorithms(contestants_of(["guarded"]), preset, store), "guarded")
    attacks = {"extreme", "constant", "extreme:careful=1", "constant:careful=1"}
    experiment = experiment_of(COMPLETE, row.contestant.published, horizon=400, runs=3, seed=0)
    regrets = {name: store.get(experiment.but(attack=name)).network_regret[:, -1].mean() for name in attacks}
    assert row.named.mean == max(regrets.values()) == regrets[row.named.attack]


def test_attacks_may_be_chosen_and_keep_their_parameters_where_liars_are_careful():
    """`guarded` audits: whatever is named is met by careful liars as well, with the parameters that were given."""
    preset = preset_of("small", ["complete"], ["constant:0.1,0.9", "alie"])
    assert preset.attacks == ("constant:0.1,0.9", "alie")
    (guarded,) = [item for item in contestants_of(["guarded"]) if item.name != ALONE]
    experiment = experiment_of(preset.networks[0], guarded.published, horizon=10, runs=1, seed=0)
    told = as_told(experiment, preset.attacks)
    assert told[2:] == ["constant:0.1,0.9,careful=1", "alie:careful=1"]
    assert all(experiment.but(attack=attack).parts.attack.careful for attack in told[2:])


def test_an_attack_that_is_not_there_is_told_before_anything_is_played():
    with pytest.raises(BadInput, match="attack 'alias' is not"):
        preset_of("small", None, ["alias"])
