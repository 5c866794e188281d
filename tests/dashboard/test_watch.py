"""What a network's page is told: a history that outlives pages, and what happened, written down once."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("litestar")

from byzmab.dashboard.live.watch import MOST_POINTS, History, Watch
from byzmab.results.statistics import saved_interval


def row(agent, regret, alone=None, lies=False, **more):
    """What is known of a node at one time."""
    shadows = {"solo_regret": 2 * regret if alone is None else alone, "believer_regret": 5 * regret}
    return {
        "agent": agent,
        "name": f"agent-{agent}",
        "lies": lies,
        "regret": regret,
        "evidence": [],
        "expelled": [],
        "fates": {},
        **shadows,
        **more,
    }


def summary(seconds, *rows):
    return {"seconds": seconds, "agents": list(rows)}


class Still:
    """A network and traffic that say what they are told to say."""

    def __init__(self):
        self.attack, self.equivocators, self.told, self.seconds = "extreme", "keep", None, 0.0
        self.deployment = SimpleNamespace(plan=SimpleNamespace(f="auto", contexts=None))

    def summary(self):
        return self.told

    def set_equivocators(self, wanted):
        self.equivocators = wanted


def test_a_history_keeps_the_whole_time_in_few_points():
    history = History()
    for second in range(5000):
        history.add(summary(float(second), row(1, 0.01 * second), row(2, 0.03 * second)))
    times = [point.seconds for point in history.points]
    assert len(times) <= MOST_POINTS
    assert (times[0], times[-1]) == (0.0, 4999.0)
    assert times == sorted(times)
    last = history.points[-1]
    assert (last.regret, last.solo_regret, last.believer_regret) == pytest.approx((99.98, 199.96, 499.9))


def test_a_curve_does_not_jump_when_an_honest_node_turns():
    history = History()
    history.add(summary(1.0, row(1, 10.0), row(2, 50.0)))
    history.add(summary(2.0, row(1, 11.0), row(2, 55.0, lies=True)))
    before, after = (point.regret for point in history.points)
    assert after - before == pytest.approx(1.0)  # what the one that is still honest lost meanwhile


def test_what_is_found_out_is_told_once_and_a_suspicion_is_no_proof():
    still = Still()
    watch = Watch(still, still)
    proof, doubt = ({"against": "agent-1", "kind": kind} for kind in ("equivocation", "impossible"))

    def events(*rows):
        still.told = summary(0.0, row(1, 0.0, lies=True), *rows)
        watch._look()
        return [event["what"] for event in json.loads(watch.summary())["events"]]

    assert events(row(2, 1.0, evidence=[doubt])) == []
    assert events(row(2, 1.0, evidence=[proof])) == ["agent-1 is proven to lie"]
    assert events(row(2, 1.0, evidence=[proof]), row(3, 1.0, evidence=[proof])) == ["agent-1 is proven to lie"]
    assert events(row(2, 1.0, evidence=[proof], expelled=["agent-1"]))[1:] == ["agent-1 is expelled"]
    watch.set_equivocators("keep")
    assert json.loads(watch.past())["events"][-1]["what"] == "liars are taken back"
    assert still.equivocators == "keep"


def test_what_is_saved_of_being_alone_is_told_with_its_interval_over_honest_nodes():
    still, lost, alone = Still(), [3.0, 4.0, 2.0], [9.0, 5.0, 8.0]
    nodes = [row(number, *pair) for number, pair in enumerate(zip(lost, alone, strict=True), 2)]
    still.told = summary(1.0, row(1, 50.0, lies=True), *nodes)
    found = saved_interval(np.array(lost), np.array(alone))
    told = json.loads(Watch(still, still).summary())["saved"]
    assert told == pytest.approx({"mean": found.mean, "low": found.low, "high": found.high})


def test_more_liars_than_f_are_told_until_they_are_heard_no_more():
    still = Still()

    def overrun(f, **fates):
        still.deployment.plan.f = f
        heard = {name.replace("_", "-"): fate for name, fate in fates.items()}
        still.told = summary(1.0, row(1, 0.0, lies=True), row(2, 0.0, lies=True), row(3, 1.0, fates=heard))
        return json.loads(Watch(still, still).summary())["overrun"]

    others = {f"agent_{number}": "kept" for number in range(4, 7)}
    assert overrun("auto", agent_1="kept", agent_2="trimmed", **others) == {"liars": 2, "f": 1}
    assert overrun("auto", agent_1="expelled", agent_2="trimmed", **others) == {"liars": 1, "f": 0}
    assert overrun("auto", agent_1="expelled", agent_2="expelled", **others) is None
    assert overrun(2, agent_1="kept", agent_2="trimmed", **others) is None
