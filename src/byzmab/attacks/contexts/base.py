"""What an attack is that needs contexts."""

from dataclasses import dataclass
from typing import Any, ClassVar

from byzmab.attacks.base import Attack


@dataclass(frozen=True)
class ContextAttack(Attack):
    """An attack that needs contexts: for each Byzantine agent and each receiver, it gives any statistics of every arm.

    It provides `lie_at`, and `start_round_at` where it needs one, as `Attack` describes them.
    """

    lie: ClassVar[Any] = None

    @property
    def sees_contexts(self) -> bool:
        """Those with a parameter `knows` do where it is 1."""
        return bool(getattr(self, "knows", 0))
