"""The reports of one neighbour by version: those it told us, and those that others showed us.

Merged by version they must be what one tally reports within an epoch, whichever agents received them. So a neighbour
that numbers its reports per receiver is found out as soon as two receivers compare.
"""

from collections.abc import Collection
from itertools import islice

from byzmab.node.evidence import Contradiction, contradiction
from byzmab.node.wire import Accepted

Version = tuple[int, int]  # (epoch, seq)
TOLD = 256  # reports at hand that a neighbour told us
SHOWN = 64  # reports at hand that it told others
MOST_KEPT = 2**20  # bytes of either, for large reports; but so many are kept as are looked at:
STEPS = 16  # reports looked at on either side of a new one, until each of its arms was in one of them


class History:
    """What one key signed, as far as it is at hand."""

    def __init__(self) -> None:
        self._told: dict[Version, Accepted] = {}
        self._shown: dict[Version, Accepted] = {}

    def get(self, version: Version) -> Accepted | None:
        """The report of a version, or None."""
        return self._told.get(version) or self._shown.get(version)

    def tell(self, accepted: Accepted) -> None:
        """Keep a report that the neighbour told us."""
        _put(self._told, accepted, TOLD)

    def show(self, accepted: Accepted) -> None:
        """Keep a report that it told another, or that came late, unless there is one of its version."""
        if self.get(accepted.signed.version) is None:
            _put(self._shown, accepted, SHOWN)

    def clear(self) -> None:
        """Forget all reports."""
        self._told.clear()
        self._shown.clear()

    def audit(self, accepted: Accepted, arms: Collection[str]) -> Contradiction | None:
        """What a report proves against its sender on some arms, together with what is at hand.

        On either side each arm is compared once, with the nearest report that names it.
        """
        version = accepted.signed.version
        same = self.get(version)
        if same is not None:
            return contradiction(same, accepted)
        versions = sorted(other for other in {**self._told, **self._shown} if other[0] == version[0])
        earlier, later = [v for v in versions if v < version], [v for v in versions if v > version]
        for side in (reversed(earlier), later):
            missing = accepted.signed.places.keys() & arms
            for other in islice(side, STEPS):
                if not missing:
                    break
                near = self._told.get(other) or self._shown[other]
                shared = missing & near.signed.places.keys()
                found = contradiction(near, accepted, shared)
                if found is not None:
                    return found
                missing -= shared
        return None


def _put(kept: dict[Version, Accepted], accepted: Accepted, most: int) -> None:
    kept[accepted.signed.version] = accepted
    if len(kept) > most or (len(kept) > STEPS and sum(len(item.frame) for item in kept.values()) > MOST_KEPT):
        del kept[next(iter(kept))]
