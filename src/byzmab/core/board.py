"""The board on which a network is played: all arrays of one run behind a single pointer.

numba passes an array to a function pointer as nine words by value, 10 ns each way; a dozen of them
would cost more than the filtering itself. A board is one record of sizes, settings and addresses,
so that calling a plug-in costs 3 ns. Only loops of ours unpack it; plug-in authors see plain arrays.

Rows. Reports live in rows of `told_pulls` and `told_means`, one column per arm. The first
`history` × `agents` rows hold what normal agents could have told in the last `history` rounds
(one round unless there is memory or delay), the rest hold lies, one row for each liar and receiver.
"""

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Integers, Words

# Which changes make a filter's belief stale: a filter declares one of these.
EVERY_ROUND = 0  # time itself, or unknown: believe anew in every round
ANY_REPORT = 1  # a count or a mean in a report on the arm changed
CONSISTENT_MEANS = 2  # a mean changed, or whether a report passes the consistency filter
ALL_BITS = np.uint64(2**64 - 1)  # of a word of news

# What a plug-in can do wrong without numba noticing.
BAD_CHOICE, BAD_BELIEF, BAD_NEIGHBOUR = 1, 2, 3
FAULTS = {
    BAD_CHOICE: "policy chose an arm that does not exist; allowed: 0 to the number of arms less one",
    BAD_BELIEF: "filter made a belief that is no number, or whose weight is not positive",
    BAD_NEIGHBOUR: "graph named neighbours that do not exist, do not ascend, or are the agent itself",
}

SETTINGS = {  # whole numbers that stay as they are while a run is played
    "agents": "N",
    "arms": "M",
    "byzantine": "B: agents 1..B, rows 0..B-1, lie",
    "f": "the most Byzantine neighbours an agent reckons with",
    "consistency": "1 if the filter has step A, the consistency filter",
    "stale_when": "which changes make a belief stale: one of the constants above",
    "epoch": "rounds between two decisions",
    "delay": "rounds between sending and hearing a report",
    "memory": "rounds for which a report is remembered after it was heard",
    "subset": "how many neighbours are heard in a round; 0 for all",
    "time_varying": "1 if the graph is drawn anew in every round",
    "graph_is_ours": "1 if the graph is not a user's own, and need not be checked in every round",
    "hears": "0 if nobody listens",
    "settled": "1 if reports keep their rows, so that changes can be followed from round to round",
    "dense": "1 if nearly everyone hears everyone, and reports are ordered once for all: see core/crowd.py",
    "lists_edges": "1 if `graph` lists every edge; 0 if, being dense, only those on which lies are told",
    "history": "rounds of reports kept: memory + delay + 1",
    "edge_room": "room for edges in `graph` and `fresh`",
    "heard_room": "room for entries in `heard` and `spare`",
    "lie_room": "room for rows of lies",
    "voices": "room for the reports that one agent can hear",
    "graph_knobs_size": "length of graph_knobs",
    "attack_knobs_size": "length of attack_knobs",
    "notes_rows": "rows of attack_notes",
    "notes_columns": "columns of attack_notes",
    "grid_size": "rounds on which regret is recorded",
}
STATE = {  # whole numbers that the loop moves on
    "time": "t: rounds played",
    "sent": "the time at which the reports heard now were sent",
    "begun": "1 once reports have been exchanged",
    "edges": "reports heard in a round, by all agents",
    "most_unheard": "the most normal agents that one agent does not hear, itself included, where the graph is dense",
    "lies": "rows of lies handed out so far",
    "free": "how many of them are free again",
    "messages": "reports heard so far, by all agents",
    "fault": "what a plug-in did wrong: one of the constants above, 0 for nothing",
    "recorded": "rounds of the grid recorded so far",
}
KEYS = {  # keys of random streams
    "reward_key": "rewards, by agent, arm and pull",
    "policy_key": "decisions, by agent and time",
    "graph_key": "edges, by time and receiver",
    "subset_key": "which neighbours are heard, by time and receiver",
    "attack_key": "lies, by time, sender and receiver",
}

FLOATS, INTEGERS, WORDS = np.float64, np.int64, np.uint64
ARRAYS: dict[str, tuple[type, str]] = {
    "pulls": (FLOATS, "agents × arms: n, own tallies now"),
    "totals": (FLOATS, "agents × arms: sum of rewards"),
    "means": (FLOATS, "agents × arms: x̄"),
    "last": (INTEGERS, "history × agents: the arm that led to these tallies, -1 at t = 0"),
    "told_pulls": (FLOATS, "rows × arms: n as told"),
    "told_means": (FLOATS, "rows × arms: x̄ as told"),
    "news": (WORDS, "rows: bit k % 64 is set when the report on arm k changed in this round"),
    "graph_starts": (INTEGERS, "agents + 1: where each agent's neighbours begin"),
    "graph": (INTEGERS, "edges: the neighbours, ascending"),
    "unheard_starts": (INTEGERS, "agents + 1: where the normal agents whom each agent does not hear begin; dense only"),
    "unheard": (INTEGERS, "edges: these, ascending, oneself among them"),
    "by_pulls": (INTEGERS, "arms × normal agents: by decreasing pulls; dense only"),
    "crowd_floats": (FLOATS, "room for the crowd of one arm: see core/crowd.py; dense only"),
    "crowd_integers": (INTEGERS, "the same"),
    "fresh_starts": (INTEGERS, "agents + 1: the same for those heard in this round"),
    "fresh": (INTEGERS, "edges"),
    "heard_starts": (INTEGERS, "agents + 1: the same for the inboxes, remembered reports included"),
    "heard": (INTEGERS, "entries: the senders"),
    "heard_at": (INTEGERS, "entries: when the report was sent"),
    "heard_rows": (INTEGERS, "entries: the row that holds the report"),
    "spare_starts": (INTEGERS, "as heard_starts: the inboxes of the round before"),
    "spare": (INTEGERS, "as heard"),
    "spare_at": (INTEGERS, "as heard_at"),
    "spare_rows": (INTEGERS, "as heard_rows"),
    "free_rows": (INTEGERS, "lie_room: rows of lies that are free again, a stack"),
    "kappas": (FLOATS, "agents"),
    "truths": (FLOATS, "arms: μ"),
    "estimates": (FLOATS, "agents × arms: z"),
    "weights": (FLOATS, "agents × arms: n / g"),
    "doubts": (FLOATS, "agents × arms: d"),
    "choices": (INTEGERS, "agents: the arm each pulls next"),
    "reward_keys": (WORDS, "agents × arms: keys of the reward streams"),
    "policy_keys": (WORDS, "agents: keys of the decision streams"),
    "reward_kinds": (INTEGERS, "agents: the family of rewards"),
    "reward_knobs": (FLOATS, "agents: its parameter"),
    "graph_knobs": (FLOATS, "the graph's parameters"),
    "attack_knobs": (FLOATS, "the attack's parameters"),
    "attack_notes": (FLOATS, "rows × columns: what the attack writes down for itself"),
    "heard_pulls": (FLOATS, "voices: the reports on one arm, being filtered"),
    "heard_means": (FLOATS, "voices: the same"),
    "lie_pulls": (FLOATS, "arms: a lie, being told"),
    "lie_means": (FLOATS, "arms: the same"),
    "rng": (WORDS, "1: state of the random stream in use"),
    "grid": (INTEGERS, "rounds at which regret is recorded"),
    "regret": (FLOATS, "normal agents × grid"),
    "third_ends": (INTEGERS, "3: the last round of each third of the horizon"),
    "thirds": (INTEGERS, "3 × normal agents × arms: pulls up to the end of each third"),
}

BOARD = np.dtype(
    [(name, np.int64) for name in (*SETTINGS, *STATE)]
    + [(name, np.uint64) for name in KEYS]
    + [(name, np.int64) for name in ARRAYS]  # addresses
)
BoardType = numba.from_dtype(BOARD)


class Board:
    """A record for the compiled loops, and the arrays it points to."""

    def __init__(self, **numbers: int) -> None:
        self.record = np.zeros(1, BOARD)[0]
        self._arrays: dict[str, Any] = {}
        for name, number in numbers.items():
            self.record[name] = number

    def lay(self, name: str, array: Any) -> None:
        """Put an array on the board, in place of the one that was there."""
        kind, _ = ARRAYS[name]
        array = np.ascontiguousarray(array, kind)
        self._arrays[name] = array
        self.record[name] = array.ctypes.data

    def share(self, name: str, other: str) -> None:
        """Let two names stand for the same array."""
        self.lay(name, self._arrays[other])

    def stretch(self, name: str, rows: int) -> None:
        """Give an array more rows, keeping what is there; tables have a column per arm."""
        _, shape = ARRAYS[name]
        longer: Any = np.zeros((rows, int(self.record["arms"])) if "× arms" in shape else rows, ARRAYS[name][0])
        if name in self._arrays:
            longer[: len(self._arrays[name])] = self._arrays[name]
        self.lay(name, longer)

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
def table(address: int, rows: int, columns: int) -> Floats:
    """The float table of a board at an address."""
    return numba.carray(_floats(address), (rows, columns))  # type: ignore[no-any-return]


@compiled
def floats(address: int, size: int) -> Floats:
    """The floats of a board at an address."""
    return numba.carray(_floats(address), (size,))  # type: ignore[no-any-return]


@compiled
def integers(address: int, size: int) -> Integers:
    """The whole numbers of a board at an address."""
    return numba.carray(_integers(address), (size,))  # type: ignore[no-any-return]


@compiled
def integer_table(address: int, rows: int, columns: int) -> Integers:
    """The table of whole numbers of a board at an address."""
    return numba.carray(_integers(address), (rows, columns))  # type: ignore[no-any-return]


@compiled
def first_row(board: Any, time: int) -> int:
    """The row of agent 0's report of a time within the history; no division where there is only one."""
    return 0 if board.history == 1 else (time % board.history) * board.agents


@compiled
def words(address: int, size: int) -> Words:
    """The 64-bit words of a board at an address."""
    return numba.carray(_words(address), (size,))  # type: ignore[no-any-return]
