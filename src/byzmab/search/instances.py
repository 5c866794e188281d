"""Instances: set-ups drawn from a stated distribution, on which a rule is tuned and on which it is judged.

A rule that is chosen on one set of means is good on these means. Every instance below is an `Experiment` drawn from a
seed, in which every agent is alone: filter, policy and attack are for the user to set. The sets `tuning` and `test`
share no draw, and another seed gives others.

What is drawn, each independent of the others but for what does not go together:

    means       six kinds, see MEANS; M from 2 to 50, log-uniform
    agents      N from 4 to 30, log-uniform; in two of five instances their means differ, see DIFFERENCES
    horizon     T from 1 000 to 20 000, log-uniform
    rewards     Bernoulli in half of the instances, else Gaussian, beta, Pareto or uniform numbers
    graph       complete, Erdős–Rényi fixed or drawn anew in every round, the ten firms, a ring
    telling     every round in half of the instances, else every k rounds, by growth, late, to some, or in epochs
    liars       f as given or `auto`, and B ≤ f of them; in one of six nobody lies
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.errors import BadInput, unknown
from byzmab.core.liars import most_allowed
from byzmab.core.recommended import AUTO
from byzmab.core.report import Floats
from byzmab.core.tell import EVERY
from byzmab.experiment.experiment import Experiment

SETS = {"tuning": 1, "test": 2}  # what a set's name adds to the seed
FIRMS = 10  # agents of the graph of that name
AGENTS, ARMS, HORIZON = (4, 30), (2, 50), (1_000, 20_000)
MEMORY = 50  # rounds for which reports are remembered, where they are
MOST_LIARS = 4
DIGITS = 4  # of a mean

Rng = np.random.Generator


class Instance(NamedTuple):
    """A set-up that was drawn, with the kinds by which results are grouped."""

    number: int
    means: str
    differences: str
    graph: str
    telling: str
    experiment: Experiment  # alone: with filter `solo` and nobody who lies on purpose

    @property
    def name(self) -> str:
        """The number and the kinds in a few words."""
        settings = self.experiment
        sizes = f"N={settings.parts.agents} B={settings.parts.byzantine} M={settings.parts.arms} T={settings.horizon}"
        return f"{self.number}: {self.means}, {self.differences}, {self.graph}, {self.telling}, {sizes}"


def draw_instances(name: str, count: int, seed: int = 0, runs: int = 20) -> list[Instance]:
    """Draw the first instances of a set.

    Parameters
    ----------
    name
        `tuning` or `test`.
    count
        How many; the first ones are the same whatever the number.
    seed
        Another seed gives other sets.
    runs
        Runs of each instance.

    Returns
    -------
    The instances, each with an `Experiment` in which every agent is alone.

    Raises
    ------
    BadInput
        For a set that is not known, or a number that is not positive.

    Examples
    --------
    >>> from byzmab.search.instances import draw_instances
    >>> first = draw_instances("test", 2)[0]
    >>> first.experiment == draw_instances("test", 1)[0].experiment
    True
    """
    if name not in SETS:
        raise unknown("set", name, SETS)
    if count < 1:
        raise BadInput(f"count {count} is not allowed; allowed: a whole number of at least 1")
    return [_draw(np.random.default_rng([seed, SETS[name], number]), number, runs) for number in range(count)]


def _draw(rng: Rng, number: int, runs: int) -> Instance:
    """Draw one instance; what is drawn first does not depend on what is drawn later."""
    means, telling = _pick(rng, MEANS), _pick(rng, TELLING)
    rewards = _rewards(rng, means)
    arms, horizon, agents = (_log_uniform(rng, *bounds) for bounds in (ARMS, HORIZON, AGENTS))
    graph, degree, of_graph = _graph(rng, agents)
    agents = FIRMS if graph == "firms" else agents
    differences = _pick(rng, DIFFERENCES)
    common = MEANS[means][1](rng, max(arms, 2))
    settings: dict[str, Any] = {
        "arms": common.tolist(),
        "agents": agents,
        "horizon": horizon,
        "rewards": rewards,
        "seed": int(rng.integers(2**31)),
        "runs": runs,
        "record": 1,
        "filter": "solo",
        "attack": "none",
        **of_graph,
        **DIFFERENCES[differences][1](rng, common, agents),
    }
    settings |= TELLING[telling][1](rng, agents)
    if settings.get("time_varying"):
        settings.setdefault("memory", MEMORY if rng.random() < 0.75 else 0)
    settings |= _liars(rng, agents, degree)
    return Instance(number, means, differences, graph, telling, Experiment(**settings))


def _pick(rng: Rng, kinds: Mapping[str, tuple[float, Any]]) -> str:
    """Draw one of some kinds by their shares."""
    shares = np.array([share for share, _ in kinds.values()])
    return str(rng.choice(list(kinds), p=shares / shares.sum()))


def _log_uniform(rng: Rng, low: int, high: int) -> int:
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def _rounded(means: Any) -> Floats:
    """Return means as they are written in a file, the best one first."""
    return np.sort(np.round(np.clip(means, 0.001, 0.999), DIGITS))[::-1]


def _like_the_paper(rng: Rng, arms: int) -> Floats:
    gaps = np.array([0.0, *np.sort(rng.uniform(0.03, 0.3, arms - 1))])
    return _rounded(rng.uniform(0.4, 0.7) - gaps)


def _one_good(rng: Rng, arms: int) -> Floats:
    good = rng.uniform(0.3, 0.9)
    return _rounded(np.array([good, *np.full(arms - 1, good - rng.uniform(0.1, 0.3))]))


def _uniform(rng: Rng, arms: int) -> Floats:
    return _rounded(rng.uniform(0.05, 0.95, arms))


def _two_close(rng: Rng, arms: int) -> Floats:
    best = rng.uniform(0.4, 0.8)
    rest = rng.uniform(0.05, best - 0.15, arms - 2)
    return _rounded(np.array([best, best - rng.uniform(0.01, 0.05), *rest]))


def _clicks(rng: Rng, arms: int) -> Floats:
    return _rounded(rng.uniform(0.005, 0.04, arms))


def _high(rng: Rng, arms: int) -> Floats:
    return _rounded(rng.uniform(0.9, 0.99, arms))


RARE = "click rates", "high rates"  # kinds of means near an end of [0, 1]
MEANS: dict[str, tuple[float, Callable[[Rng, int], Floats]]] = {
    "paper-like": (0.2, _like_the_paper),
    "one good arm": (0.2, _one_good),
    "uniform": (0.2, _uniform),
    "two close": (0.15, _two_close),
    RARE[0]: (0.15, _clicks),
    RARE[1]: (0.1, _high),
}


def _rewards(rng: Rng, means: str) -> str:
    """Draw the rewards; near an end of [0, 1] they are clicks, or shares with this mean."""
    if rng.random() < 0.5:
        return "bernoulli"
    if means in RARE:
        return str(rng.choice(["bernoulli", "beta:4", "beta:20"]))
    return str(rng.choice(["gaussian:0.1", "gaussian:0.3", "beta:4", "pareto:1.5", "uniform:0.5"]))


def _alike(rng: Rng, means: Floats, agents: int) -> dict[str, Any]:
    return {}


def _spread(rng: Rng, means: Floats, agents: int) -> dict[str, Any]:
    """Every agent's means deviate, by a share of the range of the means."""
    share = rng.choice([0.05, 0.1, 0.2, 0.5])
    return {"spread": max(round(float(share * (means[0] - means[-1])), DIGITS), 10.0**-DIGITS)}


def _one_reversed(rng: Rng, means: Floats, agents: int) -> dict[str, Any]:
    """The last agent likes best what the others like least."""
    return {"arms": [means.tolist()] * (agents - 1) + [means[::-1].tolist()]}


def _two_camps(rng: Rng, means: Floats, agents: int) -> dict[str, Any]:
    """Every second agent has the means of the best two arms exchanged."""
    other = means.copy()
    other[:2] = means[1], means[0]
    return {"arms": [(other if agent % 2 else means).tolist() for agent in range(agents)]}


def _one_arm(rng: Rng, means: Floats, agents: int) -> dict[str, Any]:
    """One arm, drawn, has another mean for every agent."""
    tables = np.tile(means, (agents, 1))
    arm, scale = int(rng.integers(means.size)), 0.5 * float(means[0] - means[-1])
    tables[:, arm] = np.clip(tables[:, arm] + scale * rng.standard_normal(agents), 0.001, 0.999)
    return {"arms": np.round(tables, DIGITS).tolist()}


DIFFERENCES: dict[str, tuple[float, Callable[[Rng, Floats, int], dict[str, Any]]]] = {
    "alike": (0.6, _alike),
    "spread": (0.2, _spread),
    "one reversed": (0.06, _one_reversed),
    "two camps": (0.08, _two_camps),
    "one arm differs": (0.06, _one_arm),
}


def _graph(rng: Rng, agents: int) -> tuple[str, int, dict[str, Any]]:
    """Draw a graph: its kind, how many neighbours every agent may surely hear, and the settings."""
    kind = str(rng.choice(["complete", "erdos-renyi", "time-varying", "firms", "ring"], p=[0.45, 0.15, 0.2, 0.1, 0.1]))
    q = round(float(rng.uniform(0.3, 0.9)), 2)
    if kind == "firms":
        return kind, 4, {"graph": kind}
    if kind == "ring":
        degree = int(rng.choice([degree for degree in (2, 4, 6, 8) if degree < agents]))
        return kind, degree, {"graph": f"ring:{degree}"}
    if kind == "erdos-renyi":
        return kind, 0, {"graph": f"erdos-renyi:{q}"}
    if kind == "time-varying":
        return kind, agents - 1, {"graph": f"erdos-renyi:{q}", "time_varying": True}
    return kind, agents - 1, {"graph": kind}


def _every_round(rng: Rng, agents: int) -> dict[str, Any]:
    return {}


def _every_few(rng: Rng, agents: int) -> dict[str, Any]:
    return {"tell": f"every:{rng.choice([5, 20, 100])}"}


def _growth(rng: Rng, agents: int) -> dict[str, Any]:
    return {"tell": f"growth:{rng.choice([0.02, 0.1, 0.5])}"}


def _delayed(rng: Rng, agents: int) -> dict[str, Any]:
    return {"delay": 1}


def _subset(rng: Rng, agents: int) -> dict[str, Any]:
    return {"subset": int(rng.integers(1, agents)), "memory": int(rng.choice([0, 5, MEMORY]))}


def _epochs(rng: Rng, agents: int) -> dict[str, Any]:
    return {"epoch": int(rng.choice([2, 5, 20]))}


TELLING: dict[str, tuple[float, Callable[[Rng, int], dict[str, Any]]]] = {
    EVERY: (0.5, _every_round),
    "every few": (0.1, _every_few),
    "growth": (0.15, _growth),
    "delay": (0.1, _delayed),
    "subset": (0.1, _subset),
    "epochs": (0.05, _epochs),
}


def _liars(rng: Rng, agents: int, degree: int) -> dict[str, Any]:
    """Draw f, given or `auto`, and at most so many liars.

    With `auto` an agent with fewer than four neighbours ignores all reports, and with four or more f is at least 1.
    """
    none = rng.random() < 1 / 6
    f: int | str
    if rng.random() < 0.4:
        f, most = AUTO, max(1, most_allowed(degree))
    else:
        f = most = int(rng.integers(1, max(1, min(MOST_LIARS, most_allowed(degree or agents // 2))) + 1))
    return {"f": f, "byzantine": 0 if none else int(rng.integers(1, min(most, MOST_LIARS, agents - 2) + 1))}


def kinds_of(instances: Sequence[Instance]) -> dict[str, int]:
    """Count the kinds of some instances, for a table of what was drawn."""
    found: dict[str, int] = {}
    for instance in instances:
        for kind in (instance.means, instance.differences, instance.graph, instance.telling):
            found[kind] = found.get(kind, 0) + 1
    return found
