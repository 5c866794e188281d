"""The rewards of an application: each a function of agent, arm and pull, as in the first run of a simulation."""

from byzmab.core import draws


class RewardStream:
    """The rewards of one agent, each a function of arm and pull, and the regret of the pulls taken."""

    def __init__(self, means: tuple[float, ...], seed: int, agent: int) -> None:
        key = draws.key_of(seed, 0, draws.REWARD)  # as in the first run of a simulation
        self._keys = [draws.key_within(key, agent, arm) for arm in range(len(means))]
        self._means = means
        self.pulls = [0] * len(means)

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
