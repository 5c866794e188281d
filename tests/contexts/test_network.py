"""A testbed with contexts: the simulator's contexts, rewards and lies over the wire, shadows, and what is refused."""

import json
import signal
import subprocess
import sys
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from command import byzmab
from live import config_of, host_of, neighbour_of
from pages import addresses_of
from waiting import LONG, until

from byzmab import BadInput, Client, Experiment
from byzmab.attacks import CONTEXT_ATTACKS
from byzmab.core.contexts.reports import ContextReport, parts_of
from byzmab.core.draws import fold
from byzmab.dashboard.live.watch import Watch
from byzmab.node.config import read_config
from byzmab.node.transport.memory import Hub
from byzmab.simulation.single_run import Run
from byzmab.testbed.believers import Believers
from byzmab.testbed.liar import AttackView, Liar
from byzmab.testbed.network import Network
from byzmab.testbed.plan import AttackPlan, attacks_for, with_liars, write_plan
from byzmab.testbed.provision import Options, plan_contexts, provision
from byzmab.testbed.rewards import stream_of

D, K, N, B = 3, 3, 7, 2
NAMES = tuple(f"agent-{i + 1}" for i in range(N))
COMPLETE = tuple(tuple(j for j in range(N) if j != i) for i in range(N))
SETTINGS = {"context": D, "arms": f"random:{K}", "agents": N, "byzantine": B, "filter": "pooled", "policy": "tuned"}
BLIND = [name for name, attack in CONTEXT_ATTACKS.entries.items() if not attack().sees_contexts]


def experiment_of(**settings):
    return Experiment(**{**SETTINGS, "horizon": 200, "runs": 1, **settings})


def plan_of(experiment):
    arms = tuple(f"arm-{k + 1}" for k in range(experiment.parts.arms))
    means = (0.5,) * len(arms)
    contexts = plan_contexts(experiment)
    decides = experiment.parts.f, 1.5, experiment.filter, experiment.seed
    return AttackPlan(experiment.attack, B, NAMES, COMPLETE, means, arms, *decides, contexts)


def hosts_of(plan, experiment, directory, key):
    """The network as hosts in this process, whose luck is the simulator's."""
    write_plan(plan, directory / "plan.json")
    hub, hosts = Hub(), []
    for i in range(N):
        neighbours = [neighbour_of(j + 1) for j in COMPLETE[i]]
        decides = {"filter": experiment.filter, "policy": experiment.policy, "f": experiment.parts.f}
        config = config_of(
            i + 1, directory, neighbours, arms=plan.arms, context=plan.contexts.d, equivocators="keep", **decides
        )
        lies = {"report_for": Liar(directory / "plan.json", NAMES[i])} if i < B else {}
        host = host_of(config, i + 1, hub, **lies)
        host.agent.seed = int(fold(key, i))
        host.agent._rng[1] = host.agent.seed
        hosts.append(host)
    return hub, hosts


def exchange(hub, hosts):
    """Honest agents tell first, then the liars, who have listened."""
    for group in (hosts[B:], hosts[:B]):
        for host in group:
            host.post(host.compose())
        while hub.carry():
            for host in hosts:
                host.listen()


@pytest.fixture
def digits(tmp_path):
    rng = np.random.default_rng(5)
    contexts = np.hstack([np.ones((30, 1)), rng.normal(size=(30, D - 1))])
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    np.savez(tmp_path / "data.npz", contexts=contexts, means=rng.uniform(size=(30, K)))
    return str(tmp_path / "data.npz")


@pytest.mark.parametrize(
    ("attack", "contexts"), [("flip", "alike"), ("flip", "leaning"), ("starve", "alike"), ("none", "data")]
)
def test_nodes_see_the_simulated_contexts_and_choose_the_simulated_arms(tmp_path, digits, attack, contexts):
    """Seven hosts, two of them liars in signed frames; regret is the simulator's too."""
    world = {"arms": digits} if contexts == "data" else {"contexts": contexts}
    experiment = experiment_of(attack=attack, **world)
    plan, run = plan_of(experiment), Run(experiment, 0)
    hub, hosts = hosts_of(plan, experiment, tmp_path, run.state.policy_key)
    streams = [stream_of(plan, i) for i in range(N)]
    for time in range(-K, 25):
        if time >= 0:
            exchange(hub, hosts)
            run.advance(time + 1)
        for i, (host, stream) in enumerate(zip(hosts, streams, strict=True)):
            if time >= 0:
                assert stream.context == pytest.approx(run.state.contexts[i], abs=1e-15)
            event, arm, *_ = host.select(context=stream.context)
            arm = plan.arms.index(arm)
            if time >= 0 and i >= B:  # what liars choose themselves follows from what they hear of each other
                assert arm == run.state.choices[i]
            host.reward(event, stream.pull(arm))
    assert [stream.regret for stream in streams[B:]] == pytest.approx(run.state.losses[B:].tolist())
    for host in hosts:
        host.close()


def report_of(rows, arms):
    return ContextReport(rows[:, 0].copy(), *parts_of(rows, D), arms)


@pytest.mark.parametrize("attack", BLIND)
def test_what_liars_make_up_over_the_wire_is_what_they_tell_in_the_simulator(attack):
    """From reports alone: the mean of a receiver's contexts follows from its matrices."""
    experiment = experiment_of(attack=attack, contexts="leaning")
    plan, run = plan_of(experiment), Run(experiment, 0)
    run.advance(60)
    before = {name: report_of(run.state.statistics[i].copy(), plan.arms) for i, name in enumerate(NAMES)}
    run.advance(61)
    view = AttackView(plan, NAMES[0])
    view.look(before)
    view.make_up(60)
    starts, senders, rows = run.state.inbox_starts, run.state.inbox_senders, run.state.inbox_rows
    compared = 0
    for receiver in range(N):
        for entry in range(starts[receiver], starts[receiver + 1]):
            if senders[entry] < B:
                told = report_of(run.state.told_statistics[int(rows[entry])], plan.arms)
                lie = view.lie(NAMES[senders[entry]], NAMES[receiver])
                for mine, simulated in zip(lie[:3], told[:3], strict=True):
                    assert mine == pytest.approx(simulated, rel=1e-6, abs=1e-8)
                compared += 1
    assert compared == B * (N - 1)


def test_whoever_is_not_heard_is_imagined_with_the_true_parameters():
    experiment = experiment_of(attack="large")
    plan, run = plan_of(experiment), Run(experiment, 0)
    run.advance(2_000 // N)
    view = AttackView(plan, NAMES[0])
    mine = report_of(run.state.statistics[0].copy(), plan.arms)
    view.look({NAMES[0]: mine})
    view.make_up(100)
    lie, parameters = view.lie_to(NAMES[4]), np.array(plan.contexts.parameters)
    for arm in range(K):
        theta = np.linalg.solve(lie.grams[arm] + np.eye(D), lie.moments[arm])
        expected = np.linalg.solve(mine.grams[arm] + np.eye(D), mine.grams[arm] @ parameters[arm])
        assert theta == pytest.approx(-100.0 * expected, rel=1e-6, abs=1e-6)


def test_a_liar_with_an_arm_more_or_less_than_the_plan_goes_on_lying(tmp_path):
    """Of the plan's arms; what it imagines of whoever tells nothing does not fail either."""
    experiment = experiment_of(attack="flip")
    plan, key = plan_of(experiment), Run(experiment, 0).state.policy_key
    hub, hosts = hosts_of(plan, experiment, tmp_path, key)
    stream = stream_of(plan, 0)
    for arms in (plan.arms, (*plan.arms, "another"), ("another", *plan.arms[1:])):
        hosts[0].set_arms(arms)
        for _ in range(2 * K):
            event, arm, *_ = hosts[0].select(context=stream.context)
            hosts[0].reward(event, stream.pull(plan.arms.index(arm)) if arm in plan.arms else 1.0)
        exchange(hub, hosts)
        for host in hosts[B:]:
            word = host.heard[NAMES[0]]
            assert word.seq == hosts[0].seq and word.report.arms == plan.arms
    for host in hosts:
        host.close()


def play(believers, rounds):
    for _ in range(rounds):
        believers.exchange()
        for number in range(N):
            believers.decide(number)
    return np.mean([stream.regret for stream in believers.rewards[B:]])


def test_lies_cost_whoever_adds_up_all_it_is_told():
    lied_to, honest = (
        play(Believers(plan_of(experiment_of(attack=attack)), "tuned", 1e9), 300) for attack in ("flip", "none")
    )
    assert lied_to > 2 * honest


def test_what_no_honest_agent_can_tell_costs_believers_little():
    """As nodes, they refuse it: whoever believed it would pull the worst arms for good."""
    refused, honest = (
        play(Believers(plan_of(experiment_of(attack=attack)), "tuned", 1e9), 200) for attack in ("large", "none")
    )
    assert refused < 3 * honest


def test_a_liar_that_turns_honest_tells_its_own_statistics_no_more_a_lie(tmp_path):
    """From its next report on, before its process is started anew; whoever lies instead begins to."""
    experiment = experiment_of(attack="flip")
    plan, key = plan_of(experiment), Run(experiment, 0).state.policy_key
    hub, hosts = hosts_of(plan, experiment, tmp_path, key)
    for number in (0, 3):
        stream = stream_of(plan, number)
        for _ in range(4 * K):
            event, arm, *_ = hosts[number].select(context=stream.context)
            hosts[number].reward(event, stream.pull(plan.arms.index(arm)))

    def is_own(liar, number):
        told, own = liar(hosts[number], NAMES[5]), hosts[number].agent.report()
        return told.arms == own.arms and all(map(np.allclose, told[:3], own[:3]))

    exchange(hub, hosts)
    liar = Liar(tmp_path / "plan.json", NAMES[0])
    assert not is_own(liar, 0)
    write_plan(with_liars(plan, "flip", {4}), tmp_path / "plan.json")
    exchange(hub, hosts)
    assert is_own(liar, 0)
    assert not is_own(Liar(tmp_path / "plan.json", NAMES[3]), 3)
    for host in hosts:
        host.close()


@pytest.mark.parametrize("attack", [*sorted(set(CONTEXT_ATTACKS.entries) - set(BLIND)), "crafted-at:knows=1"])
def test_no_node_lies_by_a_context_that_comes_after_its_report(tmp_path, attack):
    with pytest.raises(
        BadInput, match=f"attack '{attack.partition(':')[0]}.* is not what nodes do: it knows a context"
    ):
        provision(experiment_of(attack=attack), tmp_path / "net")
    assert not (tmp_path / "net").exists()


def test_a_page_offers_exactly_the_attacks_that_can_be_told():
    assert attacks_for(plan_of(experiment_of(attack="flip"))) == BLIND
    assert "flip" not in attacks_for(msgspec.structs.replace(plan_of(experiment_of(attack="none")), contexts=None))


def test_a_page_is_told_what_is_seen_and_takes_no_attack_that_knows_it(tmp_path):
    network = Network(experiment_of(attack="flip", contexts="leaning:1"), tmp_path / "net")
    watch = Watch(network, SimpleNamespace(seconds=0.0))
    about = json.loads(watch.about())
    assert (about["context"], about["contexts"], about["shares"], about["vetting"]) == (D, "leaning:1", "equal", True)
    assert about["attacks"] == sorted(BLIND)
    for attack in ("alie-at", "extreme"):
        with pytest.raises(BadInput, match=f"attack '{attack}' is not known here"):
            watch.set_attack(attack)
    with pytest.raises(BadInput, match="'alie-at' is not what nodes do"):
        network.set_attack("alie-at")
    assert network.attack == "flip"
    network.stop()


def test_nodes_with_contexts_report_less_often_unless_they_are_told_to(tmp_path):
    for name, options, every in (("one", Options(), 1.0), ("other", Options(report_every=0.3), 0.3)):
        deployment = provision(experiment_of(attack="flip"), tmp_path / name, options)
        assert {read_config(member.file).report_every for member in deployment.members} == {every}
        deployment.claim.close()


@pytest.mark.parametrize("every", [0, 0.0, -1.0, float("nan")])
def test_nobody_reports_at_no_interval(tmp_path, every):
    with pytest.raises(BadInput, match=f"report every {every} is not allowed; allowed: seconds above 0"):
        provision(experiment_of(attack="flip"), tmp_path / "net", Options(report_every=every))
    assert not (tmp_path / "net").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--context", "-1"], "context -1 is not allowed"),
        (["--context", "513", "--arms", "random:3"], "context 513 is not allowed; allowed: 0 to 512"),
        (["--context", "3", "--attack", "extreme"], "attack 'extreme' does not go with context; allowed: none, "),
        (["--context", "3", "--attack", "alie-at"], "attack 'alie-at' is not what nodes do: it knows a context"),
        (["--attack", "flip"], "attack 'flip' needs a context"),
        (["--ridge", "2"], "ridge 2.0 needs a context"),
        (["--context", "3", "--ridge", "0"], "ridge 0.0 is not allowed"),
        (["--context", "3", "--shares", "most"], "shares 'most' is not allowed; allowed: equal, "),
        (["--context", "3", "--contexts", "sideways"], "contexts 'sideways' is not allowed; allowed: alike"),
        (["--context", "3", "--attack", ""], "attack '' "),
        (["--attack", ""], "attack '' is not known; known: adaptive, "),
        (["--filter", ""], "filter '' is not known"),
        (["--policy", ""], "policy '' is not known"),
        (["--arms", ""], "arms '' is not allowed"),
        (["--context", "100", "--arms", "random:50"], "arms: 50 with contexts of 100 dimensions are too long"),
        (["--context", "3", "--arms", "missing.npz"], "arms 'missing.npz' cannot be read"),
    ],
)
def test_bad_settings_are_said_in_one_sentence(tmp_path, arguments, said):
    errors = byzmab("network", "--data", tmp_path / "net", *arguments, code=2).stderr
    assert errors.splitlines()[-1].startswith(f"error: {said}"), errors
    assert not (tmp_path / "net").exists()


def has_learned(address):
    """Whether a node has decided 50 times, and accepted a report of each neighbour."""
    with Client(address, timeout=LONG) as client:
        return client.state().decisions > 50 and all(peer.accepted for peer in client.neighbours())


def test_the_command_plays_with_contexts_over_sockets(tmp_path):
    command = [sys.executable, "-m", "byzmab.cli.main", "network", "--context", "3", "--arms", "random:3"]
    sizes = ["--agents", "4", "--byzantine", "1", "--f", "1", "--traffic", "20"]
    arguments = [*command, *sizes, "--data", str(tmp_path / "net"), "--json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        _, nodes = addresses_of(process)
        until(lambda: all(map(has_learned, nodes.values())))
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=LONG)
    assert process.returncode == 0, said
    summary = json.loads(out)
    assert (summary["context"], summary["attack"]) == (3, "flip")
    for row in summary["agents"]:
        assert row["decisions"] > 30 and row["failures"] == 0 and row["refusals"] == {}
        assert set(row["fates"]) == {f"agent-{i}" for i in range(1, 5)} - {row["name"]}
        assert row["regret"] > 0 and row["solo_regret"] > 0 and row["believer_regret"] > 0
