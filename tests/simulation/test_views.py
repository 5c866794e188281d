"""What a notebook shows of experiments, results, comparisons, sweeps, agents and tallies."""

import sys
import types
from xml.etree import ElementTree

import numpy as np
import pytest

from byzmab import Agent, BadInput, Experiment, Report, Tally, compare, compiled, simulate
from byzmab.simulation.progress import Announcement, progress_bar
from byzmab.simulation.run import workers_that_fit
from byzmab.sweep.points import Sweep

SMALL = Experiment(horizon=200, runs=3, filter="trimmed", attack="none")


def parsed(html):
    """The view as a tree: it is well-formed, or this raises."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def text_of(html):
    return " ".join(parsed(html).itertext())


def test_an_experiment_tells_what_differs_from_the_defaults_and_can_be_made_from_it():
    assert repr(SMALL) == "Experiment(attack='none', horizon=200, runs=3)"
    assert eval(repr(SMALL)) == SMALL
    shown, folded = SMALL._repr_html_().split("<details>")
    assert {"horizon", "attack", "filter"} <= set(text_of(shown).split()) and "seed" not in shown and "seed" in folded
    assert "seed" in SMALL.but(seed=3)._repr_html_().split("<details>")[0]


def test_a_result_shows_its_regret_a_table_and_its_curve():
    result = simulate(SMALL)
    mean = result.network_regret[:, -1].mean()
    assert repr(result).startswith(f"<Result: regret {mean:.4g} ± ")
    tree = parsed(result._repr_html_())
    line = next(iter(tree.iter("polyline"))).get("points").split()
    assert len(line) == result.rounds.size
    heights = [float(point.split(",")[1]) for point in line]
    assert heights == sorted(heights, reverse=True)  # regret does not fall, and the axis points down


def test_curves_that_share_axes_are_all_seen_to_their_ends():
    low, high = (
        simulate(SMALL.but(filter=name, attack="extreme", horizon=horizon))
        for name, horizon in (("solo", 400), ("mean", 300))
    )
    for first, second in ((low, high), (high, low)):
        axes = second.plot(first.plot())
        assert axes.get_xlim() == (0, 400) and axes.get_ylim()[0] == 0
        assert axes.get_ylim()[1] > max(result.network_regret[:, -1].mean() for result in (low, high))


def test_one_run_has_no_band_and_is_shown_all_the_same():
    assert "± " not in repr(simulate(SMALL.but(runs=1)))
    assert parsed(simulate(SMALL.but(runs=1))._repr_html_()) is not None


def test_names_are_escaped():
    assert "<script>" not in Agent(["<script>", "b"])._repr_html_()


def test_a_comparison_says_whether_it_differs():
    same = compare(SMALL, SMALL)
    assert "may be zero" in text_of(same._repr_html_())
    assert repr(same) == "<Comparison: +0.00 [+0.00, +0.00] over 3 runs>"


def test_a_sweep_shows_its_points(tmp_path):
    (tmp_path / "s.toml").write_text('[grid]\nattack = ["none", "extreme"]\nf = [1, 2]\n')
    sweep = Sweep.read(tmp_path / "s.toml")
    assert repr(sweep) == "<Sweep of 4 points over attack, f>"
    assert text_of(sweep._repr_html_()).count("extreme") == 2


def test_an_agent_and_its_tallies_show_what_they_know():
    agent = Agent(["red", "green"], seed=1)
    for _ in range(5):
        agent.reward(agent.select(), 1.0)
    assert "5 pulls rewarded, 0 neighbours heard" in repr(agent)
    assert sum(agent.tally(arm).pulls for arm in agent.arms) == 5
    assert repr(agent.tally("red")).startswith("Tally(pulls=")
    assert "red" in text_of(agent._repr_html_())
    assert text_of(Tally(pulls=4, total=3.0)._repr_html_()).endswith("4 3 0.75 0")


def test_arms_may_be_named_by_numpy_numbers():
    agent = Agent(list(np.arange(3)), seed=1)
    agent.reward(np.int64(2), 1.0)
    agent.add_arm(np.int64(7))
    assert agent.arms == (0, 1, 2, 7)
    assert all(type(arm) is int for arm in agent.arms)
    assert type(Agent.from_json(agent.to_json()).arms[3]) is int


def test_a_report_goes_through_json():
    alice, bob = Agent(["red", "green"], seed=1), Agent(["red", "green"], seed=2)
    for _ in range(20):
        alice.reward(arm := alice.select(), float(arm == "red"))
    told = Report.from_json(alice.report().to_json())
    assert told.arms == ("red", "green")
    assert np.array_equal(told.pulls, alice.report().pulls)
    bob.hear("alice", told)
    assert bob.senders == ("alice",)


@pytest.mark.parametrize("text", ["", "3", '{"pulls": [1]}', '{"pulls": "x", "means": [1]}', "[" * 10_000])
def test_what_is_no_report_is_told_in_a_sentence(text):
    with pytest.raises(BadInput, match="is not allowed; allowed: JSON like"):
        Report.from_json(text)


@pytest.mark.parametrize(
    ("settings", "at_fault"),
    [
        ({"runs": 2_000_000_000}, "runs"),
        ({"record": 2_000_000_000, "horizon": 2_000_000_000}, "record"),
        ({"agents": 2_000_000, "arms": "random:4000"}, "agents"),
        ({"arms": "random:1000000000"}, "arms"),
    ],
)
def test_too_little_memory_names_the_setting_at_fault(settings, at_fault):
    with pytest.raises(BadInput, match=rf"^{at_fault} .*allowed: what fits into the"):
        workers_that_fit(SMALL.but(**settings))
    with pytest.raises(BadInput, match=rf"^{at_fault} .*allowed: what fits into the"):
        simulate(SMALL.but(**settings), workers=1)


def test_so_many_agents_that_their_numbers_alone_take_the_memory_are_refused():
    with pytest.raises(
        BadInput, match=r"^agents 1000000000 is not allowed; allowed: a whole number from 1 to 10000000"
    ):
        SMALL.but(agents=1_000_000_000)


def test_progress_true_shows_a_bar_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    display = types.ModuleType("IPython.display")
    display.HTML, display.display = str, lambda html, display_id: shown.append(html) or Handle()
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    simulate(SMALL, progress=True)
    assert shown[0] == "simulating …"
    assert shown[-1].endswith("100%")


def test_a_bar_says_when_something_is_compiled(monkeypatch):
    told = []
    monkeypatch.setattr("byzmab.simulation.progress._notebook_bar", lambda what: lambda *now: told.append(now))
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))

    @compiled
    def never_compiled_before(number):
        return number + 1

    with progress_bar("counting"):
        never_compiled_before(1)
        assert told == [(0, None, "compiling")]
        never_compiled_before(2)
    assert len(told) == 1


def test_progress_true_is_silent_where_nobody_looks(capsys):
    simulate(SMALL, progress=True)
    with progress_bar("x") as show:
        show(1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("seconds", "told"), [(6.0, "counting: about 54 s left\n"), (2.0, "")])
def test_long_work_says_once_how_long_it_will_take(seconds, told, capsys):
    times = iter(seconds * number for number in range(9))
    progress = Announcement("counting", clock=lambda: next(times))
    for done in range(1, 4):
        progress(done, 11)
    assert capsys.readouterr().err == told
