"""One agent, for use in any program: ask it for an arm, tell it the reward, let it hear others.

>>> from byzmab import Agent
>>> alice, bob = Agent(["red", "green"], seed=1), Agent(["red", "green"], seed=2)
>>> for agent in (alice, bob):
...     for _ in range(100):
...         arm = agent.select()
...         agent.reward(arm, 1.0 if arm == "green" else 0.0)
>>> alice.hear("bob", bob.report())
>>> alice.select()
'green'
"""

import json
import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from byzmab.core.board import Board
from byzmab.core.errors import BadInput
from byzmab.core.filters import FILTERS
from byzmab.core.filters.fates import Fate
from byzmab.core.policies import POLICIES
from byzmab.core.report import Belief, Report

FORMAT = 1  # of to_json
MOST = 1_000_000  # arms, or f
NEUTRAL = 0.5  # the estimate of an arm whose first reward is still to come
Name = str | int
Arm = Name


class Tally:
    """What an agent knows of one arm from its own pulls."""

    __slots__ = ("pending", "pulls", "total")

    def __init__(self, pulls: int = 0, total: float = 0.0, pending: int = 0) -> None:
        self.pulls = pulls  # rewarded
        self.total = total
        self.pending = pending  # chosen, but not rewarded yet

    @property
    def mean(self) -> float:
        """The sample mean; 0 before the first reward."""
        return self.total / self.pulls if self.pulls else 0.0


class Agent:
    """One agent of a network.

    Arms are names or numbers; a single number M means the arms 0..M−1. Rewards may come late, in any order, or
    never; arms come and go; the newest report of each neighbour counts until it is forgotten. An arm never chosen is
    chosen first; t, in the width, counts the decisions after those. A pull without its reward yet counts in the
    width, so that a burst of choices spreads over the arms, but neither in the estimate nor in reports.
    """

    def __init__(
        self,
        arms: int | Sequence[Arm],
        f: int = 0,
        kappa: float = 1.5,
        filter: Any = "trimmed",
        policy: Any = "ucb",
        seed: int = 0,
    ) -> None:
        arms = arms.tolist() if isinstance(arms, (np.generic, np.ndarray)) else arms
        numbered = isinstance(arms, int) and not isinstance(arms, bool) and 0 <= arms <= MOST
        names = list(range(arms)) if numbered else arms  # type: ignore[arg-type]
        if not isinstance(names, Sequence) or isinstance(names, str) or len(names) < 2:
            raise BadInput(f"arms {arms!r} is not allowed; allowed: two or more different names, or their number")
        if not isinstance(f, int) or isinstance(f, bool) or not 0 <= f <= MOST:
            raise BadInput(f"f {f!r} is not allowed; allowed: a whole number from 0 to {MOST}")
        if not isinstance(kappa, (int, float)) or not 1.0 <= kappa < 2.0:
            raise BadInput(f"kappa {kappa!r} is not allowed; allowed: a number in [1, 2)")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
            raise BadInput(f"seed {seed!r} is not allowed; allowed: a whole number from 0 to 2**64 - 1")
        self.f, self.kappa, self.seed = f, float(kappa), seed
        self.filter, self.policy = FILTERS.resolve(filter), POLICIES.resolve(policy)
        self.time = 0  # t: decisions after the first pulls
        self._believe, self._choose = self.filter.loop(), self.policy.loop()
        self._tallies: dict[Arm, Tally] = {_checked_name("arm", name): Tally() for name in names}
        if len(self._tallies) < len(names):
            raise BadInput(f"arms {arms!r} is not allowed; allowed: two or more different names, or their number")
        self._retired: dict[Arm, Tally] = {}  # late rewards still count, should the arm come back
        self._inbox: dict[Name, Report] = {}
        self._lay_board()

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms in use."""
        return self._arms

    @property
    def senders(self) -> tuple[Name, ...]:
        """Whose reports count now."""
        return tuple(self._inbox)

    @property
    def estimates(self) -> dict[Arm, float]:
        """z of every arm, as they were at the latest choice."""
        if not self._believed:
            self._update_belief()
        return dict(zip(self._arms, self._board["estimates"][0].tolist(), strict=True))

    def select(self) -> Arm:
        """Choose an arm to pull."""
        self._update_belief()
        if self._unpulled:
            arm = next(iter(self._unpulled))
            del self._unpulled[arm]
        else:
            self._choose(self._board.record)
            arm = self._arms[self._choices[0]]
            self.time += 1
        self._tallies[arm].pending += 1
        self._pending += 1
        return arm

    def reward(self, arm: Arm, value: float) -> None:
        """Count the reward, in [0, 1], of a pull of an arm."""
        if not isinstance(value, Real) or not 0.0 <= value <= 1.0:
            raise BadInput(f"reward {value!r} is not allowed; allowed: a number in [0, 1]")
        tally = self.tally(arm)
        self._settle(arm, tally)
        tally.pulls += 1
        tally.total += float(value)
        place = self._places.get(arm)
        if place is not None:
            self._unpulled.pop(arm, None)
            self._own_pulls[place] = tally.pulls
            self._own_means[place] = tally.total / tally.pulls

    def give_up(self, arm: Arm) -> None:
        """Wait no longer for the reward of a pull: it counts as if the arm had not been chosen."""
        tally = self.tally(arm)
        if not tally.pending:
            raise BadInput(f"arm {arm!r} has no pull to give up; allowed: arms that wait for a reward")
        self._settle(arm, tally)
        if arm in self._tallies and not tally.pulls + tally.pending:
            self._unpulled[arm] = None

    def tally(self, arm: Arm) -> Tally:
        """What the agent knows of an arm from its own pulls, retired arms included; to be read, not changed."""
        known = isinstance(arm, (str, int))
        tally = self._tallies.get(arm) or self._retired.get(arm) if known else None
        if tally is None:
            raise self._no_arm(arm)
        return tally

    def report(self) -> Report:
        """What an honest agent tells: its rewarded pulls and their means."""
        return Report(self._own_pulls.copy(), self._own_means.copy(), self._arms)

    def hear(self, sender: Name, report: Report) -> None:
        """Keep a neighbour's newest report; arms that only one side knows are left out."""
        self._inbox[_checked_name("sender", sender)] = checked(report, self._arms)
        self._seats.setdefault(sender, len(self._seats))
        if len(self._seats) > self._board.record["voices"]:
            self._lay_board()
        else:
            self._seat(sender)

    def forget(self, sender: Name) -> None:
        """Drop a neighbour's report: from now on it is silent."""
        if self._inbox.pop(sender, None) is not None:
            self._lay_board()

    def set_f(self, f: int) -> None:
        """Reckon with at most f liars from now on."""
        if not isinstance(f, int) or isinstance(f, bool) or not 0 <= f <= MOST:
            raise BadInput(f"f {f!r} is not allowed; allowed: a whole number from 0 to {MOST}")
        self.f = f
        self._lay_board()

    def belief(self) -> Belief:
        """What the agent holds true of its arms now."""
        self._update_belief()
        return Belief(*(self._board[name][0].copy() for name in ("estimates", "weights", "doubts")))

    def explain(self) -> dict[Name, dict[Arm, Fate]]:
        """What becomes of each neighbour's report on each arm; an arm without a reward of one's own hears nobody."""
        seats = len(self._seats)
        pulls, means = (self._board[name][1 : 1 + seats] for name in ("told_pulls", "told_means"))
        columns = [
            self.filter.fates(own, mean, pulls[:, place], means[:, place], self.f, self.kappa, self.time)
            if own
            else [Fate.UNUSED if heard else Fate.SILENT for heard in pulls[:, place]]
            for place, (own, mean) in enumerate(zip(self._own_pulls, self._own_means, strict=True))
        ]
        return {
            sender: {arm: column[seat] for arm, column in zip(self._arms, columns, strict=True)}
            for sender, seat in self._seats.items()
        }

    def add_arm(self, arm: Arm) -> None:
        """Start to use an arm, with what is known of it if it was in use before."""
        if _checked_name("arm", arm) in self._tallies:
            raise BadInput(f"arm {arm!r} is in use already; allowed: a new name, or a retired one")
        self._tallies[arm] = self._retired.pop(arm) if arm in self._retired else Tally()
        self._lay_board()

    def retire_arm(self, arm: Arm) -> None:
        """Stop using an arm; rewards still to come are counted, in case it comes back."""
        if _checked_name("arm", arm) not in self._tallies:
            raise self._no_arm(arm)
        if len(self._tallies) <= 2:
            raise BadInput(f"arm {arm!r} cannot be retired; allowed: while more than two arms are in use")
        self._retired[arm] = self._tallies.pop(arm)
        self._lay_board()

    def to_json(self) -> str:
        """The whole state, from which an agent goes on as if it had never stopped."""
        return json.dumps(
            {
                "format": FORMAT,
                "f": self.f,
                "kappa": self.kappa,
                "filter": FILTERS.name_of(self.filter),
                "policy": POLICIES.name_of(self.policy),
                "seed": self.seed,
                "time": self.time,
                "arms": _as_rows(self._tallies),
                "retired": _as_rows(self._retired),
                "inbox": [
                    [sender, list(report.arms), report.pulls.tolist(), report.means.tolist()]
                    for sender, report in self._inbox.items()
                ],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The agent that `to_json` wrote."""
        try:
            state = json.loads(text)
            if state["format"] != FORMAT:
                raise BadInput(f"agent state of format {state['format']!r} is not understood; allowed: {FORMAT}")
            names = [row[0] for row in state["arms"]]
            agent = cls(names, *(state[key] for key in ("f", "kappa", "filter", "policy", "seed")))
            agent.time = _checked_time(state["time"])
            agent._tallies = {row[0]: _checked_tally(*row[1:]) for row in state["arms"]}
            agent._retired = {_checked_name("arm", row[0]): _checked_tally(*row[1:]) for row in state["retired"]}
            for sender, arms, pulls, means in state["inbox"]:
                report = Report(np.array(pulls, float), np.array(means, float), tuple(arms))
                agent._inbox[_checked_name("sender", sender)] = checked(report, tuple(arms))
            agent._lay_board()
        except BadInput:
            raise
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
            raise BadInput(f"agent state cannot be read: {type(error).__name__}: {error}") from None
        return agent

    def _settle(self, arm: Arm, tally: Tally) -> None:
        """One pull is pending no longer."""
        if tally.pending:
            tally.pending -= 1
            self._pending -= arm in self._tallies

    def _no_arm(self, arm: Arm) -> BadInput:
        return BadInput(f"arm {arm!r} does not exist; allowed: {', '.join(map(repr, self._tallies))}")

    def _lay_board(self) -> None:
        """Lay out the board anew: a network of one, whose inbox is read from rows 1, 2, …"""
        self._arms = tuple(self._tallies)
        self._places = {arm: place for place, arm in enumerate(self._arms)}
        self._unpulled = {arm: None for arm, tally in self._tallies.items() if not tally.pulls + tally.pending}
        self._pending = sum(tally.pending for tally in self._tallies.values())
        self._seats = {sender: seat for seat, sender in enumerate(self._inbox)}
        arms, voices = len(self._arms), max(8, 2 * len(self._seats))
        self._board = board = Board(
            agents=1,
            arms=arms,
            f=self.f,
            consistency=self.filter.consistency,
            history=1,
            lie_room=voices,
            heard_room=voices,
            voices=voices,
        )
        for name in ("told_pulls", "told_means"):
            board.lay(name, np.zeros((1 + voices, arms)))
        for name in ("estimates", "weights", "doubts"):
            board.lay(name, np.zeros((1, arms)))
        for name in ("heard_pulls", "heard_means"):
            board.lay(name, np.zeros(voices))
        board.lay("pulls", board["told_pulls"][:1])
        board.lay("means", board["told_means"][:1])
        board.lay("news", np.zeros(1 + voices))
        board.lay("heard_starts", [0, len(self._seats)])
        board.lay("heard_rows", 1 + np.arange(voices))
        board.lay("kappas", [self.kappa])
        board.lay("policy_keys", np.array([self.seed], np.uint64))
        board.lay("choices", [0])
        board.lay("rng", [0])
        self._believed = False  # on this board
        self._own_pulls, self._own_means = board["pulls"][0], board["means"][0]
        self._choices = board["choices"]
        self._own_pulls[:] = [tally.pulls for tally in self._tallies.values()]
        self._own_means[:] = [tally.mean for tally in self._tallies.values()]
        for sender in self._inbox:
            self._seat(sender)

    def _seat(self, sender: Name) -> None:
        """Write a neighbour's report into its row, arm by arm."""
        report, seat = self._inbox[sender], self._seats[sender]
        board = self._board
        board["heard_starts"][1] = len(self._seats)
        pulls, means = board["told_pulls"][1 + seat], board["told_means"][1 + seat]
        if report.arms == self._arms:
            pulls[:], means[:] = report.pulls, report.means
            return
        pulls[:] = 0.0
        for arm, count, mean in zip(report.arms, report.pulls, report.means, strict=True):
            place = self._places.get(arm)
            if place is not None:
                pulls[place], means[place] = count, mean

    def _update_belief(self) -> None:
        record = self._board.record
        record["time"] = self.time
        self._believed = True
        self._believe(record)
        if not self._pending and not self._unpulled:
            return
        # w = n / g with n the rewarded pulls; in the width, pending ones count too
        weights, estimates = self._board["weights"][0], self._board["estimates"][0]
        for place, tally in enumerate(self._tallies.values()):
            if not tally.pulls:
                estimates[place], weights[place] = NEUTRAL, tally.pending
                self._board["doubts"][0, place] = 0.0
            elif tally.pending:
                weights[place] *= 1.0 + tally.pending / tally.pulls


def _checked_name(what: str, name: Any) -> Name:
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise BadInput(f"{what} {name!r} is not allowed; allowed: a name or a whole number")
    return name


def _checked_time(time: Any) -> int:
    if not isinstance(time, int) or not 0 <= time < 2**62:
        raise ValueError(f"time {time!r} is not a whole number of at least 0")
    return time


def _checked_tally(pulls: Any, total: Any, pending: Any) -> Tally:
    whole = all(isinstance(count, int) and 0 <= count < 2**53 for count in (pulls, pending))
    if not whole or not isinstance(total, (int, float)) or not 0.0 <= total <= pulls * (1.0 + 1e-9):
        raise ValueError(f"{pulls!r} pulls with {total!r} of reward and {pending!r} pending are no tally")
    return Tally(pulls, float(total), pending)


def _as_rows(tallies: dict[Arm, Tally]) -> list[list[Any]]:
    return [[arm, tally.pulls, tally.total, tally.pending] for arm, tally in tallies.items()]


def checked(report: Report, arms: tuple[Arm, ...]) -> Report:
    """A copy of a report with its arms named, or BadInput if it is none."""
    if not isinstance(report, Report):
        raise BadInput(f"report {report!r} is not allowed; allowed: a Report")
    try:
        names = tuple(_checked_name("arm", name) for name in report.arms) or arms
        pulls, means = np.array(report.pulls, np.float64), np.array(report.means, np.float64)
    except (TypeError, ValueError):
        raise BadInput("report is not allowed; allowed: numbers of pulls and means") from None
    if pulls.shape != (len(names),) or means.shape != (len(names),) or len(set(names)) < len(names):
        raise BadInput(f"report on {pulls.size} pulls and {means.size} means is not allowed; allowed: one each per arm")
    for count, mean in zip(pulls.tolist(), means.tolist(), strict=True):
        if not (0.0 <= count < math.inf and 0.0 <= mean <= 1.0):
            raise BadInput(
                f"report of {count!r} pulls with mean {mean!r} is not allowed; allowed: pulls ≥ 0, mean in [0, 1]"
            )
    return Report(pulls, means, names)
