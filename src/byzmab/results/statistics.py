"""Statistics over runs: mean, standard deviation and error, intervals of means and shares, ratios of means."""

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.report import Floats
from byzmab.extras import needs_extra

LEVEL = 0.95  # of every interval, two-sided
RESAMPLES = 2_000
Saving = dict[str, float | None]  # mean, and low and high where there is an interval


class Interval(NamedTuple):
    """A mean with its standard error and a two-sided interval."""

    mean: float
    stderr: float
    low: float
    high: float


def describe(values: Floats) -> dict[str, Any]:
    """Mean, standard deviation (ddof 1) and standard error of some runs; null where one run has none."""
    std = float(values.std(ddof=1)) if values.size > 1 else None
    stderr = None if std is None else std / values.size**0.5
    return {"mean": float(values.mean()), "std": std, "stderr": stderr, "runs": int(values.size)}


def band(values: Floats) -> tuple[Floats, Floats | None]:
    """Mean and standard deviation (ddof 1) over runs, the first axis; None for the deviation of one run."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) if len(values) > 1 else None


def student_interval(values: Floats) -> Interval:
    """Student's interval of the mean; infinite for a single value."""
    with needs_extra("study"):
        from scipy.stats import t

    found = describe(values)
    mean, stderr = found["mean"], found["stderr"]
    if stderr is None:
        return Interval(mean, np.inf, -np.inf, np.inf)
    reach = float(t.ppf(0.5 + LEVEL / 2, values.size - 1)) * stderr
    return Interval(mean, stderr, mean - reach, mean + reach)


def share_interval(count: int, of: int) -> tuple[float, float]:
    """The exact interval of a share (Clopper & Pearson 1934)."""
    with needs_extra("study"):
        from scipy.stats import binomtest

    found = binomtest(count, of).proportion_ci(LEVEL)
    return float(found.low), float(found.high)


def bootstrap_interval(values: Floats) -> tuple[float, float]:
    """The bootstrap percentile interval of the mean (Efron 1979), the same for the same values; NaN for one value."""
    with needs_extra("study"):
        from scipy.stats import bootstrap

    if values.size < 2:
        return np.nan, np.nan
    found = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)


def ratio_of_means(values: Floats, base: Floats) -> tuple[float, float | None]:
    """The ratio of two means over paired runs and its standard error by linearisation, None for one run.

    NaN where the base has no positive mean.
    """
    if not base.mean() > 0.0:
        return np.nan, None
    ratio = float(values.mean() / base.mean())
    stderr = describe(values - ratio * base)["stderr"]
    return ratio, None if stderr is None else stderr / float(base.mean())


def saved_interval(values: Floats, base: Floats) -> Interval | None:
    """The share of the base's mean that is saved, 1 − ratio, with its paired interval; None where the base has none."""
    ratio, _ = ratio_of_means(values, base)
    if not np.isfinite(ratio):
        return None
    found = student_interval((base - values - (1.0 - ratio) * base) / base.mean())
    return Interval(1.0 - ratio, found.stderr, 1.0 - ratio + found.low, 1.0 - ratio + found.high)


def saving(values: Floats, alone: Floats) -> Saving | None:
    """Return the share of the solo regret that is saved, paired run by run; None where solo has no regret.

    The interval needs two runs, and scipy, which a network runs without: else there is the share alone.
    """
    if find_spec("scipy") is None:
        ratio, _ = ratio_of_means(values, alone)
        return {"mean": 1.0 - ratio, "low": None, "high": None} if np.isfinite(ratio) else None
    found = saved_interval(values, alone)
    return None if found is None else {name: _finite(getattr(found, name)) for name in ("mean", "low", "high")}


def _finite(value: float) -> float | None:
    """Return a number that JSON can hold: the interval of one value has no end."""
    return float(value) if np.isfinite(value) else None


def saving_in_words(share: Saving) -> str:
    """Return a saving in per cent, as "saves 80 % (75 to 83)", or what cooperation costs where it saves nothing."""
    shares = [share[name] for name in ("mean", "low", "high")]
    mean, low, high = (None if value is None else round(100.0 * value) for value in shares)
    verb = f"saves {mean} %"
    if mean is not None and mean < 0:
        verb = f"costs {-mean} % more"
        low, high = (None if value is None else -value for value in (high, low))
    return verb if low is None else f"{verb} ({low} to {high})"
