"""A network of real processes on loopback: started, hurt, mended and stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from byzmab import BadInput
from byzmab.graphs import resolve_graph
from byzmab.node.client import Client
from byzmab.node.config import read_config
from byzmab.node.evidence import Lie
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.single_run import Run
from byzmab.testbed.network import Network
from byzmab.testbed.provision import Options, claim_ports, draw_graph, provision
from byzmab.testbed.traffic import RewardStream, Traffic

SOON = 15.0  # seconds; processes share slow cores


def wait_for(condition, seconds=SOON):
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return value


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Six nodes, of which the first lies; equivocators are kept, so that it can go on lying."""
    experiment, options = Experiment(agents=6, byzantine=1, attack="extreme"), Options("keep", report_every=0.1)
    with Network(experiment, tmp_path_factory.mktemp("network") / "data", options) as network:
        yield network


def client(network, number):
    return Client(network.member(number).url, timeout=5.0, retries=2)


def peer(network, number, of):
    return next(peer for peer in client(network, number).peers() if peer.name == network.member(of).name)


def is_heard(network, number, by, since=None):
    """Whether a fresh report of one agent has reached another; with `since`, one after that (epoch, seq)."""
    seen = peer(network, by, of=number)
    return seen.age is not None and seen.age < 1.0 and (since is None or (seen.epoch, seen.seq) > since)


def version(network, number, by):
    seen = peer(network, by, of=number)
    return seen.epoch, seen.seq


def test_all_nodes_hear_each_other_over_tls(network):
    for number in range(1, 7):
        others = [other for other in range(1, 7) if other != number]
        assert wait_for(lambda number=number, others=others: all(is_heard(network, other, number) for other in others))
    config = read_config(network.member(3).file)
    assert config.links.tls is not None and all(endpoint.startswith("tls/") for endpoint in config.links.listen)


def test_applications_decide_and_a_liar_is_caught_with_proof(network):
    with Traffic(network, rate=20.0) as traffic:
        assert wait_for(lambda: all(application.decisions >= 30 for application in traffic.applications), 60)
    summary = traffic.summary()
    for row in summary["agents"]:
        assert row["regret"] >= 0 and row["solo_regret"] >= 0 and row["state"] == "up"
        if not row["lies"]:
            caught = {piece["against"] for piece in row["evidence"] if piece["kind"] == "equivocation"}
            assert caught == {"agent-1"}, "the liar, and nobody else"
            assert row["expelled"] == []
    evidence = peer(network, 3, of=1).evidence
    assert any(piece.kind is Lie.EQUIVOCATION for piece in evidence)
    assert json.loads(json.dumps(summary)) == summary


def test_a_node_that_is_cut_off_still_decides_and_comes_back(network):
    network.partition(4)
    assert network.state(4) == "cut off"
    assert wait_for(lambda: (peer(network, 3, of=4).age or 0) > 0.8)
    before = version(network, 4, by=3)
    time.sleep(0.5)
    assert version(network, 4, by=3) == before, "nothing passes"
    assert client(network, 4).peers() == []
    assert client(network, 4).select().arm in network.deployment.plan.arms
    network.heal(4)
    assert wait_for(lambda: is_heard(network, 4, by=3, since=before) and is_heard(network, 3, by=4))


def test_a_killed_node_goes_on_from_its_data_in_a_new_epoch(network):
    with client(network, 5) as application:
        decision = application.select()
        application.reward(decision.event_id, 1.0)
        before = application.state()
    heard = version(network, 5, by=3)
    network.kill(5)
    assert network.state(5) == "down"
    assert client(network, 3).select().arm, "others decide"
    network.restart(5)
    after = client(network, 5).state()
    assert after.epoch > before.epoch
    assert [(arm.arm, arm.pulls) for arm in after.arms] == [(arm.arm, arm.pulls) for arm in before.arms]
    assert wait_for(lambda: is_heard(network, 5, by=3, since=heard) and is_heard(network, 3, by=5))


def test_a_hung_node_delays_nobody_and_is_heard_again_when_it_wakes(network):
    heard = version(network, 6, by=3)
    network.freeze(6)
    try:
        assert network.state(6) == "hung"
        other = version(network, 2, by=3)
        for _ in range(20):  # a node that waited for the hung one would not answer within the client's timeout
            Client(network.member(3).url, retries=0).select()
        assert wait_for(lambda: is_heard(network, 2, by=3, since=other)), "others are heard meanwhile"
    finally:
        network.thaw(6)
    assert wait_for(lambda: is_heard(network, 6, by=3, since=heard), 30)


def test_liars_change_how_they_lie_while_they_run(network):
    network.set_attack("starve")
    assert wait_for(lambda: set(peer(network, 3, of=1).pulls.values()) == {0})
    network.set_attack("extreme")
    assert wait_for(lambda: set(peer(network, 3, of=1).means.values()) == {0.0, 1.0})
    with pytest.raises(BadInput, match="attack 'nonsense' is not known"):
        network.set_attack("nonsense")


def test_proven_liars_are_expelled_and_taken_back_while_nodes_run(network):
    network.set_attack("extreme")
    for number, decisions in ((3, 6), (4, 12)):  # then they are told different counts
        with client(network, number) as application:
            for _ in range(decisions):
                application.reward(application.select().event_id, 1.0)
    assert wait_for(lambda: peer(network, 3, of=1).evidence, 30)
    assert not peer(network, 3, of=1).expelled
    network.set_equivocators("expel")
    assert wait_for(lambda: peer(network, 3, of=1).expelled)
    network.set_equivocators("keep")
    assert wait_for(lambda: not peer(network, 3, of=1).expelled)
    heard = version(network, 1, by=3)
    assert wait_for(lambda: is_heard(network, 1, by=3, since=heard)), "it counts again"
    with pytest.raises(BadInput, match="equivocators 'later' is not allowed; allowed: expel, keep"):
        network.set_equivocators("later")


def test_an_honest_agent_is_turned_into_a_liar_and_back(network):
    network.set_attack("extreme")
    network.turn(4)
    assert network.lies(4) and not network.lies(3)
    assert wait_for(lambda: set(peer(network, 3, of=4).means.values()) == {0.0, 1.0})
    network.turn(4)
    assert not network.lies(4)
    with client(network, 4) as application:
        for _ in range(4):
            application.reward(application.select().event_id, 1.0)
    assert wait_for(lambda: set(peer(network, 3, of=4).means.values()) != {0.0, 1.0})


def test_unknown_agents_are_named(network):
    with pytest.raises(BadInput, match="agent 7 does not exist; allowed: 1 to 6"):
        network.kill(7)


def run_command(*arguments):
    command = [sys.executable, "-m", "byzmab.cli.main", "network", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def processes_of(directory):
    """The processes that have a directory in their command line, or a file of it open, as nodes have their log."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                opened = [str(link.readlink()) for link in (entry / "fd").iterdir()]
                if any(str(directory) in text for text in ((entry / "cmdline").read_text(), *opened)):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_the_command_plays_for_a_while_and_sums_up(tmp_path):
    base, claim = claim_ports(4)
    with claim, run_command(
        "--agents", 4, "--byzantine", 1, "--f", 1, "--attack", "extreme", "--traffic", 20, "--base-port", base, "--page-port", 0,
        "--duration", 15, "--data", tmp_path / "net", "--json", "--equivocators", "expel",
    ) as process:  # fmt: skip
        out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    summary = json.loads(out)
    assert [row["lies"] for row in summary["agents"]] == [True, False, False, False]
    assert [row["url"] for row in summary["agents"]] == [f"http://127.0.0.1:{base + i}" for i in range(1, 5)]
    for row in summary["agents"]:
        assert row["decisions"] > 0 and row["url"] in said
        if not row["lies"]:  # nobody talks to a liar once it is expelled, which may be before it heard anything
            assert row["expelled"] == ["agent-1"]
            assert {"agent-2", "agent-3", "agent-4"} - {row["name"]} <= set(row["fates"])
    assert summary["regret"]["regret"] >= 0.0
    assert summary["regret"]["believer_regret"] > 0.0
    assert processes_of(tmp_path) == []
    assert (tmp_path / "net" / "graph.json").is_file()


def test_ctrl_c_ends_the_nodes_and_then_sums_up(tmp_path):
    process = run_command("--agents", 2, "--byzantine", 0, "--traffic", 5, "--data", tmp_path / "net", "--json")
    try:
        for line in process.stderr:
            if line.startswith("agent-2: "):
                break
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert [row["agent"] for row in json.loads(out)["agents"]] == [1, 2]
        assert processes_of(tmp_path) == []
    finally:
        process.kill()
        process.communicate()


def test_nodes_end_with_the_command_however_it_ends(tmp_path):
    process = run_command("--agents", 2, "--byzantine", 0, "--traffic", 5, "--data", tmp_path / "net")
    try:
        assert wait_for(lambda: len(processes_of(tmp_path)) == 3, 60)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert wait_for(lambda: processes_of(tmp_path) == [], 20)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"agents": 1, "byzantine": 0}, "agents 1 is not allowed; allowed: 2 to 100"),
        ({"agents": 3, "byzantine": 3}, "byzantine 3 leaves no normal agent; allowed: 0 to 2"),
        ({"attack": "adaptiv"}, "attack 'adaptiv' is not known; did you mean 'adaptive'"),
        ({"graph": "firms", "agents": 9}, "agents 9 does not fit graph 'firms'"),
        ({"arms": "random:1001"}, "arms: 1001 are not allowed; allowed: 2 to 1000"),
        ({"kappa": "random"}, r"kappa 'random' is not allowed for nodes; allowed: one number in \[1, 2\)"),
        ({"memory": 3}, "memory 3 is not what nodes do; allowed: 0"),
        ({"tell": "every:3"}, "tell 'every:3' is not what nodes do; allowed: every, or growth:d"),
        ({"algorithm": "consensus"}, "algorithm 'consensus' is not what nodes do; allowed: resilient"),
        ({"rewards": "beta:3"}, "rewards 'beta:3' is not what nodes do; allowed: bernoulli"),
        ({"byzantine": [2, 4]}, r"byzantine \[2, 4\] is not what nodes do; allowed: a number"),
        ({"seed": 2**62}, "seed .* is not allowed; allowed: 0 to"),
    ],
)
def test_bad_settings_are_said_in_one_sentence_before_anything_is_written(tmp_path, settings, said):
    with pytest.raises(BadInput, match=said):
        provision(Experiment(**settings), tmp_path / "net")
    assert not (tmp_path / "net").exists()


def test_nodes_tell_by_growth_as_the_experiment_says(tmp_path):
    for tell, growth in (("growth:0.2", 0.2), ("every", None)):
        deployment = provision(Experiment(agents=4, byzantine=1, tell=tell), tmp_path / tell.partition(":")[0])
        for member in deployment.members:
            assert read_config(member.directory / "node.toml").report_growth == growth


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"equivocators": "hang"}, "equivocators 'hang' is not allowed; allowed: expel, keep"),
        ({"base_port": 80}, "base port 80 is not allowed; allowed: 1024 to"),
    ],
)
def test_bad_options_are_said_in_one_sentence_before_anything_is_written(tmp_path, options, said):
    with pytest.raises(BadInput, match=said):
        provision(Experiment(), tmp_path / "net", Options(**options))
    assert not (tmp_path / "net").exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--traffic", 0, "traffic 0.0 is not allowed; allowed: above 0"),
        ("--filter", "trim", "filter 'trim' is not known"),
        ("--arms", "0.5,x", "arms 'x' is not allowed; allowed: numbers"),
    ],
)
def test_the_command_refuses_in_one_sentence(tmp_path, option, value, said):
    with run_command("--data", tmp_path / "net", option, value) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.splitlines()[-1].startswith(f"error: {said}") and "Traceback" not in errors


def test_a_directory_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "letter").touch()
    with pytest.raises(BadInput, match="is not empty"):
        provision(Experiment(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_two_testbeds_that_start_at_once_have_ports_of_their_own(tmp_path):
    """Though no node listens yet; whoever ends gives them back."""
    one, other = (Network(Experiment(agents=4, byzantine=1), tmp_path / name) for name in ("one", "other"))
    ports = [{member.port for member in network.members} for network in (one, other)]
    assert ports[0].isdisjoint(ports[1])
    for network in (one, other):
        network.stop()
        assert network.deployment.claim.fileno() == -1


def test_a_node_of_another_testbed_is_not_taken_for_ones_own(tmp_path, monkeypatch):
    monkeypatch.setattr("byzmab.testbed.network.START", 5.0)
    with Network(Experiment(agents=2, byzantine=0), tmp_path / "one") as one:
        options = Options(base_port=one.members[0].port - 1)
        with pytest.raises(BadInput, match="agent-1 did not start"):
            Network(Experiment(agents=2, byzantine=0), tmp_path / "other", options).start()


@pytest.mark.parametrize("graph", ["complete", "erdos-renyi:0.6", "two-case:4-5", "firms", "ring:4"])
def test_files_hold_the_simulators_graph_in_both_directions(tmp_path, graph):
    """Who hears whom is what a simulation with the same seed draws, and both ends of every edge agree."""
    experiment = Experiment(graph=graph, seed=3, byzantine=2, f=1, agents=10, horizon=1)
    deployment = provision(experiment, tmp_path)
    run = Run(experiment, 0)
    run.advance(1)
    starts, heard = run.state["inbox_starts"], run.state["inbox_senders"]
    simulated = tuple(tuple(heard[starts[i] : starts[i + 1]].tolist()) for i in range(10))
    assert deployment.plan.graph == simulated == draw_graph(resolve_graph(graph), 10, 2, 3)
    configs = {member.name: read_config(member.file) for member in deployment.members}
    for name, config in configs.items():
        for neighbour in config.neighbours:
            mirrored = next(one for one in configs[neighbour.name].neighbours if one.name == name)
            assert (neighbour.hears, neighbour.tells) == (mirrored.tells, mirrored.hears)
            assert (neighbour.endpoint is None) != (mirrored.endpoint is None), "one of the two connects"
        hears = {neighbour.name for neighbour in config.neighbours if neighbour.hears}
        number = int(name.removeprefix("agent-"))
        assert hears == {f"agent-{j + 1}" for j in simulated[number - 1]}


def test_nodes_decide_as_the_experiment_says(tmp_path):
    experiment = Experiment(
        agents=4, byzantine=1, f=0, kappa=1.3, filter="pooled", policy="tuned", arms="random:5", seed=2
    )
    deployment = provision(experiment, tmp_path)
    run = Run(experiment, 0)
    run.advance(1)
    assert deployment.plan.true_means == tuple(run.state["true_means"].tolist())
    for member in deployment.members:
        config = read_config(member.file)
        assert (config.f, config.kappa, config.filter, config.policy) == (0, 1.3, "pooled", "tuned")
        assert len(config.arms) == 5


def test_rewards_are_the_simulators_and_the_same_for_the_solo_counterpart():
    played = Run(Experiment(seed=5, horizon=40, filter="solo"), 0)
    played.advance(40)
    state, true_means = played.state, (0.5, 0.45, 0.4, 0.3)
    for agent in range(3):
        stream, twin = RewardStream(true_means, 5, agent), RewardStream(true_means, 5, agent)
        for arm in range(4):
            pulls = int(state["pulls"][agent, arm])
            drawn = [stream.pull(arm) for _ in range(pulls)]
            assert sum(drawn) == state["totals"][agent, arm]
            assert drawn == [twin.pull(arm) for _ in range(pulls)]
        gaps = [0.0, 0.05, 0.1, 0.2]
        assert stream.regret == pytest.approx(
            sum(g * (n - 1) for g, n in zip(gaps, state["pulls"][agent], strict=True))
        )


SCRIPT = """
from pathlib import Path
from byzmab import Experiment
from byzmab.testbed.network import Network

print("begun")
with Network(Experiment(agents=2, byzantine=0), Path("net")) as network:
    print([network.state(member.number) for member in network.members])
"""


def test_a_script_needs_no_guard_to_start_a_network(tmp_path):
    """Nodes are forked, and know nothing of the script: it is run once."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "begun\n['up', 'up']\n"), done.stderr
