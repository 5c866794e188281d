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
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from byzmab.core.decide import DOUBTS, ESTIMATES, MEANS, PENDING, PULLS, UNSOUND, WEIGHTS, decision
from byzmab.core.errors import BadInput
from byzmab.core.filters import FILTERS
from byzmab.core.filters.base import NO_BELIEF
from byzmab.core.filters.fates import Fate
from byzmab.core.html import table
from byzmab.core.liars import checked_f, f_as_given, f_for
from byzmab.core.policies import POLICIES
from byzmab.core.policies.base import NO_SUCH_ARM
from byzmab.core.report import Belief, Floats, Report
from byzmab.core.tally import Arm, Name, Tally, as_rows, checked_name, checked_report, checked_tally, checked_time

FORMAT = 1  # of to_json
MOST = 1_000_000  # arms, f or neighbours


class Agent:
    """One agent of a network.

    Arms are names or numbers; a single number M means the arms 0..M−1. Rewards may come late, in any order, or
    never; arms come and go; the newest report of each neighbour counts until it is forgotten. An arm never chosen is
    chosen first; t, in the width, counts the decisions after those. A pull without its reward yet counts in the
    width, so that a burst of choices spreads over the arms, but neither in the estimate nor in reports. `neighbours`
    says how many neighbours to expect: a filter may count those that tell nothing on an arm against f. With f = "auto"
    it is the largest f whose 3f + 1 neighbours there are: as many as are expected, or heard. We recommend the filter
    "guarded" with the policy "ucb:0.2" and f = "auto".
    """

    def __init__(
        self,
        arms: int | Sequence[Arm],
        f: int | str = 0,
        kappa: float = 1.5,
        filter: Any = "trimmed",
        policy: Any = "ucb",
        seed: int = 0,
        neighbours: int | None = None,
    ) -> None:
        arms = arms.tolist() if isinstance(arms, (np.generic, np.ndarray)) else arms
        numbered = isinstance(arms, int) and not isinstance(arms, bool) and 0 <= arms <= MOST
        names = list(range(arms)) if numbered else arms  # type: ignore[arg-type]
        if not isinstance(names, Sequence) or isinstance(names, str) or len(names) < 2:
            raise BadInput(f"arms {arms!r} is not allowed; allowed: two or more different names, or their number")
        if not isinstance(kappa, (int, float)) or not 1.0 <= kappa < 2.0:
            raise BadInput(f"kappa {kappa!r} is not allowed; allowed: a number in [1, 2)")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
            raise BadInput(f"seed {seed!r} is not allowed; allowed: a whole number from 0 to 2**64 - 1")
        if neighbours is not None and (
            not isinstance(neighbours, int) or isinstance(neighbours, bool) or not 0 <= neighbours <= MOST
        ):
            raise BadInput(f"neighbours {neighbours!r} is not allowed; allowed: a whole number from 0 to {MOST}")
        self._given_f, self.kappa, self.seed, self.neighbours = checked_f(f, MOST), float(kappa), seed, neighbours
        self.expelled = 0  # neighbours proven to lie, and heard no more: each of them lowers f by one
        self.filter, self.policy = FILTERS.resolve(filter), POLICIES.resolve(policy)
        self.time = 0  # t: decisions after the first pulls
        self._decide = decision(self.filter, self.policy)
        self._params = np.array(self.filter.params, np.float64), np.array(self.policy.params, np.float64)
        self._rng = np.array([0, seed], np.uint64)
        self._tallies: dict[Arm, Tally] = {checked_name("arm", name): Tally() for name in names}
        if len(self._tallies) < len(names):
            raise BadInput(f"arms {arms!r} is not allowed; allowed: two or more different names, or their number")
        self._retired: dict[Arm, Tally] = {}  # late rewards still count, should the arm come back
        self._inbox: dict[Name, Report] = {}
        self._set_arrays()

    def __repr__(self) -> str:
        filter, policy = FILTERS.name_of(self.filter), POLICIES.name_of(self.policy)
        return (
            f"<Agent with {len(self._arms)} arms, filter {filter!r}, policy {policy!r}, f={f_as_given(self._given_f)}: "
            f"{self.time} decisions, {len(self._inbox)} neighbours heard>"
        )

    def _repr_html_(self) -> str:
        belief = self.belief()
        rows = [
            (arm, tally.pulls, tally.pending, tally.mean, *map(float, believed))
            for (arm, tally), believed in zip(self._tallies.items(), zip(*belief, strict=True), strict=True)
        ]
        headings = ("arm", "own pulls", "pending", "own mean", "estimate", "weight", "doubt")
        return table(repr(self)[1:-1], headings, rows)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms in use."""
        return self._arms

    @property
    def f(self) -> int:
        """How many liars it reckons with among those it hears: as given, or as many as its neighbours allow."""
        return max(0, f_for(self._given_f, max(self._expected, len(self._inbox)) + self.expelled) - self.expelled)

    @property
    def senders(self) -> tuple[Name, ...]:
        """Whose reports count now."""
        return tuple(self._inbox)

    @property
    def estimates(self) -> dict[Arm, float]:
        """z of every arm, as they were at the latest choice."""
        if not self._believed:
            self._update(pick=False)
        return dict(zip(self._arms, self._own[ESTIMATES].tolist(), strict=True))

    def select(self) -> Arm:
        """Choose an arm to pull."""
        unpulled = next(iter(self._unpulled), None)
        if unpulled is None:
            arm = self._arms[self._update(pick=True)]
            self.time += 1
        else:
            self._update(pick=False)
            arm = unpulled
            del self._unpulled[arm]
        tally = self._tallies[arm]
        tally.pending += 1
        self._own_pending[self._indices[arm]] = tally.pending
        return arm

    def reward(self, arm: Arm, value: float) -> None:
        """Count the reward, in [0, 1], of a pull of an arm."""
        if not isinstance(value, Real) or not 0.0 <= value <= 1.0:
            raise BadInput(f"reward {value!r} is not allowed; allowed: a number in [0, 1]")
        tally = self.tally(arm)
        self._settle(arm, tally)
        tally.pulls += 1
        tally.total += float(value)
        index = self._indices.get(arm)
        if index is not None:
            self._unpulled.pop(arm, None)
            self._own_pulls[index] = tally.pulls
            self._own_means[index] = tally.total / tally.pulls

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
        known = isinstance(arm, (str, int, np.integer))
        tally = self._tallies.get(arm) or self._retired.get(arm) if known else None
        if tally is None:
            raise self._no_arm(arm)
        return tally

    def report(self) -> Report:
        """What an honest agent tells: its rewarded pulls and their means."""
        return Report(self._own_pulls.copy(), self._own_means.copy(), self._arms)

    def hear(self, sender: Name, report: Report) -> None:
        """Keep a neighbour's newest report; arms that only one side knows are left out."""
        sender = checked_name("sender", sender)
        self._inbox[sender] = checked_report(report, self._arms)
        if sender not in self._rows_of:
            self._rows_of[sender] = len(self._rows_of)
            if len(self._rows_of) > self._told.shape[1]:
                self._set_arrays()
            self._rows = np.arange(len(self._rows_of), dtype=np.uint64)
        self._write(sender)

    def forget(self, sender: Name) -> None:
        """Drop a neighbour's report: from now on it is silent."""
        if self._inbox.pop(sender, None) is not None:
            self._set_arrays()

    def belief(self) -> Belief:
        """What the agent holds true of its arms now."""
        self._update(pick=False)
        return Belief(*self._own[[ESTIMATES, WEIGHTS, DOUBTS]])

    def explain(self) -> dict[Name, dict[Arm, Fate]]:
        """What becomes of each neighbour's report on each arm; an arm without a reward of one's own hears nobody."""
        if not self._rows_of:
            return {}
        pulls, means = self._told[:, : len(self._rows_of)]
        columns = [
            self.filter.fates(
                own, mean, pulls[:, arm], means[:, arm], self.f, self.kappa, self.time, self._silent(pulls[:, arm])
            )
            if own
            else [Fate.UNUSED if heard else Fate.SILENT for heard in pulls[:, arm]]
            for arm, (own, mean) in enumerate(zip(self._own_pulls, self._own_means, strict=True))
        ]
        return {
            sender: {arm: column[row] for arm, column in zip(self._arms, columns, strict=True)}
            for sender, row in self._rows_of.items()
        }

    def add_arm(self, arm: Arm) -> None:
        """Start to use an arm, with what is known of it if it was in use before."""
        arm = checked_name("arm", arm)
        if arm in self._tallies:
            raise BadInput(f"arm {arm!r} is in use already; allowed: a new name, or a retired one")
        self._tallies[arm] = self._retired.pop(arm) if arm in self._retired else Tally()
        self._set_arrays()

    def retire_arm(self, arm: Arm) -> None:
        """Stop using an arm; rewards still to come are counted, in case it comes back."""
        arm = checked_name("arm", arm)
        if arm not in self._tallies:
            raise self._no_arm(arm)
        if len(self._tallies) <= 2:
            raise BadInput(f"arm {arm!r} cannot be retired; allowed: while more than two arms are in use")
        self._retired[arm] = self._tallies.pop(arm)
        self._set_arrays()

    def to_json(self) -> str:
        """The whole state, from which an agent goes on as if it had never stopped."""
        return json.dumps(
            {
                "format": FORMAT,
                "f": f_as_given(self._given_f),
                "kappa": self.kappa,
                "filter": FILTERS.name_of(self.filter),
                "policy": POLICIES.name_of(self.policy),
                "seed": self.seed,
                "neighbours": self.neighbours,
                "time": self.time,
                "arms": as_rows(self._tallies),
                "retired": as_rows(self._retired),
                "inbox": [[sender, *report.as_rows()] for sender, report in self._inbox.items()],
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
            settings = {key: state[key] for key in ("f", "kappa", "filter", "policy", "seed")}
            agent = cls(names, **settings, neighbours=state.get("neighbours"))
            agent.time = checked_time(state["time"])
            agent._tallies = {row[0]: checked_tally(*row[1:]) for row in state["arms"]}
            agent._retired = {checked_name("arm", row[0]): checked_tally(*row[1:]) for row in state["retired"]}
            for sender, arms, pulls, means in state["inbox"]:
                report = Report(np.array(pulls, float), np.array(means, float), tuple(arms))
                agent._inbox[checked_name("sender", sender)] = checked_report(report, tuple(arms))
            agent._set_arrays()
        except BadInput:
            raise
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
            raise BadInput(f"agent state cannot be read: {type(error).__name__}: {error}") from None
        return agent

    def _settle(self, arm: Arm, tally: Tally) -> None:
        """One pull is pending no longer."""
        if tally.pending:
            tally.pending -= 1
            index = self._indices.get(arm)
            if index is not None:
                self._own_pending[index] = tally.pending

    def _no_arm(self, arm: Arm) -> BadInput:
        return BadInput(f"arm {arm!r} does not exist; allowed: {', '.join(map(repr, self._tallies))}")

    @property
    def _expected(self) -> int:
        """How many neighbours should tell something: those who do, where more are away than could be liars."""
        expected = max(0, (self.neighbours or 0) - self.expelled)
        away = expected - len(self._inbox)
        return expected if away <= f_for(self._given_f, expected + self.expelled) else len(self._inbox)

    def _silent(self, pulls: Floats) -> int:
        """How many expected neighbours told nothing on an arm."""
        return max(0, self._expected - int((pulls > 0.0).sum()))

    def _set_arrays(self) -> None:
        """Set up the arrays of `decide` anew, from tallies and inbox."""
        self._arms = tuple(self._tallies)
        self._indices = {arm: index for index, arm in enumerate(self._arms)}
        self._unpulled = {arm: None for arm, tally in self._tallies.items() if not tally.pulls + tally.pending}
        self._rows_of = {sender: row for row, sender in enumerate(self._inbox)}
        self._rows = np.arange(len(self._rows_of), dtype=np.uint64)
        arms, capacity = len(self._arms), max(8, 2 * len(self._rows_of))
        self._own: Floats = np.zeros((6, arms))
        self._told: Floats = np.zeros((2, capacity, arms))
        self._work: Floats = np.zeros((2, capacity))
        self._own_pulls, self._own_means, self._own_pending = (self._own[row] for row in (PULLS, MEANS, PENDING))
        self._believed = False  # on these arrays
        for index, tally in enumerate(self._tallies.values()):
            self._own[:3, index] = tally.pulls, tally.mean, tally.pending
        for sender in self._inbox:
            self._write(sender)

    def _write(self, sender: Name) -> None:
        """Write a neighbour's report into its row, arm by arm."""
        report = self._inbox[sender]
        pulls, means = self._told[:, self._rows_of[sender]]
        if report.arms == self._arms:
            pulls[:], means[:] = report.pulls, report.means
            return
        pulls[:] = 0.0
        for arm, count, mean in zip(report.arms, report.pulls, report.means, strict=True):
            index = self._indices.get(arm)
            if index is not None:
                pulls[index], means[index] = count, mean

    def _update(self, pick: bool) -> int:
        """Believe anew of all arms, and choose one where asked to."""
        self._believed = True
        arm: int = self._decide(
            self._own,
            self._told,
            self._work,
            *self._params,
            self._rows,
            self._rng,
            self.filter.consistency,
            self.f,
            self.kappa,
            self.time,
            self._expected,
            pick,
        )
        if arm < 0:
            raise BadInput(NO_BELIEF if arm == UNSOUND else NO_SUCH_ARM)
        return arm
