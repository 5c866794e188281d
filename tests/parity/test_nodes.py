"""A network of nodes in one process, fed the draws of a simulated run, chooses the simulated arms, round by round."""

import numpy as np
import pytest
from live import config_of, host_of, neighbour_of

from byzmab import Experiment, Report
from byzmab.core.draws import fold
from byzmab.node.transport.memory import Hub
from byzmab.simulation.single_run import Run


def replay(experiment, directory):
    """Play a run while nodes, liars among them, tell each other over the in-memory transport what they know."""
    played = Run(experiment, 0)
    state, parts, byzantine = played.state, experiment.parts, experiment.byzantine
    names = tuple(f"arm {arm}" for arm in range(parts.arms))
    hub, hosts, lies = Hub(), {}, {}

    def report_for(liar):
        return lambda host, receiver: lies[liar, int(receiver.partition("-")[2]) - 1]

    played.advance(0)
    for i in range(parts.agents):
        others = [neighbour_of(1 + j) for j in range(parts.agents) if j != i]
        settings = {"f": parts.f, "kappa": float(state.kappas[i]), "filter": experiment.filter}
        settings |= {"policy": experiment.policy, "arms": names, "equivocators": "keep"}
        config = config_of(1 + i, directory, others, seed=int(fold(state.policy_key, i)), **settings)
        hosts[i] = host_of(config, 1 + i, hub, report_for=report_for(i) if i < byzantine else None)
        for arm in range(parts.arms):
            event, chosen, *_ = hosts[i].select()
            assert chosen == names[arm]
            hosts[i].reward(event, float(state.means[i, arm]))
    for time in range(experiment.horizon):
        totals = state.totals.copy()
        played.advance(time + 1)
        for i in range(byzantine, parts.agents):
            for entry in range(state.inbox_starts[i], state.inbox_starts[i + 1]):
                row = state.inbox_rows[entry]
                told = Report(state.told_pulls[row].copy(), state.told_means[row].copy(), names)
                lies[int(state.inbox_senders[entry]), i] = told
        for liar in range(byzantine):
            for other in range(byzantine):
                lies[liar, other] = hosts[liar].agent.report()
        for host in hosts.values():
            host.post(host.compose())
        hub.carry()
        for i, host in hosts.items():
            host.listen()
            if i < byzantine:
                continue
            event, arm, round, _ = host.select()
            assert (arm, round) == (names[state.choices[i]], time), f"agent {i}, round {time}"
            host.reward(event, float(state.totals[i, names.index(arm)] - totals[i, names.index(arm)]))
    for host in hosts.values():
        host.close()
    return hosts


@pytest.mark.parametrize(("filter", "policy"), [("trimmed", "ucb"), ("pooled", "thompson"), ("screened", "tuned")])
def test_ten_nodes_choose_the_simulated_arms(filter, policy, tmp_path):
    experiment = Experiment(agents=10, byzantine=2, f=2, filter=filter, policy=policy, attack="extreme", horizon=60)
    hosts = replay(experiment, tmp_path)
    assert all(hosts[9].neighbourhood.neighbours[f"agent-{liar}"].evidence for liar in (1, 2))
    assert not any(hosts[9].neighbourhood.neighbours[f"agent-{honest}"].evidence for honest in range(3, 10))
    assert np.all([neighbour.counts["accepted"] == 60 for neighbour in hosts[9].neighbourhood.neighbours.values()])
