"""`byzmab network`: what it writes before nodes start, and what is left when it ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import byzmab
from pages import addresses_of
from waiting import LONG, until

from byzmab import BadInput, Client
from byzmab.core.liars import TooFewNeighbours
from byzmab.experiment.assumptions import TooManyLiars
from byzmab.experiment.experiment import Experiment
from byzmab.graphs import resolve_graph
from byzmab.node.config import read_config
from byzmab.simulation.single_run import Run
from byzmab.testbed.network import Network
from byzmab.testbed.provision import Options, claim_ports, draw_graph, provision
from byzmab.testbed.rewards import RewardStream


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


def expelled_by(address):
    with Client(address, timeout=LONG) as client:
        return [peer.name for peer in client.neighbours() if peer.expelled]


def test_more_liars_than_f_are_warned_of(tmp_path):
    """With seven neighbours `auto` is 2, and three liars are above it; with three, all reports are ignored."""
    with pytest.warns(TooManyLiars, match="f = auto, here 2, is too small"):
        Network(Experiment(agents=8, byzantine=3, f="auto", filter="guarded"), tmp_path / "many")
    with pytest.warns(TooFewNeighbours, match="f = auto needs 4 neighbours; 3 normal agents have fewer and ignore all"):
        Network(Experiment(agents=4, byzantine=1, f="auto", filter="guarded"), tmp_path / "few")


def test_the_command_plays_and_sums_up(tmp_path):
    base, claim = claim_ports(4)
    with claim, run_command(
        "--agents", 4, "--byzantine", 1, "--f", 1, "--attack", "extreme", "--traffic", 20, "--base-port", base, "--page-port", 0,
        "--data", tmp_path / "net", "--json", "--equivocators", "expel",
    ) as process:  # fmt: skip
        _, nodes = addresses_of(process)
        assert nodes == {i: f"http://127.0.0.1:{base + i}/" for i in range(1, 5)}
        until(lambda: all("agent-1" in expelled_by(nodes[number]) for number in (2, 3, 4)))
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=LONG)
    assert process.returncode == 0, said
    summary = json.loads(out)
    assert [row["lies"] for row in summary["agents"]] == [True, False, False, False]
    assert [row["url"] for row in summary["agents"]] == [f"http://127.0.0.1:{base + i}" for i in range(1, 5)]
    for row in summary["agents"]:
        assert row["decisions"] > 0
        if not row["lies"]:  # nobody talks to a liar once it is expelled, which may be before it heard anything
            assert row["expelled"] == ["agent-1"]
            assert {"agent-2", "agent-3", "agent-4"} - {row["name"]} <= set(row["fates"])
    assert summary["regret"]["regret"] >= 0.0
    assert summary["regret"]["believer_regret"] > 0.0
    assert processes_of(tmp_path) == []
    assert (tmp_path / "net" / "graph.json").is_file()


def test_the_command_ends_by_itself_after_its_duration(tmp_path):
    with run_command(
        "--agents", 2, "--byzantine", 0, "--traffic", 20, "--duration", 1, "--data", tmp_path / "net", "--json"
    ) as process:
        out, said = process.communicate(timeout=LONG)
    assert process.returncode == 0, said
    assert [(row["agent"], row["url"] in said) for row in json.loads(out)["agents"]] == [(1, True), (2, True)]
    assert processes_of(tmp_path) == []


def test_ctrl_c_ends_the_nodes_and_then_sums_up(tmp_path):
    """However early it comes, once nodes run."""
    process = run_command("--agents", 2, "--byzantine", 0, "--traffic", 5, "--data", tmp_path / "net", "--json")
    try:
        for line in process.stderr:
            if line.startswith("agent-2: "):
                break
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LONG)
        assert process.returncode == 0
        assert [row["agent"] for row in json.loads(out)["agents"]] == [1, 2]
        assert processes_of(tmp_path) == []
    finally:
        process.kill()
        process.communicate()


def test_nodes_end_with_the_command_however_it_ends(tmp_path):
    process = run_command("--agents", 2, "--byzantine", 0, "--traffic", 5, "--data", tmp_path / "net")
    try:
        until(lambda: len(processes_of(tmp_path)) == 3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        until(lambda: processes_of(tmp_path) == [])
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
    errors = byzmab("network", "--data", tmp_path / "net", option, value, code=2).stderr
    assert errors.splitlines()[-1].startswith(f"error: {said}")


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


def test_a_node_of_another_testbed_is_not_taken_for_ones_own(tmp_path):
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
    starts, heard = run.state.inbox_starts, run.state.inbox_senders
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
    assert deployment.plan.true_means == tuple(run.state.true_means.tolist())
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
            pulls = int(state.pulls[agent, arm])
            drawn = [stream.pull(arm) for _ in range(pulls)]
            assert sum(drawn) == state.totals[agent, arm]
            assert drawn == [twin.pull(arm) for _ in range(pulls)]
        gaps = [0.0, 0.05, 0.1, 0.2]
        assert stream.regret == pytest.approx(sum(g * (n - 1) for g, n in zip(gaps, state.pulls[agent], strict=True)))


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
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=LONG)
    assert (done.returncode, done.stdout) == (0, "begun\n['up', 'up']\n"), done.stderr
