"""Trial: an agent decides by what it hears only while that predicts its own rewards no worse than it does itself.

Before every reward there are two predictions of it: the agent's own estimate at x, and the one that the filter made of
all reports. The *lead* is by how much the second one was better so far, in squared errors. It begins at 0. Below
LEAST_LEAD the agent decides alone, and goes on to compare. So if reports mislead an agent, it ignores them, whatever
filters and vetting let pass, even where rewards are not linear in x. When their predictions are good again, it uses
them again. Ours, after prequential predictions (Dawid 1984).
"""

from byzmab.core.compiler import compiled_borrowing
from byzmab.core.contexts.linear import dot
from byzmab.core.contexts.statistics import NEUTRAL, theta_of
from byzmab.core.report import Floats

LEAD, HEARD = range(2)  # where they are in a trial: the lead, and the forecast from what was heard for every arm
LEAST_LEAD = -1.0  # what is heard may be behind by the largest squared error of one forecast


@compiled_borrowing
def squared_error(forecast: float, reward: float) -> float:
    """Of a prediction, which is cut to what rewards can be."""
    return (min(max(forecast, 0.0), 1.0) - reward) ** 2


@compiled_borrowing
def judge(trial: Floats, row: Floats, arm: int, x: Floats, reward: float) -> None:
    """Add to the lead what a reward says of both predictions; before it is counted in one's own row.

    An arm's first pull judges nobody: there was no prediction.
    """
    if row[0] > 0.0:
        alone = NEUTRAL + dot(x, theta_of(row, x.size))
        trial[LEAD] += squared_error(alone, reward) - squared_error(trial[HEARD + arm], reward)
