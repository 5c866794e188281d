"""An application with known true means for every node of a testbed, and the regret of each node's decisions.

Beside each node stand two shadows, which decide as often and are fed the same rewards, pull by pull of each arm: its
solo counterpart, which hears nobody, and a believer, which averages all it is told.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Self, TypeVar

from byzmab.core.errors import BadInput
from byzmab.node.client import Client, NodeError
from byzmab.testbed.believers import Believers, rehearse, shadow
from byzmab.testbed.network import Network
from byzmab.testbed.provision import Member
from byzmab.testbed.rewards import stream_of

TIMEOUT = 5.0  # seconds for an answer
PAUSE = 0.2  # seconds before a node that could not be reached is asked again
BEHIND = 1.0  # seconds; what is missed beyond that is not made up for
MOST_PER_SECOND = 10_000.0
REGRETS = ("regret", "solo_regret", "believer_regret")
Answer = TypeVar("Answer")


class _Ended(Exception):
    """The application was stopped while it waited for its node."""


class Application:
    """Asks one node for arms and tells it the rewards; a failed request is repeated with the same event id."""

    def __init__(self, network: Network, member: Member, rate: float, believers: Believers | None = None) -> None:
        self._believers = believers
        plan, policy = network.deployment.plan, network.deployment.policy
        self.member, self._rate = member, rate
        self._client = Client(member.url, timeout=TIMEOUT, retries=0)
        self._indices = {arm: index for index, arm in enumerate(plan.arms)}
        self.rewards, self.solo_rewards = (stream_of(plan, member.number - 1) for _ in range(2))
        self._solo = shadow(plan, "solo", policy, plan.seed + member.number)
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
        """Make one decision with the node, and one with each of its shadows."""
        event = f"decision-{self.decisions + 1}"
        context = None if (x := self.rewards.context) is None else x.tolist()
        arm = self._indices[self._insist(lambda: self._client.select(event, context)).arm]
        value = self.rewards.peek(arm)
        self._insist(lambda: self._client.reward(event, value))
        self.rewards.pull(arm)
        x = self.solo_rewards.context
        alone = self._solo.select(x)
        self._solo.reward(alone, self.solo_rewards.pull(self._indices[str(alone)]), x)
        if self._believers is not None:
            self._believers.decide(self.member.number - 1)
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
        deployment = network.deployment
        rehearse(deployment.plan, deployment.policy)
        self.believers = Believers(deployment.plan, deployment.policy, deployment.report_every)
        network.on_plan = self.believers.use
        self.applications = [Application(network, member, rate, self.believers) for member in network.members]
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
        honest, plan = [row for row in rows if not row["lies"]], self._network.deployment.plan
        return {
            "seconds": self.seconds,
            "attack": self._network.attack,
            "true_means": list(plan.true_means),
            "context": 0 if plan.contexts is None else plan.contexts.d,
            "decisions": sum(row["decisions"] for row in rows),
            "regret": {name: _mean([row[name] for row in honest]) for name in REGRETS},
            "agents": rows,
        }

    def _row(self, application: Application) -> dict[str, Any]:
        member, network = application.member, self._network
        refusals: Counter[str] = Counter()
        evidence, expelled = [], []
        fates: dict[str, str] = {}
        for peer in self._peers(member):
            refusals.update(peer.refusals)
            evidence += [{"against": peer.name, "kind": str(piece.kind)} for piece in peer.evidence]
            expelled += [peer.name] if peer.expelled else []
            if peer.hears:
                fates[peer.name] = "expelled" if peer.expelled else _most_frequent(peer.fates.values())
        return {
            "agent": member.number,
            "name": member.name,
            "url": member.url,
            "lies": network.lies(member.number),
            "state": network.state(member.number),
            "decisions": application.decisions,
            "failures": application.failures,
            "regret": application.rewards.regret,
            "solo_regret": application.solo_rewards.regret,
            "believer_regret": self.believers.rewards[member.number - 1].regret,
            "refusals": dict(refusals),
            "evidence": evidence,
            "expelled": expelled,
            "fates": fates,
        }

    def _peers(self, member: Member) -> list[Any]:
        if self._network.state(member.number) in ("down", "hung"):
            return []
        try:
            with Client(member.url, timeout=TIMEOUT, retries=1) as client:
                return client.neighbours()
        except NodeError:
            return []


def _most_frequent(fates: Iterable[str]) -> str:
    """What became of a neighbour's newest report on most arms."""
    found = Counter(map(str, fates)).most_common(1)
    return found[0][0] if found else "silent"


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
