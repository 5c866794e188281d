"""What can be said of a mean over runs: its error, and a bootstrap interval."""

from typing import Any

import numpy as np

from byzmab.core.report import Floats

LEVEL = 0.95
RESAMPLES = 2_000


def describe(values: Floats) -> dict[str, Any]:
    """Mean, standard deviation and standard error of some runs; null where one run tells none."""
    std = float(values.std(ddof=1)) if values.size > 1 else None
    stderr = None if std is None else std / values.size**0.5
    return {"mean": float(values.mean()), "std": std, "stderr": stderr, "runs": int(values.size)}


def interval_of_mean(values: Floats, level: float = LEVEL) -> tuple[float, float]:
    """The bootstrap percentile interval of the mean (Efron 1979); the same for the same values."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(0, values.size, (RESAMPLES, values.size))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
