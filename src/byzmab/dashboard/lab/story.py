"""The opening story: the same agents alone, believing everyone and filtering, where the difference shows."""

from typing import Any

from byzmab.core import recommended
from byzmab.core.filters import FILTERS

SETTINGS = {"attack": "extreme", "policy": "ucb", "byzantine": "2", "f": "2", "runs": "8"}
BELIEVING, PAPERS = "mean", "trimmed"
MOST_LIARS = 4
ATTACKS = ("extreme", "constant", "gaussian", "adaptive", "alie", "mimic", "starve")  # in the order of the menu


def story() -> dict[str, Any]:
    """What the page needs to tell it: the set-up, the filters in the order they are played, and the levers."""
    filters = [name for name in FILTERS.entries if name not in ("solo", BELIEVING)]
    return {
        "settings": SETTINGS,
        "believing": BELIEVING,
        "papers": PAPERS,
        "filter": recommended.FILTER,
        "filters": filters,
        "attacks": list(ATTACKS),
        "liars": list(range(MOST_LIARS + 1)),
    }
