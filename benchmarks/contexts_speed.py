"""One agent with contexts, LinUCB, beside MABWiser and contextualbandits on the same stream: decisions per second.

    python -m benchmarks.contexts_speed

Every decision is followed by its reward, one by one. Packages that are not installed are left out
(pip install mabwiser contextualbandits).
"""

import time
from importlib.util import find_spec

import numpy as np

from byzmab.core.contexts.believe import scratch_shapes
from byzmab.core.contexts.decide import ROWS, context_decision
from byzmab.core.contexts.shares import EQUAL
from byzmab.core.contexts.statistics import empty_statistics, observe, row_size
from byzmab.core.filters import FILTERS
from byzmab.core.policies import POLICIES

D, ARMS = 10, 10
ALPHA = 1.0  # of the width


def stream(count):
    """Contexts, and for each the reward of every arm."""
    rng = np.random.default_rng(0)
    contexts, parameters = rng.normal(size=(count, D)), rng.normal(size=(ARMS, D))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    parameters /= np.linalg.norm(parameters, axis=1, keepdims=True)
    return contexts, (rng.random((count, ARMS)) < 0.5 + 0.5 * contexts @ parameters.T).astype(float)


def ours(contexts, rewards):
    """The one compiled call of a live agent, and a rank-one update."""
    decide = context_decision(FILTERS.resolve("solo"), POLICIES.resolve("tuned"))
    own, versions, beliefs = empty_statistics(ARMS, D, 1.0), np.ones(ARMS, np.uint64), np.zeros((ROWS, ARMS))
    for arm in range(ARMS):
        observe(own[arm], contexts[arm], rewards[arm, arm], 1.0)
    shapes = scratch_shapes(ARMS, D, 1)
    scratch = tuple(np.zeros(shape, np.uint64 if name == "stamps" else float) for name, shape in shapes.items())
    inbox = np.zeros((1, ARMS, row_size(D))), np.zeros((1, ARMS), np.uint64), np.zeros(0, np.uint64)
    params, rng = (np.zeros(0), np.array([0.25])), np.zeros(2, np.uint64)
    total = 0.0
    for number, x in enumerate(contexts):
        reading = 1.0, EQUAL, False, False, 0, 1.5, number, 0
        arm = decide(own, versions, beliefs, inbox, x, reading, params, scratch, rng, True)
        observe(own[arm], x, rewards[number, arm], 1.0)
        versions[arm] += np.uint64(1)
        total += rewards[number, arm]
    return total


def mabwiser(contexts, rewards):
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(ARMS))
    bandit = MAB(arms, LearningPolicy.LinUCB(alpha=ALPHA, l2_lambda=1.0))
    first = [rewards[arm, arm] for arm in arms]
    bandit.fit(arms, first, contexts[:ARMS])
    total = 0.0
    for number, x in enumerate(contexts):
        arm = bandit.predict([x])
        bandit.partial_fit([arm], [rewards[number, arm]], [x])
        total += rewards[number, arm]
    return total


def contextualbandits(contexts, rewards):
    from contextualbandits.online import LinUCB

    bandit = LinUCB(nchoices=ARMS, alpha=ALPHA, lambda_=1.0, beta_prior=None)
    bandit.fit(contexts[:ARMS], np.arange(ARMS), rewards[np.arange(ARMS), np.arange(ARMS)])
    total = 0.0
    for number, x in enumerate(contexts):
        arm = int(bandit.predict(x[None])[0])
        bandit.partial_fit(x[None], np.array([arm]), np.array([rewards[number, arm]]))
        total += rewards[number, arm]
    return total


def main():
    others = [rule for rule in (mabwiser, contextualbandits) if find_spec(rule.__name__)]
    ours(*stream(50))  # compiled now
    rates = {}
    for rule in (ours, *others):
        contexts, rewards = stream(20_000 if rule is ours else 1_000)
        began = time.perf_counter()
        total = rule(contexts, rewards)
        rates[rule] = len(contexts) / (time.perf_counter() - began)
        print(f"{rule.__name__:18} {rates[rule]:9.0f} decisions/s, mean reward {total / len(contexts):.3f}")
    if others:
        print(f"ours is {rates[ours] / max(rates[rule] for rule in others):.0f} times as fast as the faster one")


if __name__ == "__main__":
    main()
