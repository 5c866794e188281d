"""Off-policy evaluation: what a policy would have earned on a log of pulls that another one chose.

`replay_policy` lets an agent learn on the log (the replay method of Li et al. 2011): events on another arm than it
wants are passed over. `inverse_propensity` values fixed shares of arms by all events, each weighted by the chance with
which it was logged. Both go by events alone: nobody is heard.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.agent import Agent
from byzmab.core.errors import BadInput
from byzmab.worlds.event_log import Event, arms_of, read_events


class Evaluation(NamedTuple):
    """What a policy earns per pull, estimated from a log."""

    value: float  # the mean reward
    stderr: float  # its standard error, events taken as independent; nan for fewer than two
    used: int  # events that it is made of
    events: int  # events in the log
    weighted: float | None = None  # the mean with weights 1 / propensity, where the log tells these

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.stderr:.4f} from {self.used} of {self.events} events"


def replay_policy(log: str | Sequence[Event], policy: Any = "ucb", seed: int = 0, tally: str = "all") -> Evaluation:
    """Let an agent with a policy learn on a log, a file or its events, in their order.

    It is unbiased where the logged arms were drawn regardless of what their rewards were going to be, and, without
    propensities, of all else that rewards depend on. What is passed over tells nothing: of M arms about one event in M
    is used, and that many rounds are played.

    Parameters
    ----------
    log
        A log's file, or its events.
    policy
        The policy that learns on it.
    seed
        Of its random numbers.
    tally
        Which rewards count: ``"all"``, ``"window:W"`` or ``"forget:γ"``.

    Returns
    -------
    Evaluation
        The mean reward per pull, with its standard error.
    """
    events = read_events(log) if isinstance(log, str) else log
    agent = Agent(_checked_arms(events), policy=policy, filter="solo", seed=seed, tally=tally)
    rewards, weights = [], []
    wanted = agent.select()
    for event in events:
        if event.arm == wanted:  # until then nothing is learnt, and the agent would want the same again
            agent.reward(wanted, event.reward)
            rewards.append(event.reward)
            weights.append(1.0 / event.propensity if event.propensity else 0.0)
            wanted = agent.select()
    weighted = float(np.average(rewards, weights=weights)) if any(weights) else None
    return _evaluation(np.array(rewards), len(rewards), len(events), weighted)


def inverse_propensity(log: str | Sequence[Event], shares: Mapping[Any, float]) -> Evaluation:
    """The mean reward of arms chosen with fixed shares, arm → chance, by all events of a log with propensities.

    It is unbiased where the propensities are true and no arm with a share was logged with a chance of 0.

    Parameters
    ----------
    log
        A log's file, or its events, with propensities.
    shares
        Arm → its share of choices; they add up to 1.

    Returns
    -------
    Evaluation
        The mean reward per pull, with its standard error.

    Raises
    ------
    BadInput
        If the log has no propensities, or the shares are not those of its arms.
    """
    events = read_events(log) if isinstance(log, str) else log
    arms = _checked_arms(events)
    if any(event.propensity == 0.0 for event in events):
        raise BadInput("log has no propensities; allowed: a column `propensity` with the chance of each logged arm")
    chances = {str(arm): chance for arm, chance in shares.items()}  # a log's arms are texts, numbers among them
    whole = math.isclose(sum(chances.values()), 1.0, abs_tol=1e-9) and min(chances.values()) >= 0.0
    if not chances.keys() <= {*arms} or not whole:
        allowed = f"chances of the arms {', '.join(arms)}, 1 in all"
        raise BadInput(f"shares {dict(shares)!r} are not allowed; allowed: {allowed}")
    terms = np.array([chances.get(event.arm, 0.0) * event.reward / event.propensity for event in events])
    used = sum(chances.get(event.arm, 0.0) > 0.0 for event in events)
    return _evaluation(terms, used, len(events), None)


def _checked_arms(events: Sequence[Event]) -> tuple[str, ...]:
    arms = arms_of(events)
    if len(arms) < 2:
        raise BadInput(f"log has {len(arms)} arms; allowed: two or more")
    return arms


def _evaluation(terms: np.ndarray, used: int, events: int, weighted: float | None) -> Evaluation:
    if terms.size == 0:
        raise BadInput("log has no event on an arm that the policy wants; allowed: a longer log")
    stderr = float(terms.std(ddof=1)) / math.sqrt(terms.size) if terms.size > 1 else math.nan
    return Evaluation(float(terms.mean()), stderr, used, events, weighted)
