"""The rewards of an application: each a function of agent, arm and pull, as in the first run of a simulation."""

import numpy as np

from byzmab.contexts.see import draw_context
from byzmab.core import draws
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.report import Floats
from byzmab.experiment.context_settings import read_data
from byzmab.testbed.plan import AttackPlan, ContextPlan


class RewardStream:
    """The rewards of one agent, each a function of arm and pull, and the regret of the pulls taken."""

    def __init__(self, means: tuple[float, ...], seed: int, agent: int) -> None:
        key = draws.key_of(seed, 0, draws.REWARD)  # as in the first run of a simulation
        self._keys = [draws.key_within(key, agent, arm) for arm in range(len(means))]
        self._means = means
        self.pulls = [0] * len(means)

    @property
    def context(self) -> Floats | None:
        """The context of the next decision; None where there are none."""
        return None

    def peek(self, arm: int) -> float:
        """The reward of the next pull of an arm."""
        return float(draws.unit(draws.key_within(self._keys[arm], self.pulls[arm])) < self._means[arm])

    def pull(self, arm: int) -> float:
        """Take the reward of the next pull of an arm."""
        value = self.peek(arm)
        self.pulls[arm] += 1
        return value

    @property
    def regret(self) -> float:
        """Σ of μ* − μ over the pulls; as in the simulator, the first one of each arm is not counted."""
        best = max(self._means)
        return sum((best - mean) * max(0, count - 1) for mean, count in zip(self._means, self.pulls, strict=True))


class ContextStream(RewardStream):
    """Rewards where every decision is made at a context, which is a function of agent and decision."""

    def __init__(self, plan: AttackPlan, contexts: ContextPlan, agent: int) -> None:
        self._contexts, self._regret, self._decisions = contexts, 0.0, 0
        self._parameters, self._lean = np.array(contexts.parameters), np.array(contexts.leans[agent])
        self._context_key = draws.key_within(draws.key_of(plan.seed, 0, draws.CONTEXTS), agent)
        path, _, digest = (contexts.data or "").rpartition(":")
        self._data = read_data(path, digest, contexts.d) if contexts.data is not None else None
        super().__init__(plan.true_means, plan.seed, agent)
        self._x = np.empty(contexts.d)
        self._see()

    @property
    def context(self) -> Floats:
        """The context of the next decision."""
        return np.array(self._x)

    @property
    def regret(self) -> float:
        """Σ of (best mean − mean of the arm pulled) at each context, without the first pull of each arm."""
        return self._regret

    def pull(self, arm: int) -> float:
        """Take the reward of the next pull of an arm at the context; then comes the next one."""
        self._regret += max(self._means) - self._means[arm] if self.pulls[arm] else 0.0
        value = super().pull(arm)
        self._decisions += 1
        self._see()
        return value

    def _see(self) -> None:
        """Draw the context of the next decision, and the mean of every arm there."""
        rng = np.array([draws.key_within(self._context_key, self._decisions)], np.uint64)
        if self._data is not None:
            row = draws.below(rng, len(self._data.contexts))
            self._x, self._means = self._data.contexts[row], tuple(self._data.means[row].tolist())
            return
        draw_context(rng, self._lean, self._x)
        self._means = tuple(np.clip(NEUTRAL + self._parameters @ self._x, 0.0, 1.0).tolist())


def stream_of(plan: AttackPlan, agent: int) -> RewardStream:
    """The rewards of an agent, numbered from 0, in the world of a plan."""
    if plan.contexts is None:
        return RewardStream(plan.true_means, plan.seed, agent)
    return ContextStream(plan, plan.contexts, agent)
