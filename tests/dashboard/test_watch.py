"""What a network's page is told: a history that outlives pages, and what happened, written down once."""

import json

import pytest

pytest.importorskip("litestar")

from byzmab.dashboard.live.watch import MOST_POINTS, History, Watch


def row(agent, regret, lies=False, **more):
    """What is known of a node at one time."""
    shadows = {"solo_regret": 2 * regret, "believer_regret": 5 * regret}
    return {
        "agent": agent,
        "name": f"agent-{agent}",
        "lies": lies,
        "regret": regret,
        "evidence": [],
        "expelled": [],
        **shadows,
        **more,
    }


def summary(seconds, *rows):
    return {"seconds": seconds, "agents": list(rows)}


class Still:
    """A network and traffic that say what they are told to say."""

    def __init__(self):
        self.attack, self.equivocators, self.told, self.seconds = "extreme", "keep", None, 0.0

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
