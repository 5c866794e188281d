"""Which arm is best, and how sure that is."""

import math

import numpy as np
import pytest

from byzmab import Agent, BadInput, Report


def taught(counts, **settings):
    """An agent with these (pulls, mean) of each arm."""
    agent = Agent(len(counts), **settings)
    agent.warm_start(dict(enumerate(counts)))
    return agent


def test_nothing_is_sure_before_there_are_rewards():
    best = Agent(["a", "b"]).best()
    assert best.arm == "a" and best.confidence == 0.0 and not best.reached
    assert all((item.low, item.high, item.contends) == (0.0, 1.0, True) for item in best.intervals)


def test_the_intervals_are_those_of_hoeffding_with_a_union_over_arms_and_counts():
    best = taught([(200, 0.7), (100, 0.3)]).best(confidence=0.9)
    for item, n, mean in zip(best.intervals, (200, 100), (0.7, 0.3), strict=True):
        width = math.sqrt(math.log(4 * 2 * n * (n + 1) / 0.1) / (2 * n))
        assert (item.low, item.estimate, item.high) == pytest.approx((mean - width, mean, mean + width))


def test_the_arm_that_stands_out_is_best_with_the_confidence_at_which_it_just_does():
    agent = taught([(500, 0.7), (500, 0.45)])
    best = agent.best()
    assert best.arm == 0 and 0.0 < best.confidence < 1.0 and best.reached == (best.confidence >= 0.95)
    assert agent.best(best.confidence * (1 - 1e-9)).reached
    less, more = (agent.best(1 - (1 - best.confidence) * factor).intervals for factor in (1.0, 0.9))
    assert less[0].low > less[1].high and not less[1].contends
    assert more[0].low <= more[1].high and more[1].contends


def test_more_pulls_make_it_surer_and_pending_ones_do_not():
    agents = [taught([(n, 0.7), (n, 0.4)]) for n in (50, 150, 300, 1000)]
    confidences = [agent.best().confidence for agent in agents]
    assert confidences == sorted(confidences) and confidences[0] == 0.0 and confidences[-1] > 0.999
    before = agents[1].best()
    agents[1].select_many(100)
    assert agents[1].best() == before


def test_honest_neighbours_make_it_surer():
    alone, heard = (taught([(300, 0.7), (300, 0.45)], neighbours=12) for _ in range(2))
    for sender in range(12):
        heard.hear(sender, Report([300, 300], [0.7, 0.45]))
    assert heard.best().confidence > alone.best().confidence
    solo = taught([(300, 0.7), (300, 0.45)], filter="solo")
    for sender in range(12):
        solo.hear(sender, Report([300, 300], [0.7, 0.45]))
    assert solo.best() == alone.best()  # it hears nobody


@pytest.mark.parametrize("filter", ["trimmed", "mean", "pooled", "guarded"])
@pytest.mark.parametrize("claimed", [150, 10**9])
def test_f_liars_cannot_make_a_wrong_arm_sure(filter, claimed):
    """Whatever they claim, and by whatever filter the agent decides."""
    agent = taught([(150, 0.7), (150, 0.45)], f=4, filter=filter)
    for sender in range(9):
        agent.hear(sender, Report([150, 150], [0.7, 0.45]))
    for sender in range(9, 13):
        agent.hear(sender, Report([claimed, claimed], [0.0, 1.0]))
    best = agent.best()
    assert best.arm == 0 or best.confidence == 0.0
    for item, mean in zip(best.intervals, (0.7, 0.45), strict=True):
        assert item.low <= mean <= item.high


def test_where_far_more_than_f_lie_ones_own_pulls_count():
    agent = taught([(4000, 0.7), (4000, 0.3)], f=0)
    for sender in range(30):
        agent.hear(sender, Report([4000, 4000], [0.0, 1.0]))
    best = agent.best()
    assert best.arm == 0 and best.reached


def lie_to(receiver, means, liars):
    """Some say zero of the best arm and one of the others; some are just so far off that they look honest."""
    pulls = receiver.report().pulls
    shy = np.clip(means + 1.5 / np.sqrt(pulls) * np.where(np.arange(len(means)), 1, -1), 0, 1)
    for liar in range(liars):
        receiver.hear(f"liar-{liar}", Report(pulls + 1, shy if liar % 2 else np.sign(np.arange(len(means)))))


@pytest.mark.parametrize(("means", "clear"), [((0.8, 0.4, 0.3), True), ((0.5, 0.49, 0.3), False)])
def test_whoever_stops_when_it_is_sure_is_not_wrong_though_liars_speak(means, clear):
    """48 honest agents, eight with two liars each, look again and again; 5 % of them may be wrong."""
    sure = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        agents = {number: Agent(3, f=2, filter="guarded") for number in range(8)}
        stopped = {}
        for _ in range(30):
            for agent in agents.values():
                for arm in (0, 1, 2) * 10:
                    agent.reward(arm, float(rng.random() < means[arm]))
            for number, agent in agents.items():
                lie_to(agent, means, 2)
                for other in agents.keys() - {number}:
                    agent.hear(other, agents[other].report())
                best = agent.best(0.95)
                if best.reached:
                    stopped.setdefault(number, best.arm)
        sure += stopped.values()
    assert set(sure) <= {0}
    assert len(sure) == 48 if clear else len(sure) < 48


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1, 95, math.nan, "high", None, True])
def test_a_confidence_that_is_none_is_refused(confidence):
    with pytest.raises(BadInput, match=r"confidence .* is not allowed; allowed: a number above 0 and below 1"):
        Agent(2).best(confidence)
