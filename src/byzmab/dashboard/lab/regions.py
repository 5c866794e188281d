"""Decision regions at contexts, for the page that shows them: agents alone, believing everyone and filtering.

Contexts are points u of a disc, given to agents as (1, u)/√2. Arm k pays ½ + REACH · uᵀv_k, its direction v_k on the
circle, so each arm is best on a third of the disc. All three ways have equal contexts and equal random numbers.
"""

import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from byzmab.core.agent import Agent
from byzmab.core.contexts.reports import ContextReport
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats

AGENTS, ROUNDS = 10, 1000
MOST_LIARS = 4
TOLD_EVERY = 10  # rounds between two reports, and between two points of a regret curve
FIRST_FRAME, GROWTH = 50, 1.2  # the round of the first picture, and by how much the next one is later
GRID = 25  # points at which estimates are sent, across
PRECISION = 1000  # estimates are sent as whole numbers of 1/1000
REACH = 0.4
ARMS = ("A", "B", "C")
ANGLES = [math.radians(degrees) for degrees in (90, 210, 330)]
DIRECTIONS = np.array([(math.cos(angle), math.sin(angle)) for angle in ANGLES])
CLAIMED = 50.0  # a Byzantine agent's pulls, as a multiple of those it made: as many as anybody counts
WAYS = ("alone", "believing", "filtering")  # in the order of the panels
FILTER, POLICY = "pooled", "tuned"


def at(u: Floats) -> Floats:
    """The context of a point of the disc."""
    return np.array([1.0, *u]) / math.sqrt(2.0)


def flip(told: ContextReport) -> ContextReport:
    """Say of every arm the opposite."""
    return told._replace(moments=-told.moments)


def swap(told: ContextReport) -> ContextReport:
    """Say of every arm what is true of the next one."""
    return told._replace(**{part: np.roll(getattr(told, part), -1, axis=0) for part in ("pulls", "moments", "grams")})


def constant(told: ContextReport) -> ContextReport:
    """Say that A always pays, and the others never do, at every context."""
    means = np.array([0.5, -0.5, -0.5])[:, None] * at(np.zeros(2)) * 2.0
    return told._replace(moments=np.einsum("kab,kb->ka", told.grams, means))


ATTACKS: dict[str, Callable[[ContextReport], ContextReport]] = {"constant": constant, "swap": swap, "flip": flip}


def frames(rounds: int) -> list[int]:
    """Return the rounds of which a picture is made: each a fifth later than the one before, and the last."""
    times, time = [], float(FIRST_FRAME)
    while time < rounds:
        times.append(TOLD_EVERY * round(time / TOLD_EVERY))
        time *= GROWTH
    return [*dict.fromkeys(time for time in times if time < rounds), rounds]


def _points() -> Floats:
    """Return the points of a picture, row by row from the top; those outside of the disc are moved to its rim."""
    steps = np.linspace(-1.0, 1.0, GRID)
    points = np.array([(x, y) for y in steps[::-1] for x in steps])
    inside: Floats = points / np.maximum(1.0, np.linalg.norm(points, axis=1, keepdims=True))
    return inside


def announcement() -> dict[str, Any]:
    """What the page is told before anything is played."""
    arms = [{"name": name, "angle": angle} for name, angle in zip(ARMS, ANGLES, strict=True)]
    return {"rounds": ROUNDS, "first": FIRST_FRAME, "step": TOLD_EVERY, "grid": GRID, "arms": arms}


class Group:
    """All agents in one of the three ways; the first ones lie, and the last one is looked at."""

    def __init__(self, way: str, liars: int, attack: str) -> None:
        hears, f = way != "alone", liars if way == "filtering" else 0
        settings: dict[str, Any] = {"filter": FILTER, "policy": POLICY, "context": 3, "vetting": way == "filtering"}
        self.agents = [Agent(ARMS, f, seed=number, **settings) for number in range(AGENTS)]
        self.regret = 0.0  # per honest agent
        self._hears, self._liars, self._lie = hears, liars, ATTACKS[attack]

    def play(self, points: Floats, numbers: Floats) -> None:
        """Let everyone pull once, each at its point."""
        for number, (agent, u) in enumerate(zip(self.agents, points, strict=True)):
            means, x = 0.5 + REACH * DIRECTIONS @ u, at(u)
            arm = ARMS.index(str(agent.select(x)))
            agent.reward(ARMS[arm], float(numbers[number] < means[arm]), x)
            if number >= self._liars:
                self.regret += float(means.max() - means[arm]) / (AGENTS - self._liars)

    def tell(self) -> None:
        """Let everyone who is honest hear everyone else, unless they are alone."""
        if not self._hears:
            return
        reports = [agent.report() for agent in self.agents]
        for liar in range(self._liars):
            told = reports[liar]
            more = told._replace(pulls=told.pulls * CLAIMED, moments=told.moments * CLAIMED, grams=told.grams * CLAIMED)
            reports[liar] = self._lie(more)
        for number, agent in enumerate(self.agents[self._liars :], self._liars):
            for sender, report in enumerate(reports):
                if sender != number:
                    agent.hear(sender, report)

    def picture(self, points: Floats) -> dict[str, Any]:
        """Return the last agent's estimates at every point, its share of right choices in the disc, and its regret."""
        estimates = np.array([self.agents[-1].belief(at(u)).estimates for u in points])
        inside = np.linalg.norm(points, axis=1) < 1.0
        right = np.argmax(estimates, axis=1) == np.argmax(points @ DIRECTIONS.T, axis=1)
        whole = np.rint(PRECISION * estimates).astype(int)
        return {"estimates": whole.T.tolist(), "right": float(right[inside].mean()), "regret": self.regret}


class Regions:
    """The three groups being played, for the page; `stop` ends it within a picture."""

    def __init__(self, liars: int, attack: str, seed: int = 0) -> None:
        if not 0 <= liars <= MOST_LIARS:
            raise BadInput(f"liars {liars} is not allowed; allowed: 0 to {MOST_LIARS} of {AGENTS}")
        if attack not in ATTACKS:
            raise BadInput(f"attack {attack[:80]!r} is not allowed; allowed: {', '.join(ATTACKS)}")
        self._liars, self._attack, self._rng = liars, attack, np.random.default_rng(seed)
        self._stop = threading.Event()
        self._groups: dict[str, Group] = {}

    def prepare(self) -> None:
        """Make the agents; what was never used on this machine is compiled here."""
        self._groups = {way: Group(way, self._liars, self._attack) for way in WAYS}

    def stop(self) -> None:
        """Have `updates` end within a picture."""
        self._stop.set()

    def updates(self) -> Iterator[dict[str, Any]]:
        """Play; yield a picture of each way now and then."""
        points, pictured = _points(), set(frames(ROUNDS))
        curves: dict[str, list[float]] = {way: [] for way in self._groups}  # since the picture before
        for time in range(1, ROUNDS + 1):
            if self._stop.is_set():
                return
            radius, angle = np.sqrt(self._rng.random(AGENTS)), 2.0 * np.pi * self._rng.random(AGENTS)
            seen = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
            numbers = self._rng.random(AGENTS)
            for way, group in self._groups.items():
                group.play(seen, numbers)
                if time % TOLD_EVERY == 0:
                    group.tell()
                    curves[way].append(round(group.regret, 2))
            if time in pictured:
                ways = {way: {**group.picture(points), "curve": curves[way]} for way, group in self._groups.items()}
                yield {"round": time, "ways": ways}
                curves = {way: [] for way in self._groups}
