"""Liars on the wire: the simulator's attacks, told in signed frames to real hosts."""

import time

import msgspec
import numpy as np
import pytest

from byzmab import Agent, Experiment, simulate
from byzmab.attacks import ATTACKS
from byzmab.core.draws import fold
from byzmab.core.report import Report
from byzmab.node.clock import Clock
from byzmab.node.config import Config, Neighbour
from byzmab.node.evidence import Lie, explain
from byzmab.node.host import Host
from byzmab.node.identity import Key
from byzmab.node.store import NodeStore
from byzmab.node.transport.memory import FAULTLESS, Faults, Hub, MemoryTransport
from byzmab.simulation.single_run import Run
from byzmab.testbed.believers import Believers
from byzmab.testbed.liar import AttackView, Liar
from byzmab.testbed.plan import AttackPlan, write_plan
from byzmab.testbed.rewards import RewardStream

ARMS = ("red", "green", "blue", "grey")


class InMemoryNetwork:
    """The network of an experiment as hosts in this process, fed the simulator's luck, and the simulation itself."""

    def __init__(self, experiment, directory, faults, skew=0.0, **settings):
        self.experiment, self.run = experiment, Run(experiment, 0)
        self.run.advance(1)  # the graph is drawn in the first round
        state, parts = self.run.state, experiment.parts
        self.run = Run(experiment, 0)
        starts, heard = state.inbox_starts, state.inbox_senders
        self.graph = tuple(tuple(map(int, heard[starts[i] : starts[i + 1]])) for i in range(parts.agents))
        self.names = tuple(f"agent-{i + 1}" for i in range(parts.agents))
        self.keys = [Key(bytes([i + 1] * 32)) for i in range(parts.agents)]
        self.hub = Hub(faults, seed=1)
        self.skew = skew  # seconds between the clocks of two agents
        self.plan = AttackPlan(
            attack=experiment.attack,
            byzantine=experiment.byzantine,
            agents=self.names,
            graph=self.graph,
            true_means=tuple(parts.means),
            arms=ARMS,
            f=parts.f,
            kappa=float(experiment.kappa),
            filter=experiment.filter,
            seed=experiment.seed,
            policy=experiment.policy,
        )
        write_plan(self.plan, directory / "attack-plan.json")
        self.hosts = [self._host(i, directory, settings) for i in range(parts.agents)]

    def _host(self, i, directory, settings):
        neighbours = tuple(
            Neighbour(name=self.names[j], key=self.keys[j].public, hears=j in self.graph[i], tells=i in self.graph[j])
            for j in range(len(self.names))
            if j in self.graph[i] or i in self.graph[j]
        )
        experiment = self.experiment
        config = Config(
            name=self.names[i],
            network="test",
            key="",
            data="",
            arms=ARMS,
            f=experiment.parts.f,
            kappa=experiment.kappa,
            filter=experiment.filter,
            policy=experiment.policy,
            neighbours=neighbours,
            **settings,
        )
        (directory / self.names[i]).mkdir()
        store = NodeStore(directory / self.names[i], "test", self.keys[i].public)
        report_for = Liar(directory / "attack-plan.json", self.names[i]) if i < experiment.byzantine else None
        clock = Clock(wall=lambda: time.time() + self.skew * i)
        host = Host(config, self.keys[i], store, MemoryTransport(self.hub, self.keys[i].public), report_for, clock)
        host.agent.seed = int(fold(self.run.state.policy_key, i))
        host.agent._rng[1] = host.agent.seed
        host.open()
        return host

    def start(self):
        """Time 0: every agent pulls every arm once, with the simulator's rewards."""
        means = self.run.state.means
        for i, host in enumerate(self.hosts):
            for _ in ARMS:
                event, arm, *_ = host.select()
                host.reward(event, float(means[i, ARMS.index(arm)]))

    def exchange(self):
        """All honest agents tell, then the liars, who have listened."""
        for group in (self.hosts[self.experiment.byzantine :], self.hosts[: self.experiment.byzantine]):
            for host in group:
                host.post(host.compose())
            self.settle()

    def settle(self):
        while self.hub.carry():
            for host in self.hosts:
                host.listen()

    def play_round(self):
        """One round of both; the arms that normal agents chose, live and simulated."""
        state = self.run.state
        totals = state.totals.copy()
        self.exchange()
        self.run.advance(state.time + 1)
        live = []
        for i, host in enumerate(self.hosts):
            event, arm, *_ = host.select()
            live.append(ARMS.index(arm))
            simulated = state.choices[i]
            host.reward(event, float(state.totals[i, simulated] - totals[i, simulated]))
        normal = slice(self.experiment.byzantine, None)
        return live[normal], state.choices.tolist()[normal]

    def close(self):
        for host in self.hosts:
            host.close()


@pytest.fixture
def network(tmp_path):
    made = []

    def make(faults=FAULTLESS, settings=None, **experiment):
        made.append(InMemoryNetwork(Experiment(**experiment), tmp_path, faults, **(settings or {})))
        return made[-1]

    yield make
    for one in made:
        one.close()


EXACT = sorted(set(ATTACKS.entries) - {"gaussian"})  # which copies counts of the round before, that nobody is told


@pytest.mark.parametrize("attack", EXACT)
def test_lies_over_the_wire_lead_to_the_simulated_choices(network, attack):
    """Seven hosts, two of them lying in signed frames, choose what the simulator chooses, round by round."""
    live = network(agents=7, byzantine=2, attack=attack, horizon=20, settings={"equivocators": "keep"})
    live.start()
    for _ in range(20):
        chosen, simulated = live.play_round()
        assert chosen == simulated


def test_a_liar_needs_to_hear_only_those_to_whom_it_lies(network):
    """The paper's ten firms: each liar hears four of the others, and imagines the rest."""
    settings = {"graph": "firms", "f": 1, "filter": "screened", "policy": "tuned"}
    live = network(byzantine=2, attack="extreme", horizon=25, settings={"equivocators": "keep"}, **settings)
    live.start()
    for _ in range(25):
        chosen, simulated = live.play_round()
        assert chosen == simulated


def test_liars_that_tell_each_receiver_something_else_are_proven_and_expelled(network):
    live = network(agents=6, byzantine=1, attack="extreme", horizon=60)
    live.start()
    for _ in range(5):
        live.play_round()
    for host in live.hosts[1:]:
        neighbour = host.neighbourhood.neighbours["agent-1"]
        assert neighbour.proof.kind is Lie.EQUIVOCATION and neighbour.expelled
        assert "agent-1" not in host.heard
        others = [other for name, other in host.neighbourhood.neighbours.items() if name != "agent-1"]
        assert not any(other.evidence for other in others), "honest agents are not accused"


def test_who_was_away_when_a_liar_was_caught_is_shown_the_proof_later(network):
    """Those who expelled the liar are no witnesses of its reports any more, so the one who was away cannot find out alone."""
    live = network(agents=6, byzantine=1, attack="extreme", horizon=60)
    live.start()
    away = live.hosts[5].neighbourhood.neighbours["agent-1"]
    live.hub.partition([live.keys[5].public])
    for _ in range(5):
        live.play_round()
    assert all(host.neighbourhood.neighbours["agent-1"].expelled for host in live.hosts[1:5])
    assert not away.expelled
    live.hub.partition()
    for _ in range(5):
        live.play_round()
    assert away.expelled


def test_one_lie_to_all_is_no_equivocation_but_no_tally_has_such_a_sequence(network):
    live = network(agents=6, byzantine=1, attack="constant", horizon=60)
    live.start()
    for _ in range(5):
        live.play_round()
    for host in live.hosts[1:]:
        neighbour = host.neighbourhood.neighbours["agent-1"]
        assert neighbour.proof.kind is Lie.SEQUENCE and neighbour.expelled
        assert "which no tally" in explain(neighbour.proof)


@pytest.mark.parametrize("attack", ["constant:careful=1", "mimic:careful=1"])
def test_careful_liars_that_tell_all_the_same_are_never_proven(network, attack):
    """They lead to the simulated choices, audits on both sides."""
    live = network(agents=8, byzantine=2, filter="guarded", attack=attack, horizon=25)
    live.start()
    for _ in range(25):
        chosen, simulated = live.play_round()
        assert chosen == simulated
    for host in live.hosts[2:]:
        for liar in ("agent-1", "agent-2"):
            neighbour = host.neighbourhood.neighbours[liar]
            assert not neighbour.expelled and not neighbour.evidence and liar in host.heard


def test_a_careful_liar_stays_careful_under_a_new_plan(network, tmp_path):
    """One that was honest so far turns; then the lie changes. Nobody can prove anything."""
    live = network(agents=6, byzantine=1, filter="guarded", attack="none", horizon=60)
    live.start()
    for attack in ("none", "constant:careful=1", "mimic:careful=1", "constant:0.9,0.1,careful=1"):
        write_plan(msgspec.structs.replace(live.plan, attack=attack), tmp_path / "attack-plan.json")
        for _ in range(6):
            live.play_round()
    for host in live.hosts[1:]:
        neighbour = host.neighbourhood.neighbours["agent-1"]
        assert not neighbour.evidence and "agent-1" in host.heard


def test_equivocators_are_kept_where_the_filter_alone_is_to_decide(network):
    live = network(agents=6, byzantine=1, attack="extreme", horizon=60, settings={"equivocators": "keep"})
    live.start()
    for _ in range(5):
        live.play_round()
    for host in live.hosts[1:]:
        assert host.neighbourhood.neighbours["agent-1"].proof
        assert "agent-1" in host.heard


def test_a_running_liar_follows_a_new_plan(network, tmp_path):
    live = network(agents=6, byzantine=1, attack="none", horizon=60, settings={"equivocators": "keep"})
    live.start()
    live.play_round()
    assert max(live.hosts[1].heard["agent-1"].pulls) < 10
    plan = AttackPlan(
        **{name: getattr(live.plan, name) for name in AttackPlan.__struct_fields__ if name != "attack"}, attack="starve"
    )
    write_plan(plan, tmp_path / "attack-plan.json")
    live.play_round()
    assert max(live.hosts[1].heard["agent-1"].pulls) == 0


def test_clocks_that_are_days_apart_change_no_choice(network):
    settings = {"equivocators": "keep", "skew": 86_400.0}
    live = network(agents=6, byzantine=1, attack="adaptive", horizon=20, settings=settings)
    live.start()
    for _ in range(20):
        chosen, simulated = live.play_round()
        assert chosen == simulated


@pytest.mark.parametrize("attack", ["adaptive", "gaussian"])
def test_with_f_liars_among_ten_honest_regret_stays_in_the_simulators_band(network, attack):
    """Reports only every fifth decision, each agent at its own pace: the band is four standard deviations of a run."""
    horizon, settings = 200, {"agents": 10, "byzantine": 2, "attack": attack, "filter": "pooled", "policy": "tuned"}
    band = simulate(Experiment(horizon=horizon, runs=40, **settings)).summary()["regret"]
    live = network(horizon=horizon, settings={"equivocators": "keep"}, **settings)
    true_means, chance = live.experiment.parts.means, np.random.default_rng(0)
    streams = [RewardStream(true_means, 1, i) for i in range(10)]
    while min(sum(stream.pulls) for stream in streams) < horizon + len(ARMS):
        for host, stream in zip(live.hosts, streams, strict=True):
            for _ in range(min(chance.integers(3, 8), horizon + len(ARMS) - sum(stream.pulls))):
                event, arm, *_ = host.select()
                host.reward(event, stream.pull(ARMS.index(arm)))
        live.exchange()
    regret = np.mean([stream.regret for stream in streams[2:]])
    assert abs(regret - band["mean"]) < 4 * band["std"]
    assert regret < np.mean([solo_regret(live, i, horizon) for i in range(2, 10)])


def solo_regret(live, i, horizon):
    """What the same agent pays on the same rewards when it hears nobody."""
    stream = RewardStream(live.experiment.parts.means, 1, i)
    agent = Agent(len(ARMS), filter="solo", policy=live.experiment.policy, seed=i)
    for _ in range(horizon + len(ARMS)):
        arm = agent.select()
        agent.reward(arm, stream.pull(arm))
    return stream.regret


@pytest.mark.parametrize(
    "faults",
    [Faults(drop=0.3), Faults(duplicate=0.5), Faults(delay=5), Faults(duplicate=0.3, delay=8, reorder=True)],
    ids=["dropped", "duplicated", "delayed", "reordered"],
)
def test_a_network_with_liars_learns_over_bad_links(network, faults):
    """Frames lost, doubled, late or out of order: tallies stay one's own, honest agents stay unaccused, nobody stops."""
    live = network(faults, {"equivocators": "keep"}, agents=6, byzantine=2, f=1, attack="adaptive", horizon=40)
    live.start()
    for _ in range(40):
        live.play_round()
    for host in live.hosts[2:]:
        assert host.agent.time == 40
        assert sum(host.agent.report().pulls) == 40 + len(ARMS)
        for name, neighbour in host.neighbourhood.neighbours.items():
            heard, told = neighbour.newest.signed, live.hosts[live.names.index(name)]
            assert 0 < heard.seq <= told.seq
            if name not in ("agent-1", "agent-2"):
                assert not neighbour.evidence
                assert np.all(np.array(heard.pulls) <= told.agent.report().pulls)


def test_the_time_of_an_attack_is_counted_in_decisions_however_often_liars_tell(network, monkeypatch):
    """As in the simulator, and among believers; a report more does not make it later."""
    times = []
    make_up = AttackView.make_up
    monkeypatch.setattr(AttackView, "make_up", lambda view, time: (times.append(time), make_up(view, time)))
    live = network(agents=6, byzantine=1, f=1, attack="extreme", horizon=5, settings={"equivocators": "keep"})
    live.start()
    live.exchange()
    live.exchange()
    live.play_round()
    live.exchange()
    assert times == [0, 0, 0, 1]
    times.clear()
    believers = Believers(live.plan, "ucb", 1e9)
    for _ in range(len(ARMS) + 2):
        believers.decide(0)
    believers.exchange()
    believers.exchange()
    assert times == [2, 2]


@pytest.mark.parametrize("attack", ["adaptive", "crafted:0,0,0,1,1,1,1,-1,1,0,0,0,1"])
def test_lies_follow_what_is_heard_where_time_stands_still(attack):
    """What liars write down for each other is of this report, not of the one before; one receiver, or one lie to all."""
    names, graph = tuple(f"agent-{i}" for i in range(1, 5)), ((), (), (0, 1, 3), ())
    plan = AttackPlan(attack, 2, names, graph, (0.9, 0.6, 0.4, 0.2), ARMS, 1, 1.5, "trimmed")
    view = AttackView(plan, names[0])
    for mean in (0.5, 0.25):
        view.look({name: Report(np.full(4, 10.0), np.full(4, mean), ARMS) for name in names})
        view.make_up(7)
        for liar in names[:2]:
            assert view.lie(liar, names[2]).means == pytest.approx([mean] * 4)
