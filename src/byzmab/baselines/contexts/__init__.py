"""Other ways to use reports where rewards depend on contexts: what is in use in federated and Byzantine learning."""

from byzmab.baselines.base import Baseline
from byzmab.baselines.contexts.base import ContextBaseline, LinUcb
from byzmab.baselines.contexts.clipping import LinClipped
from byzmab.baselines.contexts.geometric_median import LinGeometricMedian
from byzmab.baselines.contexts.mean import LinMean, LinTrimmed
from byzmab.baselines.contexts.mixing import LinMixing
from byzmab.baselines.contexts.sum import LinSum
from byzmab.core.plugins import Registry

__all__ = ["CONTEXT_BASELINES", "ContextBaseline"]

CONTEXT_BASELINES = Registry(
    Baseline,
    {
        "lin-ucb": LinUcb,
        "lin-sum": LinSum,
        "lin-mean": LinMean,
        "lin-trimmed": LinTrimmed,
        "lin-geometric-median": LinGeometricMedian,
        "lin-clipped": LinClipped,
        "lin-mixing": LinMixing,
    },
)
