"""Nine real nodes: three are stopped, and then one lies. The others must not believe it."""

import pytest
from waiting import LONG, until

from byzmab.experiment.experiment import Experiment
from byzmab.node.client import Client
from byzmab.testbed.network import Network
from byzmab.testbed.provision import Options
from byzmab.testbed.traffic import Traffic

BEST = "arm-2"
HONEST, STOPPED = (5, 6, 7, 8, 9), (2, 3, 4)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Nine nodes; equivocators are kept, so that no proof protects the others from the liar."""
    experiment = Experiment(
        agents=9, byzantine=1, attack="none", arms=[0.3, 0.6, 0.5], f="auto", filter="guarded", policy="moss"
    )
    options = Options("keep", report_every=0.1)
    with Network(experiment, tmp_path_factory.mktemp("absence") / "data", options) as network:
        yield network


def ask(network, number):
    with Client(network.member(number).url, timeout=LONG, retries=2) as client:
        return client.state(), {peer.name: peer for peer in client.neighbours()}


def pulls_of(network):
    """Pulls of all honest nodes on the best arm, and on any."""
    arms = [arm for number in HONEST for arm in ask(network, number)[0].arms]
    return sum(arm.pulls for arm in arms if arm.arm == BEST), sum(arm.pulls for arm in arms)


def share_of_best(network, applications):
    """The share of the best arm in the next sixty pulls or more of each honest node."""
    before, (best, pulls) = [application.decisions for application in applications], pulls_of(network)
    until(lambda: all(now.decisions >= then + 60 for now, then in zip(applications, before, strict=True)))
    best_now, pulls_now = pulls_of(network)
    return (best_now - best) / (pulls_now - pulls)


def test_nodes_whose_neighbours_are_stopped_do_not_believe_the_liar_that_is_left(network):
    """Two are stopped before they have anything to report, a third while the liar speaks."""
    assert ask(network, 5)[0].f == 2, "eight neighbours, from the start"
    first, second, third = STOPPED
    network.kill(first)
    network.kill(second)
    with Traffic(network, rate=20.0) as traffic:
        applications = [traffic.applications[number - 1] for number in HONEST]
        until(lambda: all(application.decisions >= 60 for application in applications))
        network.set_attack("extreme")
        until(lambda: set(ask(network, 5)[1]["agent-1"].means.values()) == {0.0, 1.0})
        shares = [share_of_best(network, applications)]
        network.kill(third)
        shares.append(share_of_best(network, applications))
        state, _ = ask(network, 5)
    assert state.f == 2, "an absence does not lower f"
    assert min(shares) > 0.3, f"the lie won: {shares} of the pulls were of the best arm"
