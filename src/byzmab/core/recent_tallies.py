"""What is left of one agent's rewards where its tallies forget; byzmab.engine.recent does the same for a network."""

from collections import deque
from typing import Any, Self

from byzmab.core.errors import BadInput
from byzmab.core.forgetting import LEAST_LEFT, NEUTRAL, WINDOW, Forgetting, after_forgetting
from byzmab.core.tally import Arm, checked_name


class RecentTallies:
    """Counts and means by arm, discounted at every reward or of the latest rewards alone."""

    def __init__(self, forgetting: Forgetting) -> None:
        self.forgetting = forgetting
        self.clock = 0.0  # what is left of all rewards
        self._tallies: dict[Arm, tuple[float, float]] = {}  # arm → (count, mean), or (count, total) with a window
        self._latest: deque[tuple[Arm, float]] = deque()  # within the window, oldest first

    def add(self, arm: Arm, value: float) -> None:
        """Count a reward."""
        if self.forgetting.kind == WINDOW:
            self._slide(arm, value)
            return
        factor = self.forgetting.factor
        for other, (count, mean) in self._tallies.items():
            self._tallies[other] = after_forgetting(count, factor), mean
        count, mean = self._tallies.get(arm, (0.0, 0.0))
        self._tallies[arm] = count + 1.0, mean + (value - mean) / (count + 1.0)
        self.clock = factor * self.clock + 1.0

    def _slide(self, arm: Arm, value: float) -> None:
        count, total = self._tallies.get(arm, (0.0, 0.0))
        self._tallies[arm] = count + 1.0, total + value
        self._latest.append((arm, value))
        if len(self._latest) > self.forgetting.window:
            passed, old = self._latest.popleft()
            count, total = self._tallies[passed]
            self._tallies[passed] = (count - 1.0, total - old) if count > 1.0 else (0.0, 0.0)
        self.clock = float(len(self._latest))

    def of(self, arm: Arm) -> tuple[float, float]:
        """The count and the mean of an arm; almost nothing is left of one whose rewards are forgotten."""
        if arm not in self._tallies:
            return 0.0, 0.0
        count, value = self._tallies[arm]
        if self.forgetting.kind != WINDOW:
            return count, value
        return (count, min(max(value / count, 0.0), 1.0)) if count > 0.0 else (LEAST_LEFT, NEUTRAL)

    def drop(self, arm: Arm) -> None:
        """Forget an arm, as if it had never been pulled."""
        self._tallies.pop(arm, None)
        self._latest = deque(item for item in self._latest if item[0] != arm)

    def as_rows(self) -> list[Any]:
        """As plain data."""
        return [self.clock, [[arm, *tally] for arm, tally in self._tallies.items()], list(map(list, self._latest))]

    @classmethod
    def from_rows(cls, forgetting: Forgetting, clock: float, tallies: list[Any], latest: list[Any]) -> Self:
        """Read what `as_rows` wrote; BadInput where it is malformed."""
        found = cls(forgetting)
        found.clock = float(clock)
        found._tallies = {checked_name("arm", arm): (float(count), float(value)) for arm, count, value in tallies}
        found._latest = deque((checked_name("arm", arm), float(value)) for arm, value in latest)
        numbers = [number for tally in found._tallies.values() for number in tally] + [
            item[1] for item in found._latest
        ]
        if not all(0.0 <= number < 1e18 for number in [found.clock, *numbers]):
            raise BadInput("agent state has recent rewards that are not allowed; allowed: numbers of at least 0")
        return found
