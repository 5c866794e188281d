"""A network as its page sees it: asked once a second, its history kept, and what happened to it written down.

The history lives here and not in a page, so that a page opened late, or loaded again, shows all of it.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.errors import BadInput
from byzmab.core.liars import FROM_NEIGHBOURS, f_for
from byzmab.node.evidence import Lie
from byzmab.results.statistics import saving
from byzmab.testbed.network import Network
from byzmab.testbed.plan import attacks_for
from byzmab.testbed.traffic import REGRETS, Traffic

REFRESH = 1.0  # seconds between two looks at the nodes
MOST_POINTS = 600
MOST_EVENTS = 60
ACTIONS = {
    "kill": "is killed",
    "restart": "is up again",
    "partition": "is cut off",
    "heal": "has its neighbours back",
    "freeze": "hangs",
    "thaw": "goes on",
}


class Point(NamedTuple):
    """The honest nodes at one time: what they lost on average, how much they differ, and what their shadows lost."""

    seconds: float
    regret: float
    spread: float  # standard deviation over honest nodes
    solo_regret: float
    believer_regret: float


class History:
    """Points in time, oldest first; when there are too many, every second one goes, so that the whole time stays."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self._every, self._seen = 1, 0
        self._total = dict.fromkeys(REGRETS, 0.0)
        self._last: dict[int, Mapping[str, Any]] = {}

    def add(self, summary: Mapping[str, Any]) -> None:
        """Add what honest nodes lost since the last time, on average; so no curve jumps when a node turns."""
        honest = [row for row in summary["agents"] if not row["lies"]]
        for name in REGRETS:
            grown = [row[name] - self._last.get(row["agent"], {}).get(name, 0.0) for row in honest]
            self._total[name] += float(np.mean(grown))
        self._last = {row["agent"]: row for row in summary["agents"]}
        spread = float(np.std([row["regret"] for row in honest]))
        own, solo, believer = (self._total[name] for name in REGRETS)
        if self._seen % self._every and self.points:
            self.points.pop()  # the newest is always there, kept or not
        self._seen += 1
        self.points.append(Point(summary["seconds"], own, spread, solo, believer))
        if len(self.points) > MOST_POINTS:
            self.points = self.points[::2]
            self._every, self._seen = 2 * self._every, 1


class Watch:
    """A network and its traffic; `begin` has a thread look at it until `end`, however many pages are open."""

    def __init__(self, network: Network, traffic: Traffic, expel_after: float | None = None) -> None:
        self._network, self._traffic, self._expel_after = network, traffic, expel_after
        self._looking, self._acting, self._ended = threading.Lock(), threading.Lock(), threading.Event()
        self._history = History()
        self._events: list[dict[str, Any]] = []
        self._found: set[tuple[str, str]] = set()  # what was found out already: (proven or expelled, name)
        self._summary: dict[str, Any] | None = None
        self._judged: dict[str, Any] = {}  # what follows from the summary
        self._attacks = sorted({*attacks_for(network.deployment.plan), network.attack})
        self._thread = threading.Thread(target=self._run, name="watching the network", daemon=True)

    def begin(self) -> None:
        """Begin to look."""
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def about(self) -> bytes:
        """What does not change: the agents, which agents hear which, and how they decide."""
        plan, members = self._network.deployment.plan, self._network.members
        edges = [[sender + 1, i + 1] for i, senders in enumerate(plan.graph) for sender in senders]
        agents = [{"agent": one.number, "name": one.name, "url": one.url} for one in members]
        policy = self._network.deployment.policy
        rules = {"f": plan.f, "kappa": plan.kappa, "filter": plan.filter, "policy": policy, **self._at_contexts()}
        return json.dumps({"agents": agents, "edges": edges, "attacks": self._attacks, **rules}).encode()

    def _at_contexts(self) -> dict[str, Any]:
        """How contexts are seen and used, where there are any."""
        experiment = self._network.deployment.experiment
        if experiment.parts.contexts is None:
            return {"context": 0}
        data = experiment.parts.contexts.data
        seen = {"contexts": experiment.contexts if data is None else data.source.rpartition(":")[0]}
        return {"context": experiment.context, **seen, "shares": experiment.shares, "vetting": experiment.vetting}

    def past(self) -> bytes:
        """All points and events so far."""
        with self._looking:
            points = [point._asdict() for point in self._history.points]
            return json.dumps({"points": points, "events": self._events}).encode()

    def summary(self) -> bytes:
        """The network at the latest look, with the newest point and all events."""
        with self._looking:
            if self._summary is None:
                self._look()
            point = self._history.points[-1]._asdict()
            said = {"equivocators": self._network.equivocators, "point": point, "events": self._events}
            return json.dumps({**(self._summary or {}), **self._judged, **said}).encode()

    def do(self, action: str, agent: int) -> None:
        """Do one of ACTIONS to an agent; returns when it is done."""
        with self._acting:
            getattr(self._network, action)(agent)
        self._tell(f"{self._network.member(agent).name} {ACTIONS[action]}")

    def turn(self, agent: int) -> None:
        """Turn an agent into a Byzantine agent, or honest again."""
        with self._acting:
            self._network.turn(agent)
        self._tell(f"{self._network.member(agent).name} {'lies' if self._network.lies(agent) else 'is honest again'}")

    def set_attack(self, attack: str) -> None:
        """Change the attack; only listed ones, so that no page makes us load a file."""
        if attack not in self._attacks:
            raise BadInput(f"attack {attack!r} is not known here; allowed: {', '.join(self._attacks)}")
        with self._acting:
            self._network.set_attack(attack)
        self._tell(f"attack {attack}")

    def set_equivocators(self, equivocators: str) -> None:
        """Expel proven Byzantine agents from now on, or take them back."""
        self._expel_after = None  # somebody decides it now
        with self._acting:
            self._network.set_equivocators(equivocators)
        if equivocators == "keep":
            self._found -= {found for found in self._found if found[0] == "expelled"}
            self._tell("liars are taken back")

    def _run(self) -> None:
        while not self._ended.wait(REFRESH):
            with self._looking:
                self._look()
            if self._expel_after is not None and self._traffic.seconds >= self._expel_after:
                self.set_equivocators("expel")

    def _look(self) -> None:
        summary = self._traffic.summary()
        self._summary = summary
        self._history.add(summary)
        liars = [row["name"] for row in summary["agents"] if row["lies"]]
        honest = [row for row in summary["agents"] if not row["lies"]]
        saved = saving(*(np.array([row[name] for row in honest]) for name in REGRETS[:2]))
        self._judged = {"saved": saved, "overrun": overrun(self._network.deployment.plan.f, honest, liars)}
        for name in liars:
            self._find("proven", name, [row for row in honest if _proves(row, name)])
            self._find("expelled", name, [row for row in honest if name in row["expelled"]])

    def _find(self, what: str, name: str, by: Sequence[Any]) -> None:
        """Write down once that somebody was found out."""
        if by and (what, name) not in self._found:
            self._found.add((what, name))
            self._tell(f"{name} {'is proven to lie' if what == 'proven' else 'is expelled'}")

    def _tell(self, what: str) -> None:
        self._events = [*self._events, {"seconds": self._traffic.seconds, "what": what}][-MOST_EVENTS:]


def overrun(f: int | str, honest: Sequence[Mapping[str, Any]], liars: Sequence[str]) -> dict[str, int] | None:
    """How many Byzantine agents the worst honest node hears, and its f; None where no node hears more than f.

    The worst node hears most Byzantine agents beyond its f. An agent that a node expelled is not heard, and lowers its
    f.
    """
    worst: dict[str, int] | None = None
    for row in honest:
        heard = sum(row["fates"].get(name, "expelled") != "expelled" for name in liars)
        given = f if isinstance(f, int) else f_for(FROM_NEIGHBOURS, len(row["fates"]))
        mine = max(0, given - list(row["fates"].values()).count("expelled"))
        if heard > mine and (worst is None or heard - mine > worst["liars"] - worst["f"]):
            worst = {"liars": heard, "f": mine}
    return worst


def _proves(row: Mapping[str, Any], name: str) -> bool:
    """Whether a node holds proof, not only a suspicion, against another."""
    return any(piece["against"] == name and Lie(piece["kind"]).proves for piece in row["evidence"])
