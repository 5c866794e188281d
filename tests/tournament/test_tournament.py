"""Tournaments: honest ratios to solo, with their errors, worst cases marked, and a report."""

import json

import numpy as np
import pytest
from command import byzmab
from pages import open_page

from byzmab import BadInput, Experiment, ResultStore, simulate
from byzmab.tournament.draw import MOST, draw_map, shades, write_maps
from byzmab.tournament.field import AGENTS, ATTACKS, FILTERS, GRAPHS, POLICIES, Cell, Field, read_field
from byzmab.tournament.standings import play, score
from byzmab.tournament.tournament_report import write_report

SMALL = Experiment(byzantine=1, horizon=150, runs=4, record=5)
FEW = Field(SMALL, ("solo", "mean", "pooled"), ("ucb", "tuned"), ("none", "extreme"), ("complete", "ring:4"), (6,))


@pytest.fixture(scope="module")
def standings(tmp_path_factory):
    return play(FEW, ResultStore(tmp_path_factory.mktemp("tournament")))


def test_the_preset_is_as_large_as_promised_and_every_match_is_possible():
    matches = read_field(None, {}).matches()
    assert len(matches) == len(FILTERS) * len(POLICIES) * len(ATTACKS) * len(GRAPHS) * len(AGENTS) == 6 * 5 * 12 * 4 * 2
    assert {experiment.horizon for experiment in matches.values()} == {2_000}
    assert {experiment.time_varying for experiment in matches.values()} == {True, False}


def test_solo_against_itself_is_one(standings):
    for cell, found in standings.scores.items():
        if cell.filter == "solo":
            assert found.ratio == pytest.approx(1.0)
            assert found.stderr == pytest.approx(0.0)


def test_a_score_is_the_ratio_of_two_simulations(standings):
    cell = Cell("pooled", "tuned", "extreme", "ring:4", 6)
    settings = {"agents": 6, "policy": "tuned"}
    played = simulate(SMALL.but(filter="pooled", attack="extreme", graph="ring:4", **settings)).network_regret[:, -1]
    alone = simulate(SMALL.but(filter="solo", **settings)).network_regret[:, -1]
    assert standings.scores[cell].ratio == pytest.approx(played.mean() / alone.mean())


def test_the_error_of_a_ratio_is_that_of_many_repetitions():
    """Within a tenth, over 4000 repetitions of 50 paired runs."""
    rng = np.random.default_rng(0)
    alone = rng.gamma(20.0, 5.0, (4000, 50))
    regret = 0.6 * alone + rng.gamma(5.0, 4.0, (4000, 50))
    found = [score(*pair) for pair in zip(regret, alone, strict=True)]
    assert np.mean([one.stderr for one in found]) == pytest.approx(np.std([one.ratio for one in found]), rel=0.1)


def test_one_run_has_no_error_and_no_regret_no_ratio():
    assert score(np.array([3.0]), np.array([2.0])).stderr is None
    assert np.isnan(score(np.array([3.0, 1.0]), np.zeros(2)).ratio)


def test_the_worst_case_of_a_filter_is_its_largest_ratio(standings):
    for name, cell in standings.worst().items():
        ratios = [found.ratio for other, found in standings.scores.items() if other.filter == name]
        assert standings.scores[cell].ratio == max(ratios)


def test_the_verdict_lists_the_cells_that_are_above_solo_by_more_than_two_errors(standings):
    verdict = standings.above_solo()
    assert list(verdict) == ["solo", "mean", "pooled"]
    assert verdict["solo"] == []
    assert verdict["mean"][0] == standings.worst()["mean"]
    for cell, found in standings.scores.items():
        assert (cell in verdict[cell.filter]) == (found.ratio > 1.0 + 2.0 * found.stderr)
    assert not score(np.array([3.0]), np.array([2.0])).surely_hurts, "one run proves nothing"


def test_a_tournament_resumes(tmp_path):
    play(FEW, ResultStore(tmp_path))
    store = ResultStore(tmp_path)
    play(FEW, store)
    points = len(FEW.matches()) + len(FEW.solos()) - 2  # solo is in both
    assert (store.computed, store.reused) == (0, points * SMALL.runs)


def test_an_algorithm_that_has_no_filter_is_refused():
    with pytest.raises(BadInput, match="algorithm 'gosine' does not go with a tournament of filters; allowed: resilie"):
        read_field(None, {"algorithm": "gosine"})


def test_unknown_contenders_are_named():
    with pytest.raises(BadInput, match="filter 'triimmed' is not known"):
        read_field(None, {"filter": ["triimmed"]}).matches()
    with pytest.raises(BadInput, match="graph"):
        read_field(None, {"graph": ["time-varying"]}).matches()


def test_the_command_plays_prints_and_writes(tmp_path):
    small = ["--horizon", 100, "--runs", 3, "--agents", 6, "--byzantine", 1, "--policy", "ucb", "--graph", "complete"]
    some = ["--filter", "trimmed", "--filter", "mean", "--attack", "extreme", "--attack", "starve"]
    done = byzmab("tournament", *small, *some, "--out", "out", cwd=tmp_path)
    assert "every filter's worst case" in done.stdout
    assert "6 points" not in done.stderr  # 4 matches and one solo
    assert "5 points, 15 runs" in done.stderr
    for name in ("tournament-6.png", "tournament-6.pdf", "report.html"):
        assert (tmp_path / "out" / name).stat().st_size > 5_000
    again = json.loads(byzmab("tournament", *small, *some, "--out", "out", "--json", cwd=tmp_path).stdout)
    assert (again["computed"], again["reused"]) == (0, 15)
    assert {cell["filter"] for cell in again["cells"]} == {"trimmed", "mean"}
    assert set(again["cells"][0]) == {"filter", "policy", "attack", "graph", "agents", "relative", "stderr", "regret"}
    assert set(again["worst"]) == {"trimmed", "mean"}


@pytest.mark.parametrize("width", [1200, 390])
def test_the_report_opens_offline_and_fits(browser, standings, tmp_path, width):
    page = open_page(browser, write_report(standings, tmp_path / "report.html"), width, "#plot-agents-6 .main-svg")
    assert page.complaints == []
    assert page.foreign == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("table tr.fails, table tr.holds").count() == 3
    frames = page.evaluate("document.getElementById('plot-agents-6').layout.shapes.length")
    assert frames == 3


def test_cells_above_one_are_red_in_the_map_and_no_others(standings, tmp_path):
    from matplotlib.colors import to_rgb

    for ratio in (0.0, 0.5, 0.9, 0.99, 1.0, 1.005, 1.1, 1.5, 3.0):
        red, _, blue = to_rgb(shades()(min(ratio / MOST, 1.0)))
        assert (red > blue + 0.1) == (ratio > 1.0), ratio
    assert [path.suffix for path in write_maps(standings, tmp_path)] == [".png", ".pdf"]


def test_what_a_search_found_is_named_in_short_below_its_columns(tmp_path):
    """With all its parameters the name was longer than the figure, and left no room for it."""
    found = "crafted:careful=1,best=5.642,second=4.659,others=2.946,best_count=2.391,switch=6345"
    field = Field(SMALL.but(horizon=20, runs=2), ("pooled",), ("ucb",), (found,), ("complete",), (6,))
    axes = draw_map(play(field, ResultStore(tmp_path)), 6).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["crafted:careful=1,best=…"]
