"""How much is told over an edge, at most."""

import math

from byzmab.core.tell import NO_GROWTH, Tell


def most_arms_told(tell: Tell, arms: int, horizon: int) -> float:
    """The most arms that an honest agent tells one receiver in so many rounds.

    By growth an arm told at a count is told again at (1 + δ) times that, or more: at most 1 + ln n / ln(1 + δ) times
    up to n pulls. As all arms have T + M pulls together and ln is concave, M (1 + ln(1 + T/M) / ln(1 + δ)) in all; and
    never more than one arm for each pull.
    """
    if tell.growth == NO_GROWTH:
        return float(arms * math.ceil(horizon / tell.rounds))
    each_pull = float(arms + horizon)
    if tell.growth == 0.0:
        return each_pull
    return min(each_pull, arms * (1.0 + math.log(1.0 + horizon / arms) / math.log1p(tell.growth)))
