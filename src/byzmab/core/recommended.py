"""The setting that we recommend, in one place: what nodes, `byzmab network` and the lab's first view use."""

from typing import Final

AUTO: Final = "auto"  # of f: as many Byzantine agents as the guarantee allows for the neighbours there are

FILTER = "guarded"
POLICY = "moss"
CONTEXT_FILTER = "pooled"  # with contexts, where `guarded` pays for doubts that are made for means
CONTEXT_POLICY = "tuned"
F = AUTO
AT_CONTEXTS = {
    "arms": "random:5",
    "attack": "flip",
    "filter": CONTEXT_FILTER,
    "policy": CONTEXT_POLICY,
}  # to start with
