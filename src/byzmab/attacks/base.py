"""What an attack is, and what it sees."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from byzmab.attacks.contexts.world import EXAMPLE, ContextWorld
from byzmab.core.compiler import compiled
from byzmab.core.draws import below
from byzmab.core.liars import f_for
from byzmab.core.mistakes import Contract, nothing
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats, Integers, Report, Words
from byzmab.ordering.droppable import Droppable
from byzmab.ordering.extremes import Extremes
from byzmab.ordering.shared_order import SharedOrder


class World(NamedTuple):
    """All an attack may know: everything. Agents and arms are numbered from 0; agents below `byzantine` lie.

    Attributes
    ----------
    time
        The round, t.
    pulls
        Pulls of every agent and arm.
    means
        Sample means of every agent and arm.
    last
        The arm that each agent pulled last; −1 before the first round.
    true_means
        True means; what agents have in common of them.
    best
        The best arm.
    own_means
        True means of every agent and arm.
    bests
        The best arm of every agent.
    byzantine
        Number of Byzantine agents, which have the lowest numbers.
    f
        Upper bound on Byzantine neighbours; `f_of` gives a receiver's own.
    may_hear
        How many neighbours each agent may hear.
    kappas
        Consistency level of every agent.
    consistency
        Whether the filter drops inconsistent reports.
    starts
        Where each agent's neighbours begin in `neighbours`.
    neighbours
        The neighbours of all agents, ascending for each.
    inbox_starts
        Where each agent's inbox begins.
    inbox_senders
        The senders of the reports in the inboxes.
    inbox_rows
        The rows of `told` that hold these reports.
    told
        The reports, row × arm.
    filter_params
        Parameters of the receivers' filter.
    policy_params
        Parameters of the receivers' policy.
    careful
        Whether every lie must be able to follow the one before.
    past_pulls
        Pulls in the last report, sender × agents + receiver by arm.
    past_totals
        Sums of rewards in these reports.
    spread
        How far honest agents may differ, as the filter assumes.
    differences
        How far each agent is from its neighbours, τ².
    neighbour_differences
        τ² of each neighbour of each agent; without columns where they are not compared.
    """

    time: int
    pulls: Floats  # agents × arms: n
    means: Floats  # agents × arms: x̄; where a baseline names arms, negative on one that is not active
    last: Integers  # agents: the arm each pulled last, -1 before the first round
    true_means: Floats  # arms: μ; where agents differ, what they have in common of it
    best: int  # the arm with the largest μ
    own_means: Floats  # agents × arms: μ of each agent
    bests: Integers  # agents: the arm with the largest of these
    byzantine: int
    f: int  # as given, or FROM_NEIGHBOURS: `f_of` gives a receiver's own
    may_hear: Integers  # agents: how many neighbours each may hear in some round or other
    kappas: Floats  # agents
    consistency: bool  # whether the filter drops reports with κ n_j < n_i
    starts: Integers  # agents + 1: agent i's neighbours are neighbours[starts[i]:starts[i + 1]]
    neighbours: Integers  # ascending, so that Byzantine agents come first
    inbox_starts: Integers  # agents + 1: the same for the inboxes, in which reports may be remembered
    inbox_senders: Integers
    inbox_rows: Integers  # rows of `told`
    told: Report  # rows × arms
    filter_params: Floats  # of the filter and the policy that the receivers use
    policy_params: Floats
    spread: float  # how far its agents may differ, says the filter: see core/differences.py
    differences: Floats  # agents: τ², how far each is from its neighbours
    neighbour_differences: Floats  # agents × agents: τ² of each neighbour; no columns where they are not compared
    careful: bool  # whether Byzantine agents tell only what can follow what they told before,
    past_pulls: Floats  # which is, in rows receiver × byzantine + sender: n, by arm; empty where nobody looks at it
    past_totals: Floats  # and n x̄


def _contracts() -> dict[str, Contract]:
    """What is asked of an attack's functions."""
    integers, wholes, floats, table, words = (
        np.empty(0, np.int64),
        np.empty((0, 0), np.int64),
        np.empty(0),
        np.empty((0, 0)),
        np.zeros(1, np.uint64),
    )
    told, lists = Report(table, table), (integers, integers, integers, integers, integers)
    receivers: Any = floats, floats, 0.0, floats, table, False, table, table
    world = World(
        *(0, table, table, integers, floats, 0, table, integers, 0, 0, integers, floats, True),
        *lists,
        told,
        *receivers,
    )
    extremes = Extremes(floats, floats, integers, integers, integers)
    sums = floats, floats, floats, floats, floats, floats, floats, floats, floats
    ranks = integers, integers, integers, integers, integers, integers, integers
    marks = integers, integers, integers
    droppable = Droppable(floats, floats, *marks, floats, floats, floats, floats, integers, floats, floats)
    order = wholes, integers, integers, table, table, extremes, droppable
    shared = SharedOrder(*order, *sums, *ranks, floats, floats, integers)
    own = {"params": floats, "scratch": table, "rng": words}
    tell = {"world": world, "sender": 0, "receiver": 0, **own, "report": Report(floats, floats)}
    return {
        "start_run": Contract({"world": world, **own}, "nothing", nothing),
        "start_round": Contract({"world": world, **own}, "nothing", nothing),
        "start_round_dense": Contract({"world": world, "shared": shared, **own}, "nothing", nothing),
        "lie": Contract(tell, "nothing", nothing),
        "start_round_at": Contract({"world": EXAMPLE, **own}, "nothing", nothing),
        "lie_at": Contract({**tell, "world": EXAMPLE, "report": table}, "nothing", nothing),
    }


CONTRACTS = _contracts()


@dataclass(frozen=True)
class Attack(Plugin):
    """Says, for each Byzantine agent and each of those who hear it, any count and mean of every arm.

    An attack provides up to three compiled functions. `params` are the numbers of its own fields, and
    `scratch` is a table of floats, `scratch_shape` large, that it may write on; `rng` is a random stream.

        start_run(world, params, scratch, rng)       once per run, before the first lie: draw constants
        start_round(world, params, scratch, rng)     once per round: draw what all lies of the round share
        lie(world, sender, receiver, params, scratch, rng, report)     fill report.pulls and report.means

    A mean that is no finite number, like a count that is not positive, is silence on that arm.

    Any attack can be *careful*: with `careful=1` behind its other parameters, Byzantine agents send what is nearest to
    the lie and can follow their earlier reports. Then no audit finds them out.

    With contexts the world is a `ContextWorld` (attacks/contexts/world.py), and `report` a table of arms × numbers in
    which n, b and G are to be filled in; what is not, is no Gram matrix or not finite is silence. It may have both.
    One that looks at `world.contexts` says so by `sees_contexts`.

        start_round_at(world, params, scratch, rng)
        lie_at(world, sender, receiver, params, scratch, rng, report)
    """

    kind: ClassVar[str] = "attack"
    function: ClassVar[str] = "lie"
    by_name: ClassVar[tuple[str, ...]] = ("careful",)
    lie: ClassVar[Any]
    lie_at: ClassVar[Any] = None  # with contexts; None where it makes no sense there
    # start_round on graphs where reports are ordered once for all, with that order (ordering/shared_order.py); as
    # start_round if there is none
    start_round_dense: ClassVar[Any] = None
    equivocates: ClassVar[bool] = True  # whether it may tell two receivers something else in one round
    careful: int = field(default=0, kw_only=True)  # 1: Byzantine agents send nothing that an audit would expose
    sees_edges: ClassVar[bool] = True  # whether it looks at the graph; if not, a dense one is not listed for it

    def __init_subclass__(cls) -> None:
        """An attack derived from one that does not look at edges, or equivocate, may do both, unless it denies it."""
        own = vars(cls)
        for name in ("sees_edges", "equivocates"):
            if own.keys() & {"start_run", "start_round", "lie"} and name not in own:
                setattr(cls, name, True)
        if "start_round" in own and "start_round_dense" not in own:
            cls.start_round_dense = None
        if "lie" in own and "lie_at" not in own:
            cls.lie_at = None

    @property
    def sees_contexts(self) -> bool:
        """Whether it looks at the context that a receiver sees now; no real Byzantine agent can, so no node lies so."""
        return False

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled functions, with what is asked of them."""
        for name, contract in CONTRACTS.items():
            if getattr(cls, name) is not None:
                yield name, getattr(cls, name), contract

    @classmethod
    def lie_against(cls, believe: Any, choose: Any) -> Any:
        """Return `lie` for receivers with a filter's `believe` and a policy's `choose`; most attacks call neither.

        One that does calls them by the names of globals, and returns a copy of `lie` in which `specialize` has put
        these functions (attacks/greedy.py).

        Parameters
        ----------
        believe
            The receivers' compiled filter.
        choose
            The receivers' compiled policy.
        """
        return cls.lie

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        """Rows and columns of the table that the attack needs.

        Parameters
        ----------
        agents
            Number of agents.
        arms
            Number of arms.
        byzantine
            Number of Byzantine agents.
        """
        return 1, 1

    def scratch_shape_at(self, arms: int, d: int) -> tuple[int, int]:
        """Rows and columns of the table that the attack needs with contexts of d dimensions.

        Parameters
        ----------
        arms
            Number of arms.
        d
            Dimensions of contexts.
        """
        return 1, 1

    @staticmethod
    @compiled
    def start_round_at(world: ContextWorld, params: Floats, scratch: Floats, rng: Words) -> None:
        """Nothing to draw for the round."""

    @staticmethod
    @compiled
    def start_run(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
        """Nothing to draw for the run."""

    @staticmethod
    @compiled
    def start_round(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
        """Nothing to draw for the round."""


@compiled
def f_of(world: World, receiver: int) -> int:
    """Return the fault budget of a receiver, before it expels anybody."""
    return f_for(world.f, world.may_hear[receiver])


@compiled
def pick_normal_agent(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """A `start_round` for attacks that copy: write down the one honest agent that all lies of this round copy."""
    scratch[0, 0] = world.byzantine + below(rng, world.pulls.shape[0] - world.byzantine)
