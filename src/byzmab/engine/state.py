"""The state of a network: all arrays of one run behind a single pointer.

numba passes an array to a function pointer as nine words by value, 10 ns each way; a dozen of them would cost more
than the filtering itself. So a state is one record of sizes, settings and addresses, and calling a loop costs 3 ns.
Only the loops of this package unpack it; plug-in authors see plain arrays. docs/decisions/0002-state.md has the
numbers, those of typed arrays in a structref among them.

Reports live in rows of `told_pulls` and `told_means`, one column per arm. The first `history` × `agents` rows hold
what normal agents could have told in the last `history` rounds (one round unless there is memory or delay), the rest
hold lies, one row for each liar and receiver. Where not everything is told in every round, what was told is kept
between the two, in one row for each sender; or, where the neighbours change, in one for each receiver and sender, and
lies among them: see `engine/tell.py`.
"""

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import NO_BELIEF
from byzmab.core.policies.base import NO_SUCH_ARM
from byzmab.core.report import Floats, Integers, Words

# What a plug-in can do wrong without numba noticing.
BAD_CHOICE, BAD_BELIEF, BAD_NEIGHBOUR, BAD_REWARD, BAD_DECISION = 1, 2, 3, 4, 5
FAULTS = {
    BAD_CHOICE: NO_SUCH_ARM,
    BAD_BELIEF: NO_BELIEF,
    BAD_NEIGHBOUR: "graph named neighbours that do not exist, do not ascend, or are the agent itself",
    BAD_REWARD: "rewards gave a value that is no number from 0 to 1; allowed: numbers in [0, 1]",
    BAD_DECISION: NO_SUCH_ARM.replace("policy", "algorithm"),
}

SETTINGS = {  # whole numbers that stay as they are during a run
    "run": "the number of this run",
    "agents": "N",
    "arms": "M",
    "byzantine": "B: rows 0..B-1 lie",
    "f": "upper bound on Byzantine neighbours; FROM_NEIGHBOURS where it follows from their number: see core/liars.py",
    "consistency": "1 if the filter has step A, the consistency filter",
    "depends_on": "which changes make a belief out of date: see core/filters/base.py",
    "epoch": "rounds between two decisions",
    "delay": "rounds between sending and hearing a report",
    "moves": "1 if the arms' means change from round to round: see engine/move.py",
    "forgets": "how tallies forget: ALL, FORGET or WINDOW of core/forgetting.py",
    "window": "how many of the latest pulls count, where only these do",
    "memory": "rounds for which a report is remembered after it was heard",
    "subset": "how many neighbours are heard in a round; 0 for all",
    "time_varying": "1 if the graph is drawn anew in every round",
    "graph_is_ours": "1 if the graph is not a user's own, and need not be checked in every round",
    "hears": "0 if nobody listens",
    "ignores_few": "1 if an agent that may hear too few neighbours for f = auto ignores all reports",
    "expects": "1 if links are declared reliable and neighbours never change: then silence counts against f",
    "kept": "where what was told is kept: NOT_KEPT, PER_SENDER or PER_EDGE of engine/tell.py",
    "audits": "1 if whoever tells what cannot follow what it told before is expelled: see engine/audit.py",
    "careful": "1 if liars tell nothing of the kind",
    "common_lies": "1 if reports are kept per sender, and those of liars as well: each tells all receivers the same",
    "tell_rounds": "rounds after which a whole report is told again",
    "stable_inbox": "1 if reports keep their rows, so that changes can be followed from round to round",
    "dense": "1 if nearly everyone hears everyone, and reports are ordered once for all: see engine/dense.py",
    "lists_edges": "1 if `graph` lists every edge; 0 if, being dense, only those on which lies are told",
    "history": "rounds of reports kept: memory + delay + 1",
    "edge_capacity": "length of `graph` and `in_edges`",
    "inbox_capacity": "length of the inboxes, all agents together",
    "lie_capacity": "rows of reports behind the history: those that are kept, and lies",
    "max_inbox": "length of work_pulls: the most reports that one agent can hear",
    "schedule_size": "how many tables of means there are, one after the other",
    "schedule_rows": "rows of each: 1, or one for each agent",
    "drift_params_size": "length of drift_params",
    "reward_params_size": "length of reward_params",
    "graph_params_size": "length of graph_params",
    "attack_params_size": "length of attack_params",
    "filter_params_size": "length of filter_params",
    "policy_params_size": "length of policy_params",
    "baseline_params_size": "length of baseline_params",
    "baseline_floats_size": "length of baseline_floats",
    "baseline_integers_size": "length of baseline_integers",
    "scratch_rows": "rows of attack_scratch",
    "scratch_columns": "columns of attack_scratch",
    "grid_size": "rounds on which regret is recorded",
    "context": "d: dimensions of a context; 0 where there are none. For what follows see byzmab/contexts",
    "row_size": "numbers in a row of statistics",
    "shares": "how reports become pairs at a context: see core/contexts/shares.py",
    "vetting": "1 if reports that contradict one's own data are left out",
    "pool_size": "rows of data from which contexts are drawn; 0 where they are drawn from the sphere",
}
PROGRESS = {  # whole numbers that `advance` changes
    "time": "t: rounds played",
    "clock": "t as filters see it: time, or what is left of it where tallies forget",
    "moved": "the round for which means are set, where they change",
    "entry": "the table of means that is in force",
    "kept_pulls": "pulls of each agent so far, the first included, where tallies have a window",
    "sent": "the time at which the reports heard now were sent",
    "begun": "1 once reports were delivered",
    "edges": "reports heard in a round, by all agents",
    "most_missing": "the most normal agents that one agent does not hear, itself included, where the graph is dense",
    "lies": "rows of lies handed out so far",
    "free": "how many of them are free again",
    "messages": "reports heard so far, by all agents",
    "arms_told": "arms in them",
    "told_now": "arms told in this round, each once however many hear it; only where reports are kept",
    "fault": "what a plug-in did wrong: one of the constants above, 0 for nothing",
    "recorded": "rounds of the grid recorded so far",
    "talks": "1 if reports are exchanged in the coming round; a baseline may set it to 0 for rounds without",
    "phase": "the phase, epoch or stage that a baseline is in, from 1",
    "seen": "rounds whose contexts were seen",
    "changes": "how often any statistics changed: the newest version",
}
KEYS = {  # keys of random streams
    "reward_key": "rewards, by agent, arm and pull",
    "policy_key": "decisions, by agent and time",
    "graph_key": "edges, by time and receiver",
    "subset_key": "which neighbours are heard, by time and receiver",
    "drift_key": "how means move, by round",
    "attack_key": "lies, by time, sender and receiver",
    "context_key": "contexts, by agent and number",
}

FLOATS, INTEGERS, WORDS = np.float64, np.int64, np.uint64
ARRAYS: dict[str, tuple[type, str]] = {
    "pulls": (FLOATS, "agents × arms: n, own tallies now"),
    "totals": (FLOATS, "agents × arms: sum of rewards"),
    "means": (FLOATS, "agents × arms: x̄"),
    "ever_pulls": (FLOATS, "as pulls, nothing forgotten: the same array, unless tallies forget"),
    "ever_totals": (FLOATS, "as totals"),
    "ever_means": (FLOATS, "as means"),
    "forgetting": (FLOATS, "2: γ, and what is left of t"),
    "past_arms": (INTEGERS, "agents × window: the latest pulls, a ring"),
    "past_values": (FLOATS, "agents × window: and their rewards"),
    "values": (FLOATS, "agents: the latest rewards"),
    "last": (INTEGERS, "history × agents: the arm that led to these tallies, -1 at t = 0"),
    "told_pulls": (FLOATS, "rows × arms: n as told"),
    "told_means": (FLOATS, "rows × arms: x̄ as told"),
    "dirty": (WORDS, "rows: bit k % 64 is set when the report on arm k changed in this round"),
    "due_times": (INTEGERS, "rows: from when on the whole report is due again; only where whole ones are kept"),
    "growth": (FLOATS, "1: δ, the share by which a count grows until it is told again, or NO_GROWTH"),
    "out_degrees": (INTEGERS, "agents: how many hear each agent; only where reports are kept per sender"),
    "graph_starts": (INTEGERS, "agents + 1: where each agent's neighbours begin"),
    "graph": (INTEGERS, "edges: the neighbours, ascending"),
    "may_hear": (INTEGERS, "agents: how many neighbours each agent may hear in some round or other"),
    "missing_starts": (INTEGERS, "agents + 1: where the normal agents whom each agent does not hear begin; dense only"),
    "missing": (INTEGERS, "edges: these, ascending, oneself among them"),
    "digest_limits": (FLOATS, "agents × arms: the most own pulls for which the digest holds: see engine/digest.py"),
    "digest_totals": (FLOATS, "agents × arms: the filter's digest of the reports: its total"),
    "digest_sizes": (INTEGERS, "agents × arms: and how many reports it is made of"),
    "by_pulls": (INTEGERS, "arms × normal agents: by decreasing pulls; dense only"),
    "order_floats": (FLOATS, "rows × (agents + 2), for the SharedOrder of one arm: see engine/dense.py; dense only"),
    "order_integers": (INTEGERS, "the same"),
    "in_edge_starts": (INTEGERS, "agents + 1: as graph_starts, for those heard in this round"),
    "in_edges": (INTEGERS, "edges: their neighbours heard in this round, ascending"),
    "inbox_starts": (INTEGERS, "agents + 1: where each agent's inbox begins, remembered reports included"),
    "inbox_senders": (INTEGERS, "entries: the senders"),
    "inbox_times": (INTEGERS, "entries: when the report was sent"),
    "inbox_rows": (INTEGERS, "entries: the row that holds the report"),
    "previous_inbox_starts": (INTEGERS, "as inbox_starts: the inboxes of the round before"),
    "previous_inbox_senders": (INTEGERS, "as inbox_senders"),
    "previous_inbox_times": (INTEGERS, "as inbox_times"),
    "previous_inbox_rows": (INTEGERS, "as inbox_rows"),
    "free_rows": (INTEGERS, "lie_capacity: rows of lies that are free again, a stack"),
    "numbers": (INTEGERS, "agents: the number, from 0, that people know each by, and by which luck is drawn"),
    "kappas": (FLOATS, "agents"),
    "true_means": (FLOATS, "arms: μ, what agents have in common of it"),
    "own_means": (FLOATS, "agents × arms: μ of each"),
    "bests": (INTEGERS, "agents: the arm with the largest of these"),
    "schedule_rounds": (INTEGERS, "schedule_size: from which round on each table of means is in force"),
    "schedule": (FLOATS, "schedule_size × schedule_rows × arms: means as given"),
    "schedule_common": (FLOATS, "schedule_size × arms: what agents have in common of them"),
    "offsets": (FLOATS, "agents × arms: by how much agents differ besides"),
    "shifts": (FLOATS, "arms: by how much means have moved"),
    "losses": (FLOATS, "agents: regret so far, where means change"),
    "estimates": (FLOATS, "agents × arms: z"),
    "weights": (FLOATS, "agents × arms: n / g"),
    "doubts": (FLOATS, "agents × arms: d"),
    "own_estimates": (FLOATS, "agents × arms: what own data alone say: the array of means, unless there are contexts"),
    "own_weights": (FLOATS, "agents × arms: and what they are worth: the array of pulls, likewise"),
    "choices": (INTEGERS, "agents: the arm each pulls next"),
    "reward_keys": (WORDS, "agents × arms: keys of the reward streams"),
    "policy_keys": (WORDS, "agents: keys of the decision streams"),
    "reward_kinds": (INTEGERS, "agents: which of the functions in `pull_all` rewards them"),
    "reward_starts": (INTEGERS, "agents: where the parameters of each agent's rewards begin"),
    "reward_ends": (INTEGERS, "agents: and where they end"),
    "reward_params": (FLOATS, "these parameters, one kind of rewards after the other"),
    "prepared": (FLOATS, "agents × arms: what rewards have prepared of μ"),
    "drift_params": (FLOATS, "the drift's parameters"),
    "graph_params": (FLOATS, "the graph's parameters"),
    "attack_params": (FLOATS, "the attack's parameters"),
    "filter_params": (FLOATS, "the filter's parameters"),
    "policy_params": (FLOATS, "the policy's parameters"),
    "baseline_params": (FLOATS, "the baseline's parameters"),
    "baseline_floats": (FLOATS, "what a baseline keeps for itself, laid out as it likes"),
    "baseline_integers": (INTEGERS, "the same"),
    "attack_scratch": (FLOATS, "rows × columns: what the attack keeps for itself"),
    "work_pulls": (FLOATS, "max_inbox: the reports on one arm, being filtered"),
    "work_means": (FLOATS, "max_inbox: the same"),
    "past_pulls": (FLOATS, "(liars × agents) × arms: n as each liar told each agent last; only where it is looked at"),
    "past_totals": (FLOATS, "the same: n x̄"),
    "expelled": (INTEGERS, "liars × agents: 1 if the agent has expelled the liar"),
    "lie_pulls": (FLOATS, "arms: a lie, being told"),
    "lie_means": (FLOATS, "arms: the same"),
    "rng": (WORDS, "1: state of the random stream in use"),
    "grid": (INTEGERS, "rounds at which regret is recorded"),
    "regret": (FLOATS, "normal agents × grid"),
    "third_ends": (INTEGERS, "3: the last round of each third of the horizon"),
    "thirds": (INTEGERS, "3 × normal agents × arms: pulls up to the end of each third"),
    "ridge": (FLOATS, "1: λ"),
    "contexts": (FLOATS, "agents × d: the context that each sees now"),
    "context_totals": (FLOATS, "agents × d: the sum of those it has seen"),
    "leans": (FLOATS, "agents × d: whereto the contexts of each lean, without the constant"),
    "constant": (FLOATS, "d: a vector whose product with every context is 1"),
    "parameters": (FLOATS, "arms × d: θ"),
    "context_means": (FLOATS, "agents × arms: μ at the context that each sees now"),
    "pool_contexts": (FLOATS, "pool_size × d: contexts of a file of data"),
    "pool_means": (FLOATS, "pool_size × arms: μ at each of them"),
    "statistics": (FLOATS, "agents × arms × numbers: own statistics, as core/contexts/statistics.py has them"),
    "versions": (WORDS, "agents × arms: when they changed last"),
    "told_statistics": (FLOATS, "rows × arms × numbers: statistics as told"),
    "told_versions": (WORDS, "rows × arms: when they changed last"),
    "stamps": (
        WORDS,
        "agents × arms × (2 + max_inbox): this and what follows is every agent's Scratch of core/contexts",
    ),
    "factors": (FLOATS, "agents × arms × (d² + 2d)"),
    "terms": (FLOATS, "agents × arms × 7 × max_inbox"),
    "pairs": (FLOATS, "3 × max_inbox: pairs at a context, being filtered"),
    "trial": (FLOATS, "agents × (1 + arms): see core/contexts/trial.py"),
    "lie_statistics": (FLOATS, "arms × numbers: a lie, being told"),
    "regret_totals": (FLOATS, "agents: regret so far"),
}

RECORD = np.dtype(
    [(name, np.int64) for name in (*SETTINGS, *PROGRESS)]
    + [(name, np.uint64) for name in KEYS]
    + [(name, np.int64) for name in ARRAYS]  # addresses
)
StateType = numba.from_dtype(RECORD)


class NetworkState:
    """A record for the compiled loops, and the arrays it points to."""

    def __init__(self, **numbers: int) -> None:
        self.record = np.zeros(1, RECORD)[0]
        self._arrays: dict[str, Any] = {}
        for name, number in numbers.items():
            self.record[name] = number

    def set(self, name: str, array: Any) -> None:
        """Set an array, in place of the one that was there."""
        kind, _ = ARRAYS[name]
        array = np.ascontiguousarray(array, kind)
        self._arrays[name] = array
        self.record[name] = array.ctypes.data

    def alias(self, name: str, other: str) -> None:
        """Let two names stand for the same array."""
        self.set(name, self._arrays[other])

    def grow(self, name: str, rows: int) -> None:
        """Give an array more rows, keeping what is there; tables have a column per arm."""
        kind, shape = ARRAYS[name]
        longer: Any = np.zeros((rows, int(self.record["arms"])) if "× arms" in shape else rows, kind)
        if name in self._arrays:
            longer[: len(self._arrays[name])] = self._arrays[name]
        self.set(name, longer)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def __getitem__(self, name: str) -> Any:
        return self._arrays[name]


def _pointer_to(kind: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def pointer(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), generate

    return pointer


_floats, _integers, _words = map(_pointer_to, (types.float64, types.int64, types.uint64))


@compiled
def floats(address: int, size: int) -> Floats:
    """The floats of a state at an address."""
    return numba.carray(_floats(address), (size,))  # type: ignore[no-any-return]


@compiled
def table(address: int, rows: int, columns: int) -> Floats:
    """The float table of a state at an address."""
    return numba.carray(_floats(address), (rows, columns))  # type: ignore[no-any-return]


@compiled
def integers(address: int, size: int) -> Integers:
    """The whole numbers of a state at an address."""
    return numba.carray(_integers(address), (size,))  # type: ignore[no-any-return]


@compiled
def integer_table(address: int, rows: int, columns: int) -> Integers:
    """The table of whole numbers of a state at an address."""
    return numba.carray(_integers(address), (rows, columns))  # type: ignore[no-any-return]


@compiled
def words(address: int, size: int) -> Words:
    """The 64-bit words of a state at an address."""
    return numba.carray(_words(address), (size,))  # type: ignore[no-any-return]


@compiled
def cube(address: int, pages: int, rows: int, columns: int) -> Floats:
    """The three-dimensional float table of a state at an address."""
    return numba.carray(_floats(address), (pages, rows, columns))  # type: ignore[no-any-return]


@compiled
def word_table(address: int, rows: int, columns: int) -> Words:
    """The table of 64-bit words of a state at an address."""
    return numba.carray(_words(address), (rows, columns))  # type: ignore[no-any-return]


@compiled
def first_row(state: Any, time: int) -> int:
    """The row of agent 0's report of a time within the history; no division where there is only one."""
    return 0 if state.history == 1 else (time % state.history) * state.agents
