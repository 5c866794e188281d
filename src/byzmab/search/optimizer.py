"""The optimizer: proposes points of a space and is told what they are worth. Optuna does the work."""

from importlib.util import find_spec
from typing import Any

from byzmab.core.errors import BadInput, unknown
from byzmab.search.space import Point, Space

SAMPLERS = {"cma-es": "CmaEsSampler", "tpe": "TPESampler", "random": "RandomSampler"}  # Optuna's names
DEFAULT = "cma-es"  # finds more than the others in as many trials: docs/concepts/attack-search.md


class Optimizer:
    """Proposes points, the known ones first; the same seed and answers give the same points."""

    def __init__(self, space: Space, name: str, seed: int) -> None:
        if name not in SAMPLERS:
            raise unknown("optimizer", name, SAMPLERS)
        optuna = _optuna()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = getattr(optuna.samplers, SAMPLERS[name])(seed=seed % 2**32)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._distributions = {
            name: optuna.distributions.FloatDistribution(low, high) for name, (low, high) in space.bounds.items()
        }
        self._trial: Any = None
        for point in space.known.values():
            self._study.enqueue_trial(dict(point))

    def ask(self) -> Point:
        """The point to try next."""
        self._trial = self._study.ask(self._distributions)
        return dict(self._trial.params)

    def tell(self, worth: float) -> None:
        """Say what the point asked for last is worth."""
        self._study.tell(self._trial, worth)


def _optuna() -> Any:
    """Optuna, or one sentence that says how to get it."""
    for name in ("optuna", "cmaes"):
        if find_spec(name) is None:
            raise BadInput(f"attack search needs {name}, which is missing: pip install 'byzmab[search]'")
    import optuna

    return optuna
