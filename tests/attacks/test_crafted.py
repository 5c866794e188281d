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
        made.append(played.state.choices.tolist())
    return made


@pytest.mark.parametrize("filter", ["trimmed", "pooled", "screened"])
@pytest.mark.parametrize("f", [0, 1, 2])
@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("extreme", lambda f: Crafted()),
        ("adaptive", lambda f: Crafted(*[max(f, 1)] * 3)),
        ("starve", lambda f: Crafted(best_count=0, second_count=0, other_counts=0)),
        ("beside", lambda f: Crafted(0.5, 0.5, 0.5, errors=3)),
    ],
)
def test_the_family_holds_the_known_attacks_choice_by_choice(name, member, f, filter):
    for graph in ("complete", "erdos-renyi:0.4"):
        network = Experiment(graph=graph, f=f, filter=filter, horizon=100, time_varying=graph != "complete")
        assert choices(network.but(attack=member(f))) == choices(network.but(attack=name))


@pytest.mark.parametrize(
    "member",
    [
        Crafted(0.5, 1.5, -0.5, 0.7, 0.0, 3.0, 0.5, -0.2, 0.4, 3, 30),
        Crafted(share=0.0, spared=2.0, switch=20),
        Crafted(-3, 2, 1, errors=2, best_share=0.5, switch=9, pause=4, resume=8),
        Crafted(common=1, target=3),
    ],
)
def test_members_keep_the_contract_and_their_text_gives_them_back(member):
    check(member)
    assert Crafted.from_text(member.to_text()) == member
    assert ATTACKS.resolve(ATTACKS.name_of(member)) == member


@pytest.mark.parametrize(
    "text",
    ["-2", "nan", "0,inf", "x", "-1,-1,-1,-0.5", "-1,-1,-1,1,1,1,1.5", "-1,-1,-1,1,1,1,1,-1,1,2.5", "-1,-1,-1,1,1,1,1,-1,1,0,-1", "0," * 17 + "0",
     "errors=4", "-2,errors=0", "inf,errors=1", "-inf,errors=1", "common=2", "best_share=2", "pause=-1", "resume=-1", "target=4"],
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
    starts, heard, rows = state.inbox_starts, state.inbox_senders, state.inbox_rows
    lies = {}
    for agent in range(1, state.pulls.shape[0]):
        row = next(rows[e] for e in range(starts[agent], starts[agent + 1]) if heard[e] == 0)
        lies[agent] = list(zip(state.told_pulls[row], state.told_means[row], strict=True))
    return lies, before.state.pulls


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


@pytest.mark.parametrize("errors", [1, 2])
def test_lies_stay_at_so_many_standard_errors_of_the_receiver_or_of_what_is_claimed(errors):
    lies, pulls = told(Crafted(1.0, 2.0, -1.0, 4.0, 4.0, 4.0, errors=errors), 60, filter="pooled")
    for agent, report in lies.items():
        for arm, (truth, off) in enumerate([(0.5, -1.0), (0.45, 2.0), (0.4, -1.0), (0.3, -1.0)]):
            count, mean = report[arm]
            assert count == 4.0 * (pulls[agent, arm] + 1)
            known = pulls[agent, arm] if errors == 1 else count
            assert mean == pytest.approx(np.clip(truth + off * 0.5 / np.sqrt(known), 0, 1))


def test_a_common_lie_is_the_same_for_everyone_and_counts_from_the_largest():
    lies, pulls = told(Crafted(0.5, 0.5, 0.5, common=1, share=0.5, switch=90), 60, filter="pooled", seed=1)
    first, *others = lies.values()
    assert all(report == first for report in others)
    assert [count for count, _ in first] == (pulls[1:].max(axis=0) + 1).tolist()
    lies, _ = told(Crafted(0.5, 0.5, 0.5), 60, filter="pooled", seed=1)
    assert len({tuple(report) for report in lies.values()}) > 1


def test_only_the_target_is_lied_about_and_elsewhere_liars_tell_their_own_tally():
    for target, lied in ((1, {0}), (2, {1}), (3, {0, 1}), (0, {0, 1, 2, 3})):
        attack = Crafted(target=target, best_count=7.0, second_count=7.0, other_counts=7.0)
        lies, pulls = told(attack, 30, filter="pooled")
        for agent, report in lies.items():
            for arm in range(4):
                assert report[arm][0] == (7.0 * (pulls[agent, arm] + 1) if arm in lied else pulls[0, arm])


def test_in_the_pause_nobody_is_struck_and_after_it_all_are_again():
    attack = Crafted(pause=20, resume=40, spared_count=0.0)
    for time, silent in ((10, False), (20, True), (39, True), (40, False)):
        lies, _ = told(attack, time)
        assert all((count == 0.0) == silent for report in lies.values() for count, _ in report)


def test_a_share_is_struck_on_the_best_arm_and_the_rest_are_told_the_contrary():
    lies, _ = told(Crafted(best_share=0.5, switch=99), 10)
    assert {agent: report[0][1] for agent, report in lies.items()} == {a: 0.0 if a % 2 else 1.0 for a in lies}
    assert all(mean == 1.0 for report in lies.values() for _, mean in report[1:])
