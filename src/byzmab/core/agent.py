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
import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from byzmab.core.confidence import PARAMS, Best, believer, best_arm, checked_confidence
from byzmab.core.contexts.reports import parts_of
from byzmab.core.contexts.statistics import RIDGE
from byzmab.core.decider import Decider
from byzmab.core.differences import own_variance, worth_of
from byzmab.core.errors import BadInput
from byzmab.core.filters import FILTERS
from byzmab.core.filters.base import Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.forgetting import parse_tally
from byzmab.core.liars import TooFewNeighbours, checked_f, f_as_given
from byzmab.core.model import AnyReport, ReportModel
from byzmab.core.policies import POLICIES
from byzmab.core.policies.base import Policy
from byzmab.core.report import LEAST_PULLS, Belief, Floats
from byzmab.core.tallies import MOST, TALLIES, TallyWorkspace
from byzmab.core.tally import (
    Arm,
    Name,
    Tally,
    as_rows,
    checked_name,
    checked_tally,
    checked_time,
    past_tallies,
)
from byzmab.core.traffic import Traffic, luck_at
from byzmab.html import table

FORMAT = 1  # of to_json
OPTIONAL = ("neighbours", "tally", "context", "ridge", "shares", "vetting")  # settings that it may lack
SHARES, VETTING = "equal", True  # of an agent with contexts, as RIDGE: see core/contexts/model.py
ALL_REWARDS = "all"
ARMS_ALLOWED = "arms {!r} is not allowed; allowed: two or more different names, or their number"


class Agent(Decider):
    """One agent of a network.

    Arms are names or numbers; a single number M means the arms 0..M−1. Rewards may come late, in any order, or
    never; arms come and go; the newest report of each neighbour counts until it is forgotten. An arm never chosen is
    chosen first; t, in the width, counts the decisions after those. A pull without its reward yet counts in the
    width, so that a burst of choices spreads over the arms, but neither in the estimate nor in reports. `neighbours`
    is the number of neighbours that the agent may hear. With f = "auto", f is the largest number whose 3f + 1
    neighbours there are, configured or ever heard; an absent neighbour does not lower it. With fewer than four, the
    agent ignores all reports and warns once: f = 0, which believes everyone, must be given. `floor` and `cap` are the
    shares of decisions that an arm gets at least and at most: a number for every arm, or a table of some. `tally` says
    which of its own rewards it believes in and tells: "all", or for arms that change the latest, "window:2000", or old
    ones less, "forget:0.999". We recommend the filter "guarded" with the policy "moss" and f = "auto".

    With `context`, a number of dimensions d, rewards depend on a context x, d numbers together no longer than 1. It is
    given to `select(x)`, `reward(arm, value, x)` and their like. The mean reward of an arm at x is ½ + xᵀθ. The agent
    keeps and tells the statistics of a ridge regression for every arm; at x every report becomes a pair (pulls, mean),
    and filter and policy decide on these as they do without contexts. `ridge` is λ. `shares` says how reports become
    pairs: "equal" or "information" solve for all reports together, "projection" looks at each by itself. With `vetting`
    a neighbour whose parameters contradict one's own data is left out first, and counts as one of the f; and what the
    agent hears is followed only while it has predicted its own rewards no worse than the agent did itself: better by
    `lead` in squared errors, −1 or more.

    If not given, filter and policy are "trimmed" and "ucb", with `context` "pooled" and "tuned".

    Parameters
    ----------
    arms
        The arms' names, or their number M for the arms 0 to M − 1.
    f
        Upper bound on Byzantine neighbours; ``"auto"`` for the largest f with 3f + 1 neighbours.
    kappa
        Consistency level in [1, 2), for filters that use it.
    filter
        How reports become a belief; if not given, ``"trimmed"``, with `context` ``"pooled"``.
    policy
        How a belief becomes a choice; if not given, ``"ucb"``, with `context` ``"tuned"``.
    seed
        The seed of the agent's random numbers.
    neighbours
        How many neighbours the agent may hear; if None, as many as it has ever heard.
    floor
        Least share of decisions of an arm: a number for every arm, or a dict of some.
    cap
        Largest share of decisions of an arm, given likewise.
    tally
        Which of its own rewards count and are reported: ``"all"``, ``"window:W"`` or ``"forget:γ"``.
    context
        Dimensions of the context that is given before every choice; None for none.
    ridge
        λ of the ridge regression on contexts.
    shares
        How reports count at a context: ``"equal"``, ``"information"`` or ``"projection"``.
    vetting
        Whether neighbours whose parameters contradict the agent's own data are left out.

    Raises
    ------
    BadInput
        If a setting is not allowed.

    Examples
    --------
    >>> import byzmab
    >>> agent = byzmab.Agent(["red", "green"], filter="guarded", policy="moss", f="auto", neighbours=7)
    >>> arm = agent.select()
    >>> agent.reward(arm, 1.0)
    >>> agent.tally(arm).pulls
    1
    """

    def __init__(
        self,
        arms: int | Sequence[Arm],
        f: int | str = 0,
        kappa: float = 1.5,
        filter: str | Filter | None = None,
        policy: str | Policy | None = None,
        seed: int = 0,
        neighbours: int | None = None,
        floor: float | Mapping[Arm, float] = 0.0,
        cap: float | Mapping[Arm, float] = 1.0,
        tally: str = ALL_REWARDS,
        *,
        context: int | None = None,
        ridge: float = RIDGE,
        shares: str = SHARES,
        vetting: bool = VETTING,
    ) -> None:
        self._model = _model_of(context, ridge, shares, vetting, tally)
        arms = arms.tolist() if isinstance(arms, (np.generic, np.ndarray)) else arms
        names = _names_of(arms)
        _check_settings(kappa, seed, neighbours)
        tallies = {checked_name("arm", name): Tally() for name in names}
        if len(tallies) < len(names):
            raise BadInput(ARMS_ALLOWED.format(arms))
        usual_filter, usual_policy = self._model.usual
        plugins = (
            FILTERS.resolve(usual_filter if filter is None else filter),
            POLICIES.resolve(usual_policy if policy is None else policy),
        )
        self._given_tally, forgetting = tally, parse_tally(tally)
        forgetting.check_window(len(tallies))
        super().__init__(tallies, checked_f(f, MOST), float(kappa), *plugins, seed, neighbours)
        self._workspace = self._model.workspace(*plugins, self._rng, forgetting)
        self._set_arrays()
        self._retired: dict[Arm, Tally] = {}  # late rewards still count, should the arm come back
        self.set_traffic(floor, cap)
        if neighbours is not None and self.ignores_reports:
            self._warn()

    def __repr__(self) -> str:
        filter, policy = FILTERS.name_of(self.filter), POLICIES.name_of(self.policy)
        pulls = sum(tally.pulls for tally in self._tallies.values())
        contexts = "" if self.context is None else f"contexts of {self.context} dimensions, "
        return (
            f"<Agent with {contexts}{len(self._arms)} arms, "
            f"filter {filter!r}, policy {policy!r}, f={f_as_given(self._given_f)}: "
            f"{pulls} pulls rewarded, {len(self._inbox)} neighbours heard>"
        )

    def _repr_html_(self) -> str:
        belief = self.belief()
        rows = [
            (arm, tally.pulls, tally.pending, tally.mean, *map(float, believed))
            for (arm, tally), believed in zip(self._tallies.items(), zip(*belief[:3], strict=True), strict=True)
        ]
        headings = ("arm", "own pulls", "pending", "own mean", "estimate", "weight", "doubt")
        return table(repr(self)[1:-1], headings, rows)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms in use."""
        return self._arms

    @property
    def senders(self) -> tuple[Name, ...]:
        """Whose reports count now."""
        return tuple(self._inbox)

    @property
    def context(self) -> int | None:
        """How many dimensions contexts have; None where rewards depend on the arm alone."""
        return self._model.dimensions

    @property
    def lead(self) -> float:
        """By how much what it hears predicted its rewards better than itself, in squared errors; 0 without contexts."""
        return self._workspace.lead

    @property
    def estimates(self) -> dict[Arm, float]:
        """z of every arm, as they were at the latest choice."""
        if not self._workspace.believed:
            self._update(pick=False)
        return dict(zip(self._arms, self._beliefs[0].tolist(), strict=True))

    def check_context(self, x: Any) -> Floats | None:
        """A context as it is used, or BadInput; an agent without contexts takes None alone.

        Parameters
        ----------
        x
            A context, or None.
        """
        return self._model.check_context(x)

    def select(self, x: Any = None) -> Arm:
        """Choose an arm to pull; at a context x if the agent has contexts.

        Parameters
        ----------
        x
            The context, where the agent has contexts.

        Returns
        -------
        str or int
            The arm to pull.

        Raises
        ------
        BadInput
            If a context is missing, or is not allowed.
        """
        self._x = self._model.check_context(x)
        unpulled = next(iter(self._unpulled), None)
        self.forced = None
        if unpulled is None:
            arm = self._arms[self._choose()]
            self.time += 1
        else:
            self._update(pick=False)
            arm = unpulled
            del self._unpulled[arm]
        tally = self._tallies[arm]
        tally.pending += 1
        self._workspace.pending[self._indices[arm]] = tally.pending
        return arm

    def select_many(self, count: Any) -> list[Arm]:
        """Choose so many arms, or one for each of some contexts, as calls of `select` before the next reward do.

        Parameters
        ----------
        count
            How many arms, or a list of contexts.

        Returns
        -------
        list
            The arms to pull.
        """
        return [self.select(x) for x in self._model.check_contexts(count)]

    def reward(self, arm: Arm, value: float, x: Any = None) -> None:
        """Count the reward, in [0, 1], of a pull of an arm; at a context x if the agent has contexts.

        Parameters
        ----------
        arm
            The arm that was pulled.
        value
            Its reward, in [0, 1].
        x
            The context, where the agent has contexts.

        Raises
        ------
        BadInput
            If the arm is unknown, or the reward outside [0, 1].
        """
        seen = self._model.check_context(x)
        if not isinstance(value, Real) or not 0.0 <= value <= 1.0:
            raise BadInput(f"reward {value!r} is not allowed; allowed: a number in [0, 1]")
        tally = self.tally(arm)
        self._workspace.observe(arm, tally, self._indices.get(arm), float(value), seen, self._reading)
        self._settle(arm, tally)
        self._unpulled.pop(arm, None)

    def warm_start(self, table: Mapping[Arm, tuple[int, float]]) -> None:
        """Begin with past counts, arm → (pulls, mean), as if one had made these pulls; before the first choice only.

        Parameters
        ----------
        table
            Arm → its pulls and its mean.
        """
        if self.context is not None:
            raise BadInput("warm start is not allowed with contexts; allowed: without, as past counts do not tell them")
        tallies = (*self._tallies.values(), *self._retired.values())
        if self.time or any(tally.pulls or tally.pending for tally in tallies):
            raise BadInput("warm start is not allowed once there are choices or counts; allowed: before the first one")
        if self._given_tally != ALL_REWARDS:
            raise BadInput(f"warm start does not go with tally {self._given_tally!r}; allowed: all")
        past = past_tallies(table, self._arms)
        self._tallies |= past
        self.time = sum(tally.pulls - 1 for tally in past.values())  # a first pull is outside t
        self._set_arrays()

    def give_up(self, arm: Arm) -> None:
        """Wait no longer for the reward of a pull: it counts as if the arm had not been chosen.

        Parameters
        ----------
        arm
            The arm's name or number.
        """
        tally = self.tally(arm)
        if not tally.pending:
            raise BadInput(f"arm {arm!r} has no pull to give up; allowed: arms that wait for a reward")
        self._settle(arm, tally)
        if arm in self._tallies and not tally.pulls + tally.pending:
            self._unpulled[arm] = None

    def tally(self, arm: Arm) -> Tally:
        """What the agent knows of an arm from its own pulls, retired arms included; to be read, not changed.

        Parameters
        ----------
        arm
            The arm's name or number.
        """
        known = isinstance(arm, (str, int, np.integer))
        tally = self._tallies.get(arm) or self._retired.get(arm) if known else None
        if tally is None:
            raise self._no_arm(arm)
        return tally

    def statistics(self, arm: Arm) -> tuple[Floats, Floats]:
        """b and G of an arm from one's own pulls at contexts, retired arms included; copies.

        Parameters
        ----------
        arm
            The arm's name or number.
        """
        row = self.tally(arm).row
        if row is None or self.context is None:
            raise BadInput("statistics are not kept without contexts; allowed: tally(arm)")
        (moment,), (gram,) = parts_of(row[None], self.context)
        return moment, gram

    def report(self) -> Any:
        """What an honest agent tells: a Report of its rewarded pulls, or what is left of them; or a ContextReport."""
        return self._model.tell(self._workspace.rows, self._arms)

    def hear(self, sender: Name, report: AnyReport) -> None:
        """Keep a neighbour's newest report, unless it is expelled; arms that only one side knows are left out.

        Parameters
        ----------
        sender
            The neighbour's name.
        report
            Its report.

        Raises
        ------
        BadInput
            If the report is malformed.
        """
        sender, report = checked_name("sender", sender), self._model.validate(report, self._arms)
        if sender in self.expelled:
            return
        self._ever_heard.add(sender)
        self._inbox[sender] = report
        if sender not in self._rows_of:
            self._rows_of[sender] = len(self._rows_of)
            if len(self._rows_of) > self._capacity:
                self._set_arrays()
            self._rows = np.arange(len(self._rows_of), dtype=np.uint64)
        self._write(sender)

    def forget(self, sender: Name) -> None:
        """Drop a neighbour's report. It still counts as a neighbour: an absence does not lower f.

        Parameters
        ----------
        sender
            The neighbour's name.
        """
        if self._inbox.pop(sender, None) is not None:
            self._set_arrays()

    def remove(self, sender: Name) -> None:
        """Drop a neighbour that has left for good: it counts no longer when f follows from the neighbours.

        Parameters
        ----------
        sender
            The neighbour's name.
        """
        self.forget(sender)
        self._ever_heard.discard(sender)
        self.expelled.discard(sender)

    def expel(self, sender: Name) -> None:
        """Hear a neighbour no more that is proven to lie: f is one less for the others, until it is readmitted.

        Parameters
        ----------
        sender
            The neighbour's name.
        """
        self.expelled.add(checked_name("sender", sender))
        self.forget(sender)

    def readmit(self, sender: Name) -> None:
        """Hear a neighbour again that was expelled, from its next report on.

        Parameters
        ----------
        sender
            The neighbour's name.
        """
        self.expelled.discard(checked_name("sender", sender))

    def belief(self, x: Any = None) -> Belief:
        """What the agent holds true of its arms now: at a context x, or at that of the latest choice if none is given.

        Asking at a context changes nothing: a reward judges the predictions of its choice, not those of a later look.

        Parameters
        ----------
        x
            The context, where the agent has contexts.

        Returns
        -------
        Belief
            Estimates, weights and doubts of the arms in use.
        """
        look = self._workspace.copy_for_query()
        look.believe(self._at(x), self._reading(), pick=False)
        return Belief(*look.beliefs.copy())

    def _at(self, x: Any) -> Floats | None:
        """The context that is asked about: x, or that of the latest choice."""
        return self._x if x is None else self._model.check_context(x)

    def best(self, confidence: float = 0.95) -> Best:
        """The arm that looks best now, how sure that is, and whether it is as sure as asked; see core/confidence.py.

        Parameters
        ----------
        confidence
            How sure it should be, between 0 and 1.

        Returns
        -------
        Best
            The arm, its confidence, and an interval for each arm.
        """
        if not isinstance(self._workspace, TallyWorkspace):
            allowed = "belief(x), as the best arm depends on the context"
            raise BadInput(f"best is not allowed with contexts; allowed: {allowed}")
        if self._given_tally != ALL_REWARDS:
            raise BadInput(f"best does not go with tally {self._given_tally!r}: nothing is sure of arms that change")
        wanted, reading = checked_confidence(confidence), self._reading()
        reading = reading._replace(consistency=False, spread=0.0, due=False)  # the theorem is about equal means
        belief = self._workspace.proven_belief(believer(), PARAMS, reading)
        return best_arm(self._arms, self.report(), belief, wanted)

    def explain(self, x: Any = None) -> dict[Name, dict[Arm, Fate]]:
        """What becomes of each neighbour's report on each arm: at a context x, or at that of the latest choice.

        An arm without a reward of your own hears nobody. A neighbour that vetting leaves out is implausible on every
        arm.

        Parameters
        ----------
        x
            The context, where the agent has contexts.

        Returns
        -------
        dict
            Sender → arm → the fate of its report.
        """
        return self._fates_at(self._at(x))

    def worths(self) -> dict[Name, dict[Arm, float]]:
        """Return how many own pulls each neighbour's report is worth in the agent's beliefs.

        On every arm these add up to what the belief is worth beyond the own pulls. A report that was left out is worth
        nothing, and neighbours whose arms differ are worth less than they tell.

        Returns
        -------
        dict of dict
            Sender → arm → pulls; empty with contexts, where a report is worth something else at each of them.
        """
        if self._model.dimensions is not None:
            return {}
        belief, fates = self.belief(), self.explain()
        beyond = np.maximum(belief.weights - belief.own_weights, 0.0)
        used = np.zeros((len(self._rows_of), len(self._arms)))
        for sender, row in self._rows_of.items():
            for index, arm in enumerate(self._arms):
                if fates[sender][arm] in (Fate.KEPT, Fate.HEARD):
                    used[row, index] = self._pulls_used(row, index)
        shares = used / np.maximum(used.sum(axis=0), LEAST_PULLS)
        return {
            sender: dict(zip(self._arms, (shares[row] * beyond).tolist(), strict=True))
            for sender, row in self._rows_of.items()
        }

    def _pulls_used(self, row: int, index: int) -> float:
        """Return how many pulls of a report count, at most the own ones and what its sender has in common."""
        own, mean = self._workspace.rows[index]
        told = float(self._workspace.told[row, index, 0])
        worth = worth_of(told, float(own), float(self._differences[row]), own_variance(float(own), float(mean)))
        return min(float(worth), float(own))

    def set_traffic(self, floor: Any = 0.0, cap: Any = 1.0) -> None:
        """Give arms these shares of decisions, at least and at most, from now on.

        Parameters
        ----------
        floor
            Least share of decisions: a number for every arm, or a dict of some.
        cap
            Largest share, given likewise.
        """
        self._use(Traffic(floor, cap))

    def set_arms(self, arms: Sequence[Arm]) -> None:
        """Use these arms from now on; what is known of the others is kept, should they come back.

        Parameters
        ----------
        arms
            The arms' names.
        """
        names = [checked_name("arm", arm) for arm in arms]
        if not 2 <= len(set(names)) == len(names):
            raise BadInput(f"arms {arms!r} is not allowed; allowed: two or more different names")
        used = [arm for arm in self._tallies if arm in names]
        used += [arm for arm in names if arm not in self._tallies]
        self.traffic.check(used)
        known = self._retired | self._tallies
        self._tallies = {arm: known.pop(arm, Tally()) for arm in used}
        self._retired = known
        self._set_arrays()

    def add_arm(self, arm: Arm) -> None:
        """Start to use an arm, with what is known of it if it was in use before.

        Parameters
        ----------
        arm
            The arm's name or number.
        """
        arm = checked_name("arm", arm)
        if arm in self._tallies:
            raise BadInput(f"arm {arm!r} is in use already; allowed: a new name, or a retired one")
        self.set_arms((*self._arms, arm))

    def retire_arm(self, arm: Arm) -> None:
        """Stop using an arm; rewards still to come are counted, in case it comes back.

        Parameters
        ----------
        arm
            The arm's name or number.
        """
        arm = checked_name("arm", arm)
        if arm not in self._tallies:
            raise self._no_arm(arm)
        if len(self._tallies) <= 2:
            raise BadInput(f"arm {arm!r} cannot be retired; allowed: while more than two arms are in use")
        self.set_arms([other for other in self._arms if other != arm])

    def reset(self, arm: Arm) -> None:
        """Forget the rewards of an arm, as it has changed; those still to come count. All else stays.

        Neighbours must be told that this tally began anew: to them a count that falls is a lie.

        Parameters
        ----------
        arm
            The arm's name or number.
        """
        self._workspace.clear(arm, self.tally(arm))
        self._set_arrays()

    def to_json(self) -> str:
        """The whole state, from which an agent goes on as if it had never stopped."""
        return json.dumps(self._state())

    def _state(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "f": f_as_given(self._given_f),
            "kappa": self.kappa,
            "filter": FILTERS.name_of(self.filter),
            "policy": POLICIES.name_of(self.policy),
            "seed": self.seed,
            "neighbours": self.neighbours,
            "traffic": self.traffic.as_rows(),
            "tally": self._given_tally,
            "latest": None if self._x is None else self._x.tolist(),
            "time": self.time,
            "arms": as_rows(self._tallies),
            "retired": as_rows(self._retired),
            "inbox": [[sender, *report.as_rows()] for sender, report in self._inbox.items()],
            "differences": [float(self._differences[-1]), list(map(list, self._neighbour_differences.items()))],
            "expelled": sorted(self.expelled, key=str),
            "ever_heard": sorted(self._ever_heard, key=str),
            **self._model.settings(),
            **self._workspace.state(self._tallies | self._retired),
        }

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The agent that `to_json` wrote.

        Parameters
        ----------
        text
            What `to_json` returned.

        Returns
        -------
        Agent
            The agent, which continues as if it had never stopped.

        Raises
        ------
        BadInput
            If the text is not an agent's state.
        """
        try:
            return cls._from_state(json.loads(text))
        except BadInput:
            raise
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
            raise BadInput(f"agent state cannot be read: {type(error).__name__}: {error}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as an agent that goes on by itself: its arrays are views of each other, copies are not."""
        return type(self)._from_state, ({**self._state(), "filter": self.filter, "policy": self.policy},)

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        """The agent of a state as `_state` tells it; filter and policy may be plug-ins themselves."""
        if state["format"] != FORMAT:
            raise BadInput(f"agent state of format {state['format']!r} is not understood; allowed: {FORMAT}")
        names = [row[0] for row in state["arms"]]
        settings = {key: state[key] for key in ("f", "kappa", "filter", "policy", "seed")}
        settings |= {key: state[key] for key in OPTIONAL if key in state}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TooFewNeighbours)  # it is said when a report is ignored
            agent = cls(names, **settings)
        agent._has_warned = False
        agent._restore(state)
        return agent

    def _restore(self, state: dict[str, Any]) -> None:
        """Take over what `_state` told besides settings."""
        latest = state.get("latest")
        self._x = None if latest is None else self._model.check_context(latest)
        self.time = checked_time(state["time"])
        self._tallies = {row[0]: checked_tally(*row[1:]) for row in state["arms"]}
        self._retired = {checked_name("arm", row[0]): checked_tally(*row[1:]) for row in state["retired"]}
        for sender, *rows in state["inbox"]:
            report = self._model.report.from_rows(*rows)
            self._inbox[checked_name("sender", sender)] = self._model.validate(report, report.arms)
        expelled, ever_heard = state.get("expelled", []), state.get("ever_heard", [])
        if not isinstance(expelled, list) or not isinstance(ever_heard, list):
            raise TypeError("expelled and ever_heard are lists")
        for sender in expelled:
            self.expelled.add(checked_name("sender", sender))
            self._inbox.pop(sender, None)
        self._ever_heard = {checked_name("sender", sender) for sender in ever_heard} | set(self._inbox)
        self._set_arrays()
        self._workspace.restore(state, self._tallies | self._retired)
        self._restore_differences(*state.get("differences", (float(self._differences[-1]), [])))
        self._use(Traffic.from_rows(*state.get("traffic", (0.0, 1.0))))

    def _restore_differences(self, own: Any, neighbours: Any) -> None:
        """Take over how far the agent and its neighbours differ, as `_state` told it."""
        known = {checked_name("sender", sender): float(value) for sender, value in neighbours}
        if not all(0.0 <= value <= 1.0 for value in (float(own), *known.values())):
            raise BadInput("agent state has differences that are not allowed; allowed: numbers from 0 to 1")
        self._set_differences(float(own), known)

    def _use(self, traffic: Traffic) -> None:
        traffic.check(self._arms)
        if not traffic.is_free:
            luck_at(self.seed, 0)  # compiled now, and not while somebody waits for a choice
        self.traffic = traffic

    def _settle(self, arm: Arm, tally: Tally) -> None:
        """One pull is pending no longer."""
        if tally.pending:
            tally.pending -= 1
            index = self._indices.get(arm)
            if index is not None:
                self._workspace.pending[index] = tally.pending

    def _no_arm(self, arm: Arm) -> BadInput:
        return BadInput(f"arm {arm!r} does not exist; allowed: {', '.join(map(repr, self._tallies))}")


def _model_of(context: Any, ridge: Any, shares: Any, vetting: Any, tally: Any) -> ReportModel:
    """The model of an agent's reports, or BadInput."""
    if context is None:
        given = {"ridge": ridge != RIDGE, "shares": shares != SHARES, "vetting": vetting != VETTING}
        if name := next((name for name, is_given in given.items() if is_given), None):
            raise BadInput(f"{name} is not allowed here; allowed: with `context`, the dimensions")
        return TALLIES
    if tally != ALL_REWARDS:
        raise BadInput(f"tally {tally!r} does not go with context; allowed: {ALL_REWARDS}")
    from byzmab.core.contexts.model import context_model

    return context_model(context, ridge, shares, vetting)


def _is_whole(value: Any, most: int) -> bool:
    """Whether a value is a whole number from 0 to `most`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _names_of(arms: Any) -> Sequence[Any]:
    """The names of arms as given, or 0..M−1 for a number M; BadInput if they are not two or more."""
    names = list(range(arms)) if _is_whole(arms, MOST) else arms
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) < 2:
        raise BadInput(ARMS_ALLOWED.format(arms))
    return names


def _check_settings(kappa: Any, seed: Any, neighbours: Any) -> None:
    """Raise BadInput where one of these settings of an agent is not allowed."""
    if not isinstance(kappa, (int, float)) or not 1.0 <= kappa < 2.0:
        raise BadInput(f"kappa {kappa!r} is not allowed; allowed: a number in [1, 2)")
    if not _is_whole(seed, 2**64 - 1):
        raise BadInput(f"seed {seed!r} is not allowed; allowed: a whole number from 0 to 2**64 - 1")
    if neighbours is not None and not _is_whole(neighbours, MOST):
        raise BadInput(f"neighbours {neighbours!r} is not allowed; allowed: a whole number from 0 to {MOST}")
