"""The family of crafted attacks holds the known ones, and says what is wrong with its parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byzmab import BadInput, Experiment
from byzmab.attacks import ATTACKS
from byzmab.attacks.crafted import Crafted, mean_at
from byzmab.simulation.single_run import Run
from byzmab.testing import check


def choices(experiment):
    played = Run(experiment, 0)
    made = []
    for time in range(experiment.horizon):
        played.advance(time + 1)
        made.append(played.state["choices"].tolist())
    return made


@pytest.mark.parametrize("filter", ["trimmed", "pooled", "screened"])
@pytest.mark.parametrize("f", [0, 1, 2])
@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("extreme", lambda f: Crafted()),
        ("adaptive", lambda f: Crafted(*[max(f, 1)] * 3)),
        ("starve", lambda f: Crafted(best_count=0, second_count=0, other_counts=0)),
    ],
)
def test_the_family_holds_the_known_attacks_choice_by_choice(name, member, f, filter):
    for graph in ("complete", "erdos-renyi:0.4"):
        network = Experiment(graph=graph, f=f, filter=filter, horizon=200, time_varying=graph != "complete")
        assert choices(network.but(attack=member(f))) == choices(network.but(attack=name))


@pytest.mark.parametrize(
    "member", [Crafted(0.5, 1.5, -0.5, 0.7, 0.0, 3.0, 0.5, -0.2, 0.4, 3, 30), Crafted(share=0.0, spared=2.0, switch=20)]
)
def test_members_keep_the_contract_and_their_text_gives_them_back(member):
    check(member)
    assert Crafted.from_text(member.to_text()) == member
    assert ATTACKS.resolve(ATTACKS.name_of(member)) == member


@pytest.mark.parametrize(
    "text",
    ["-2", "nan", "0,inf", "x", "-1,-1,-1,-0.5", "-1,-1,-1,1,1,1,1.5", "-1,-1,-1,1,1,1,1,-1,1,2.5", "-1,-1,-1,1,1,1,1,-1,1,0,-1", "0," * 11 + "0"],
)  # fmt: skip
def test_parameters_that_mean_nothing_get_one_sentence(text):
    with pytest.raises(BadInput, match="crafted:best") as caught:
        ATTACKS.resolve(f"crafted:{text}")
    assert "\n" not in str(caught.value)


@given(
    honest=st.lists(st.floats(0, 1), min_size=1, max_size=9).map(sorted),
    place=st.floats(-1, 12),
    upwards=st.booleans(),
)
def test_a_place_names_a_mean_between_its_neighbours_and_the_further_the_more_harmless(honest, place, upwards):
    line = [1.0, *honest[::-1]] if upwards else [0.0, *honest]
    expected = np.interp(place + 1, range(len(line)), line)
    assert mean_at(place, np.array(honest), upwards) == pytest.approx(expected, abs=1e-12)


def told(attack, time, **settings):
    """What the first liar tells each agent in a round: agents × arms of (count, mean), and the agents' own counts."""
    played = Run(Experiment(attack=attack, byzantine=1, horizon=100, **settings), 0)
    played.advance(time + 1)
    before = Run(Experiment(attack=attack, byzantine=1, horizon=100, **settings), 0)
    before.advance(time)
    state = played.state
    starts, heard, rows = state["inbox_starts"], state["inbox_senders"], state["inbox_rows"]
    lies = {}
    for agent in range(1, state["pulls"].shape[0]):
        row = next(rows[e] for e in range(starts[agent], starts[agent + 1]) if heard[e] == 0)
        lies[agent] = list(zip(state["told_pulls"][row], state["told_means"][row], strict=True))
    return lies, before.state["pulls"]


def test_half_of_the_receivers_are_struck_others_on_each_arm_until_the_switch():
    attack = Crafted(share=0.5, switch=50, second_count=2.0, other_counts=2.0)
    lies, pulls = told(attack, 10)
    for agent, report in lies.items():
        assert report[0] == (pulls[agent, 0] + 1, 0.0)
        for arm in (1, 2, 3):
            struck = (agent + arm) % 2 == 1
            assert report[arm] == ((2 if struck else 1) * (pulls[agent, arm] + 1), 1.0 if struck else 0.0)
    lies, _ = told(attack, 60)
    assert all(mean == 1.0 for report in lies.values() for _, mean in report[1:])


def test_a_receiver_with_few_consistent_neighbours_is_left_alone():
    lies, _ = told(Crafted(isolate=9), 10)  # of ten agents nobody has nine honest neighbours
    assert all(count == 0 for report in lies.values() for count, _ in report[1:])
    assert all(report[0][0] > 0 for report in lies.values())
    lies, _ = told(Crafted(isolate=9), 10, filter="pooled", agents=11)
    assert all(count > 0 for report in lies.values() for count, _ in report)
