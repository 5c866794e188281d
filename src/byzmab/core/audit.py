"""Audit: whether one report can follow another of the same agent.

Tallies only grow. Between two reports an honest agent's count on an arm rises by some m ≥ 0. The sum of its rewards,
each in [0, 1], rises by something from 0 to m. An agent that reports anything else has given itself away, whatever the
truth is.

Where neighbours are always the same and no report is lost, silence gives away, too: every honest agent has pulled every
arm at least once, and tells so in every report.
"""

import math

from byzmab.core.compiler import compiled

ROUNDING = 1e-9  # of pulls · mean, per pull: what rounding can do
NEXT_TO_NOTHING = (1.0, 0.5)  # the count and the mean of an agent that must send something, and wants to send nothing


def can_follow(pulls: float, total: float, past_pulls: float, past_total: float) -> bool:
    """Whether an honest agent that told `past_pulls`, with rewards `past_total` in sum, can tell these afterwards."""
    grown, moved, slack = pulls - past_pulls, total - past_total, ROUNDING * max(pulls, past_pulls)
    return grown >= 0.0 and -slack <= moved <= grown + slack


follows = compiled(can_follow)  # the same for compiled loops


@compiled
def nearest(pulls: float, mean: float, past_pulls: float, past_total: float, expected: bool) -> tuple[float, float]:
    """The count and mean nearest to a lie that can follow what was told before.

    Silence stays silence, unless something is expected: then it is no news, or as little as can be told at first.
    """
    if not (pulls > 0.0 and -math.inf < mean < math.inf):
        if not expected:
            return 0.0, 0.0
        return (past_pulls, past_total / past_pulls) if past_pulls > 0.0 else NEXT_TO_NOTHING
    pulls = max(pulls, past_pulls)
    total = min(max(pulls * mean, past_total), past_total + (pulls - past_pulls))
    return pulls, total / pulls
