"""Policies: from a belief to an arm."""

from byzmab.core.plugins import Registry
from byzmab.core.policies.base import Policy
from byzmab.core.policies.greedy import Greedy
from byzmab.core.policies.kl_moss import KlMoss
from byzmab.core.policies.kl_ucb import KlUcb
from byzmab.core.policies.moss import Moss
from byzmab.core.policies.softmax import Softmax
from byzmab.core.policies.thompson import Thompson
from byzmab.core.policies.thompson_normal import ThompsonNormal
from byzmab.core.policies.ucb import Tuned, Ucb

__all__ = ["POLICIES", "Policy"]

POLICIES = Registry(
    Policy,
    {
        "ucb": Ucb,
        "tuned": Tuned,
        "greedy": Greedy,
        "softmax": Softmax,
        "kl-ucb": KlUcb,
        "moss": Moss,
        "kl-moss": KlMoss,
        "thompson": Thompson,
        "thompson-normal": ThompsonNormal,
    },
)
