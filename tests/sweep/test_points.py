"""Sweep files: every combination of a grid, or just the points that are named."""

import pytest

from byzmab import BadInput, Sweep


def read(tmp_path, text, **changes):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    return Sweep.read(path, changes)


def test_a_grid_is_every_combination(tmp_path):
    sweep = read(
        tmp_path, '[experiment]\nruns = 3\n[grid]\nkappa = [1.1, 1.5]\nfilter = ["trimmed", "pooled", "solo"]\n'
    )
    assert [(item.kappa, item.filter) for item in sweep.points] == [
        (kappa, filter) for kappa in (1.1, 1.5) for filter in ("trimmed", "pooled", "solo")
    ]
    assert sweep.varied == ("kappa", "filter")
    assert {item.runs for item in sweep.points} == {3}


def test_points_are_just_those_named(tmp_path):
    sweep = read(tmp_path, "[[point]]\nagents = 10\nbyzantine = 2\n[[point]]\nagents = 20\nbyzantine = 4\n")
    assert [(item.agents, item.byzantine) for item in sweep.points] == [(10, 2), (20, 4)]


def test_points_and_grid_combine(tmp_path):
    sweep = read(tmp_path, "[grid]\nseed = [0, 1]\n[[point]]\nagents = 10\n[[point]]\nagents = 20\n")
    assert sorted((item.agents, item.seed) for item in sweep.points) == [(10, 0), (10, 1), (20, 0), (20, 1)]


def test_a_list_may_hold_lists(tmp_path):
    sweep = read(tmp_path, "[grid]\narms = [[0.5, 0.4], [0.9, 0.1, 0.1]]\n")
    assert [item.parts.arms for item in sweep.points] == [2, 3]


def test_flags_win_over_the_whole_file(tmp_path):
    sweep = read(
        tmp_path, "[experiment]\nhorizon = 50\n[grid]\nkappa = [1.1, 1.5]\nseed = [1, 2]\n", kappa=1.7, horizon=60
    )
    assert [(item.kappa, item.seed, item.horizon) for item in sweep.points] == [(1.7, 1, 60), (1.7, 2, 60)]


def test_the_same_point_counts_once(tmp_path):
    assert len(read(tmp_path, "[grid]\nseed = [0, 0, 1]\n").points) == 2


def test_files_are_found_beside_the_sweep_file(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from byzmab.attacks import Attack\nfrom byzmab.attacks.extreme import Extreme\nclass Mine(Extreme):\n    pass\n"
    )
    sweep = read(tmp_path, '[grid]\nattack = ["none", "mine.py:Mine"]\n')
    assert type(sweep.points[1].parts.attack).__name__ == "Mine"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[grid]\nkapa = [1.1]\n", ["[grid]", "kapa", "did you mean 'kappa'"]),
        ("[grids]\nkappa = [1.1]\n", ["grids", "grid"]),
        ("[grid]\nkappa = 1.1\n", ["[grid]", "kappa", "list"]),
        ("[grid]\nkappa = []\n", ["[grid]", "kappa", "list"]),
        ("[grid]\nkappa = [1.1, 2.5]\n", ["kappa = 2.5", "[1, 2)"]),
        ("[grid]\nattack = ['none', 'wicked']\n", ["attack", "wicked"]),
        ("experiment = 3\n", ["experiment", "table"]),
        ("[point]\nf = 1\n", ["point", "[[point]]"]),
        ("[[point]]\nfilters = 'solo'\n", ["point 1", "filters"]),
        ("[grid]\nseed = [" + ",".join(map(str, range(2000))) + "]\nruns = [" + ",".join(map(str, range(1, 1001))) + "]\n", ["2000000 points"]),
        ("[experiment]\nworkers = 'many'\n", ["workers", "many"]),
        ("[grid\n", ["not TOML"]),
        ("time-varying = true\n", ["line 1", "'time-varying' is a setting", "below [experiment]", "byzmab simulate"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_before_anything_runs(tmp_path, text, words):
    with pytest.raises(BadInput) as error:
        read(tmp_path, text)
    assert all(word in str(error.value) for word in words), error.value
