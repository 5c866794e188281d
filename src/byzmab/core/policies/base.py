"""What a policy is: the contract between an agent and the function that chooses an arm; and how ties are broken."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import below
from byzmab.core.mistakes import Contract, a_whole_number
from byzmab.core.plugins import Plugin
from byzmab.core.report import Belief, Floats, Words

TIED = 1e-12  # indices closer than this count as equal

NO_SUCH_ARM = "policy chose an arm that does not exist; allowed: 0 to the number of arms less one"

CHOOSE = Contract(
    {
        "belief": Belief(*np.empty((5, 0))),
        "time": 0,
        "params": np.empty(0),
        "rng": np.zeros(1, np.uint64),
    },
    "an arm, a whole number from 0",
    a_whole_number,
)
CHOOSE_RECENT = CHOOSE._replace(arguments={**CHOOSE.arguments, "time": 0.0})


@dataclass(frozen=True)
class Policy(Plugin):
    """Chooses an arm from a belief.

    A policy provides one compiled function:

        choose(belief, time, params, rng) -> arm

    `time` is t, a whole number; where tallies forget it is what is left of t, and that need not be one. `params` are
    the policy's fields. It may also say in plain Python, by `explain`, what every arm was worth in that
    choice.

    A policy that adds doubts to its index does so by `with_doubt`: a doubt never raises an index above the bound that
    the policy gives to the agent's own data, `belief.own_estimates` and `belief.own_weights`.
    """

    kind: ClassVar[str] = "policy"
    function: ClassVar[str] = "choose"
    choose: ClassVar[Any]
    worth: ClassVar[str] = "index"  # what `explain` tells: the index, whose largest is chosen, or the chance

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled function, with what is asked of it."""
        yield "choose", cls.choose, CHOOSE

    @classmethod
    def functions_if(cls, forgets: bool) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled function, with what is asked of it where tallies forget, or do not.

        Parameters
        ----------
        forgets
            Whether tallies forget.
        """
        yield "choose", cls.choose, CHOOSE_RECENT if forgets else CHOOSE

    @staticmethod
    def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats | None:
        """What every arm is worth to `choose` with the same random numbers; None if a user's own policy does not say.

        Parameters
        ----------
        belief
            The belief on which it chooses.
        time
            The round, t.
        params
            The policy's parameters.
        rng
            The random numbers of the choice.
        """
        return None


@compiled
def with_doubt(bound: float, doubt: float, own_bound: float) -> float:
    """Return i + min(d, max(0, u − i)): the bound i, raised by the doubt to at most the own bound u.

    Byzantine reports cannot move u. Where u is valid, the index stays valid, and no doubt makes an agent explore an arm
    that its own data rule out.

    Parameters
    ----------
    bound
        The upper bound i from the belief.
    doubt
        The bias that may be left, d.
    own_bound
        The upper bound u from the agent's own data.

    Returns
    -------
    float
        The bound with the doubt.

    Examples
    --------
    >>> with_doubt(0.5, 0.2, 0.6), with_doubt(0.5, 0.2, 0.4)
    (0.6, 0.5)
    """
    return bound + min(doubt, max(0.0, own_bound - bound))


@compiled
def pick_tied(index: Floats, best: float, rng: Words) -> int:
    """One of the arms whose index is tied with the best, each equally likely."""
    tied = 0
    first = -1
    for arm in range(index.size):
        if index[arm] >= best - TIED:
            tied += 1
            if first < 0:
                first = arm
    if tied == 1:
        return first
    skip = below(rng, tied)
    for arm in range(first, index.size):
        if index[arm] >= best - TIED:
            if skip == 0:
                return arm
            skip -= 1
    return first


@compiled
def argmax_at_random(index: Floats, rng: Words) -> int:
    """The arm with the largest index, ties broken uniformly at random."""
    best = index[0]
    for arm in range(1, index.size):
        best = max(best, index[arm])
    return pick_tied(index, best, rng)
