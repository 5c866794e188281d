"""An application with known true means for every node of a testbed, and the regret of each node's decisions.

Beside each node stands its solo counterpart: an agent that hears nobody, decides as often, and is fed the same
rewards, pull by pull of each arm.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Self, TypeVar

from byzmab.core import draws
from byzmab.core.agent import Agent
from byzmab.core.errors import BadInput
from byzmab.node.client import Client, NodeError
from byzmab.testbed.network import Network
from byzmab.testbed.provision import Member

TIMEOUT = 5.0  # seconds for an answer
PAUSE = 0.2  # seconds before a node that could not be reached is asked again
BEHIND = 1.0  # seconds; what is missed beyond that is not made up for
MOST_PER_SECOND = 10_000.0
Answer = TypeVar("Answer")


class RewardStream:
    """The rewards of one agent, each a function of arm and pull, and the regret of the pulls taken."""

    def __init__(self, means: tuple[float, ...], seed: int, agent: int) -> None:
        key = draws.key_of(seed, 0, draws.REWARD)  # as in the first run of a simulation
        self._keys = [draws.key_within(key, agent, arm) for arm in range(len(means))]
        self._means = means
        self.pulls = [0] * len(means)

    def peek(self, arm: int) -> float:
        """The reward of the next pull of an arm."""
        return float(draws.unit(draws.key_within(self._keys[arm], self.pulls[arm])) < self._means[arm])

    def pull(self, arm: int) -> float:
        """Take the reward of the next pull of an arm."""
        value = self.peek(arm)
        self.pulls[arm] += 1
        return value

    @property
    def regret(self) -> float:
        """Σ of μ* − μ over the pulls; as in the simulator, the first one of each arm is not counted."""
        best = max(self._means)
        return sum((best - mean) * max(0, count - 1) for mean, count in zip(self._means, self.pulls, strict=True))


class _Ended(Exception):
    """The application was stopped while it waited for its node."""


class Application:
    """Asks one node for arms and tells it the rewards; a failed request is repeated with the same event id."""

    def __init__(self, network: Network, member: Member, rate: float) -> None:
        plan, policy = network.deployment.plan, network.deployment.policy
        self.member, self._rate = member, rate
        self._client = Client(member.url, timeout=TIMEOUT, retries=0)
        self._indices = {arm: index for index, arm in enumerate(plan.arms)}
        self.rewards, self.solo_rewards = (RewardStream(plan.truths, plan.seed, member.number - 1) for _ in range(2))
        self._solo = Agent(len(plan.arms), 0, plan.kappa, "solo", policy, plan.seed + member.number)
        self.decisions = 0
        self.failures = 0  # questions without an answer
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"application of {member.name}", daemon=True)

    def start(self) -> None:
        """Start asking."""
        self._thread.start()

    def stop(self) -> None:
        """Stop asking, and wait until the last question is answered."""
        self._ended.set()
        self._thread.join()
        self._client.close()

    def decide(self) -> None:
        """Make one decision with the node, and one with its solo counterpart."""
        event = f"decision-{self.decisions + 1}"
        arm = self._indices[self._insist(lambda: self._client.select(event)).arm]
        value = self.rewards.peek(arm)
        self._insist(lambda: self._client.reward(event, value))
        self.rewards.pull(arm)
        alone = self._solo.select()
        self._solo.reward(alone, self.solo_rewards.pull(int(alone)))
        self.decisions += 1

    def _insist(self, ask: Callable[[], Answer]) -> Answer:
        while not self._ended.is_set():
            try:
                return ask()
            except NodeError:
                self.failures += 1
                self._ended.wait(PAUSE)
        raise _Ended

    def _run(self) -> None:
        due = time.monotonic()
        try:
            while not self._ended.wait(max(0.0, due - time.monotonic())):
                self.decide()
                due = max(due + 1.0 / self._rate, time.monotonic() - BEHIND)
        except _Ended:
            pass


class Traffic:
    """The applications of all nodes of a testbed, `rate` decisions per second each."""

    def __init__(self, network: Network, rate: float = 50.0) -> None:
        if not 0.0 < rate <= MOST_PER_SECOND:
            raise BadInput(f"traffic {rate!r} is not allowed; allowed: above 0, at most {MOST_PER_SECOND:g} per second")
        self._network = network
        self.applications = [Application(network, member, rate) for member in network.members]
        self._began = time.monotonic()
        self._seconds: float | None = None

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        for application in self.applications:
            application.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop all applications; the nodes run on."""
        if self._seconds is None:
            self._seconds = time.monotonic() - self._began
            for application in self.applications:
                application.stop()

    @property
    def seconds(self) -> float:
        """For how long there has been traffic."""
        return time.monotonic() - self._began if self._seconds is None else self._seconds

    def summary(self) -> dict[str, Any]:
        """Regret per node, and what the nodes say of each other; as plain data."""
        rows = [self._row(application) for application in self.applications]
        honest = [row for row in rows if not row["lies"]]
        return {
            "seconds": self.seconds,
            "attack": self._network.attack,
            "truths": list(self._network.deployment.plan.truths),
            "decisions": sum(row["decisions"] for row in rows),
            "regret": {name: _mean([row[name] for row in honest]) for name in ("regret", "solo_regret")},
            "agents": rows,
        }

    def _row(self, application: Application) -> dict[str, Any]:
        member = application.member
        refusals: Counter[str] = Counter()
        evidence, expelled = [], []
        for peer in self._peers(member):
            refusals.update(peer.refusals)
            evidence += [{"against": peer.name, "kind": str(piece.kind)} for piece in peer.evidence]
            expelled += [peer.name] if peer.expelled else []
        return {
            "agent": member.number,
            "name": member.name,
            "url": member.url,
            "lies": member.lies,
            "state": self._network.state(member.number),
            "decisions": application.decisions,
            "failures": application.failures,
            "regret": application.rewards.regret,
            "solo_regret": application.solo_rewards.regret,
            "refusals": dict(refusals),
            "evidence": evidence,
            "expelled": expelled,
        }

    def _peers(self, member: Member) -> list[Any]:
        if self._network.state(member.number) in ("down", "hung"):
            return []
        try:
            with Client(member.url, timeout=TIMEOUT, retries=1) as client:
                return client.peers()
        except NodeError:
            return []


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
