"""When one's next report is due: always, or once an arm's pulls have grown by a share, or after a long quiet."""

from byzmab.core.model import AnyReport
from byzmab.core.tell import is_due


class Telling:
    """What was told last, and when; by it the next report is due, or is not."""

    def __init__(self, growth: float | None, heartbeat: float) -> None:
        self._growth, self._heartbeat = growth, heartbeat
        self._told: dict[object, float] | None = None  # pulls by arm; None: the next report is due, whatever it says
        self._until = 0.0  # from here on, on a clock that never jumps, the next report is due in any case

    def is_due(self, report: AnyReport, steady: float) -> bool:
        """Whether to tell a report now."""
        if self._growth is None or self._told is None or steady >= self._until:
            return True
        if set(report.arms) != set(self._told):
            return True
        counts = zip(report.arms, report.pulls.tolist(), strict=True)
        return any(is_due(count, self._told[arm], self._growth) for arm, count in counts)

    def tell(self, report: AnyReport, steady: float) -> None:
        """Remember what is told now."""
        self._told = dict(zip(report.arms, report.pulls.tolist(), strict=True))
        self._until = steady + self._heartbeat

    def forget(self) -> None:
        """Let the next report be due: somebody has not heard the last one, or an epoch begins."""
        self._told = None
