"""What is saved of the regret alone, as pages are told it: a share with its paired interval."""

from importlib.util import find_spec

import numpy as np

from byzmab.core.report import Floats
from byzmab.simulation.statistics import ratio_of_means, saved_interval

Saved = dict[str, float | None]  # mean, and low and high where there is an interval


def saved_of(values: Floats, alone: Floats) -> Saved | None:
    """The share saved, paired value by value; None before anything is lost.

    Intervals need scipy, an extra that a network runs without: then there is the share alone.
    """
    if find_spec("scipy") is None:
        ratio, _ = ratio_of_means(values, alone)
        return {"mean": 1.0 - ratio, "low": None, "high": None} if np.isfinite(ratio) else None
    found = saved_interval(values, alone)
    return None if found is None else {name: _finite(getattr(found, name)) for name in ("mean", "low", "high")}


def _finite(value: float) -> float | None:
    """A number that JSON can hold: an interval of one value has no end."""
    return float(value) if np.isfinite(value) else None
