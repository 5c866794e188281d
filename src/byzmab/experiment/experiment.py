"""An experiment: every setting of a simulation, checked and with its names resolved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any

import numpy as np

from byzmab.core.errors import BadInput, suggesting
from byzmab.core.filters.solo import Solo
from byzmab.core.liars import f_as_given
from byzmab.core.tell import EVERY
from byzmab.experiment.context_settings import ContextParts
from byzmab.experiment.given_means import read_means
from byzmab.experiment.parts import (
    ALGORITHMS,
    MOST,
    MOST_AGENTS,
    PAPER_ARMS,
    PLUGINS,
    RESILIENT,
    Parts,
    check_whole,
    name_of_part,
    plain,
    resolve_parts,
)
from byzmab.graphs import Given
from byzmab.html import folded, table
from byzmab.worlds import Replay

HEADINGS = "setting", "value"
ALWAYS_SHOWN = "agents", "byzantine", "f", "graph", "attack", "filter", "policy", "horizon", "runs"  # in a notebook
LEAST = {"horizon": 1, "runs": 1, "record": 1, "epoch": 1, "memory": 0, "seed": 0}


@suggesting
@dataclass(frozen=True)
class Experiment:
    """Every setting of a simulation, checked when it is made.

    Every field is also a flag of `byzmab simulate` and a key of an experiment file. An experiment cannot be changed;
    `but` returns a changed copy.

    Parameters
    ----------
    arms
        The arms' mean rewards: a list, a table with a row per agent, a dict of rounds with either, a file
        ``"FILE.csv"``, or ``"random:M"`` for M means drawn in every run.
    agents
        Number of agents; if None, 10, or as many as the graph has.
    byzantine
        How many agents are Byzantine, agents 1 to B, or a list of their numbers.
    f
        Upper bound on an agent's Byzantine neighbours; ``"auto"`` for the largest f with 3f + 1 neighbours; if None,
        the number of Byzantine agents.
    kappa
        Consistency level in [1, 2): one for all, one per honest agent, or ``"random"``.
    graph
        Who hears whom: a name, a file, a networkx graph, or an adjacency matrix of zeros and ones, in which entry [i,
        j] says that agent i + 1 sends its reports to agent j + 1.
    time_varying
        Whether a random graph is drawn anew in every round.
    attack
        What Byzantine agents report: a name, a class or an instance, as for the other plug-ins.
    filter
        How reports become a belief.
    memory
        For how many rounds a neighbour's newest report is remembered.
    policy
        How a belief becomes a choice.
    rewards
        The distribution of rewards around a mean, or a list of several, agent by agent in turn.
    spread
        Standard deviation of the agents' own means around the common ones.
    drift
        How means change from round to round.
    tally
        Which of an agent's own rewards count: ``"all"``, ``"window:W"`` or ``"forget:γ"``.
    subset
        How many neighbours are heard in a round, drawn at random; if None, all.
    epoch
        Rounds between two decisions; the arm is kept in between.
    delay
        Rounds until a report arrives: 0 or 1.
    tell
        When reports are sent: ``"every"``, ``"every:k"`` or ``"growth:d"``.
    audit
        Whether agents expel neighbours whose reports contradict each other; if None, as the filter has it.
    reliable_links
        Whether no report is ever lost: on a fixed graph a silent neighbour then counts as Byzantine.
    algorithm
        ``"resilient"``, which is the filter and the policy, or the name of another algorithm.
    horizon
        Rounds in a run.
    runs
        Independent repetitions.
    seed
        The seed of all random numbers.
    record
        On how many rounds, evenly spread, regret is recorded.
    context
        Dimensions of the context that an agent sees before every choice; 0 for none.
    contexts
        How contexts are distributed: ``"alike"`` for all agents, or ``"leaning:s"``.
    ridge
        λ of the ridge regression on contexts, above 0.
    shares
        How reports count at a context: ``"equal"``, ``"information"`` or ``"projection"``.
    vetting
        Whether neighbours whose parameters contradict an agent's own data are left out.

    Raises
    ------
    BadInput
        If a setting is not allowed, or two of them do not go together.

    Examples
    --------
    >>> from byzmab import Experiment
    >>> experiment = Experiment(filter="guarded", policy="moss", f="auto", byzantine=2, attack="extreme")
    >>> experiment.but(runs=200).runs
    200
    """

    arms: Any = PAPER_ARMS
    agents: int | None = None
    byzantine: int | Sequence[int | str] = 2
    f: int | str | None = None
    kappa: float | str | Sequence[float] = 1.5
    graph: Any = "complete"
    time_varying: bool = False
    attack: Any = "constant"
    filter: Any = "trimmed"
    memory: int = 0
    policy: Any = "ucb"
    rewards: Any = "bernoulli"
    spread: float = 0.0
    drift: Any = "none"
    tally: str = "all"
    subset: int | None = None
    epoch: int = 1
    delay: int = 0
    tell: str = EVERY
    audit: bool | None = None
    reliable_links: bool = False
    algorithm: Any = RESILIENT
    horizon: int = 10_000
    runs: int = 50
    seed: int = 0
    record: int = 200
    context: int = 0
    contexts: str = "alike"
    ridge: float = 1.0
    shares: str = "equal"
    vetting: bool = True

    def __post_init__(self) -> None:
        for item in fields(self):  # numpy's numbers and arrays are taken as Python's
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray) and item.name == "graph":
                object.__setattr__(self, "graph", Given.from_matrix(value))
            elif isinstance(value, (np.generic, np.ndarray)):
                object.__setattr__(self, item.name, value.tolist())
        if isinstance(self.arms, str) and self.arms.endswith(".csv"):
            object.__setattr__(self, "arms", read_means(self.arms))
        for name, least in LEAST.items():
            check_whole(name, getattr(self, name), least, math.inf if name == "seed" else MOST)
        for name, most in {"agents": MOST_AGENTS, "subset": MOST}.items():
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1, most)
        check_whole("delay", self.delay, 0, 1)
        for name in ("time_varying", "reliable_links"):
            if not isinstance(getattr(self, name), bool):
                raise BadInput(f"{name} {getattr(self, name)!r} is not allowed; allowed: true or false")
        object.__setattr__(self, "_parts", resolve_parts(self))

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        changed = (item for item in fields(self) if getattr(self, item.name) != item.default)
        return f"Experiment({', '.join(f'{item.name}={getattr(self, item.name)!r}' for item in changed)})"

    def _repr_html_(self) -> str:
        settings = self.settings()
        changed = {item.name for item in fields(self) if getattr(self, item.name) != item.default}
        shown = [name for name in settings if name in changed or name in ALWAYS_SHOWN]
        rest = [name for name in settings if name not in shown and settings[name] is not None]
        first, second = ([(name.replace("_", " "), settings[name]) for name in names] for names in (shown, rest))
        return table("experiment", HEADINGS, first) + folded(
            "all other settings", table("as they are", HEADINGS, second)
        )

    @property
    def parts(self) -> Parts:
        """The experiment with names resolved and defaults filled in."""
        return self._parts  # type: ignore[attr-defined,no-any-return]

    def but(self, **changes: Any) -> "Experiment":
        """Return the experiment with some settings changed.

        Parameters
        ----------
        **changes
            The settings that change.

        Returns
        -------
        Experiment
            A copy with these settings.
        """
        return replace(self, **changes)

    def alone(self) -> "Experiment":
        """Return the experiment in which every agent ignores all reports, with this one's policy and random numbers."""
        return self.but(filter="solo", algorithm=RESILIENT, audit=None)

    @property
    def is_alone(self) -> bool:
        """Whether every agent ignores all reports."""
        return self.parts.baseline is None and isinstance(self.parts.filter, Solo)

    def algorithm_in_words(self) -> tuple[str, str]:
        """Filter and policy, or the baseline that stands for both; with contexts it has a policy as well."""
        settings = self.settings()
        if self.parts.baseline is not None:
            return str(settings["algorithm"]), "-" if self.parts.contexts is None else str(settings["policy"])
        return str(settings["filter"]), str(settings["policy"])

    def settings(self) -> dict[str, Any]:
        """Every setting, resolved, as plain data that can be written to JSON or TOML."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["agents"], values["f"] = self.parts.agents, f_as_given(self.parts.f)
        values["arms"] = _arms_as_data(values["arms"], self.parts.contexts)
        if any(isinstance(item, Replay) for item in self.parts.rewards):
            tables = self.parts.given.tables[0]
            values["arms"] = tables if self.parts.given.agents else tables[0]
        if not isinstance(self.byzantine, int):
            values["byzantine"] = [number + 1 for number in self.parts.order[: self.parts.byzantine]]
        for name, registry in {**PLUGINS, "algorithm": ALGORITHMS}.items():
            given = values[name] if isinstance(values[name], (list, tuple)) else [values[name]]
            names = [name_of_part(*pair, registry) for pair in zip(given, self.parts.plugins(name), strict=False)]
            if names:
                values[name] = names if isinstance(values[name], (list, tuple)) else names[0]
        return {name: plain(value) for name, value in values.items()}


def check_experiment(given: Any) -> None:
    """Raise BadInput for anything that is not an experiment, such as the name of a file."""
    if not isinstance(given, Experiment):
        fix = "; use byzmab.read_experiment(path)" if isinstance(given, (str, PathLike)) else ""
        raise BadInput(f"expected Experiment, got {type(given).__name__}{fix}")


def _arms_as_data(arms: Any, contexts: ContextParts | None) -> Any:
    """Arms as plain data: parameters of a file in full, and data by the file's name with a digest."""
    if contexts is None or not isinstance(arms, str):
        return arms
    if contexts.data is not None:
        return contexts.data.source
    return arms if contexts.parameters is None else [list(row) for row in contexts.parameters]
