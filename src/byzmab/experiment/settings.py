"""The settings of an experiment, what they mean, and how they are written as text. Light to import."""

import re
from collections.abc import Callable
from typing import Any

from byzmab.core.errors import BadInput
from byzmab.core.recommended import AUTO

SWITCHES = ("time_varying", "audit", "reliable_links", "vetting")
WHOLE = ("agents", "memory", "subset", "epoch", "delay", "horizon", "runs", "seed", "record", "context")
NAMES_A_FILE = re.compile(r"\.(csv|json|npz)(:|$)")  # arms, where they are not listed

ABOUT = {
    "arms": "the arms' means, 0.5,0.45,…, FILE.csv with those of agents or rounds, or random:M, drawn in every run; "
    "with context also FILE.json with parameters, or FILE.npz with data",
    "agents": "number of agents; 10, or as many as the graph has, if not given",
    "byzantine": "how many of them lie, agents 1..B, or which ones: 3,5, or 3, for agent 3 alone",
    "f": "upper bound on Byzantine neighbours, or auto: the largest f with 3f + 1 neighbours; default: byzantine",
    "kappa": "consistency level in [1, 2): one for all, a list with one per normal agent, or random",
    "graph": "who hears whom: complete, erdos-renyi:q, two-case:4-5 or :binomial, firms, ring:4, star, or FILE.json",
    "time_varying": "draw a random graph anew in every round",
    "attack": "what Byzantine agents tell; see byzmab list. As alie:careful=1 nothing that an audit notices",
    "filter": "how reports become a belief; see byzmab list",
    "memory": "for how many rounds a neighbour's newest report is remembered",
    "policy": "how a belief becomes a choice; see byzmab list",
    "rewards": "what a pull is worth: bernoulli, gaussian:0.1, …, or several, agent by agent in turn; see byzmab list",
    "spread": "by how much agents differ: standard deviation of their means around the common ones",
    "drift": "how means change: none, steps:2000, walk:0.002, periodic:5000,0.1; see byzmab list",
    "tally": "which of one's own rewards count: all, window:2000 for the latest, or forget:0.999 for the old ones less",
    "subset": "hear only so many neighbours in a round, drawn at random; all if not given",
    "epoch": "rounds between two decisions; the arm is kept, and nobody talks, in between",
    "delay": "rounds until a report is heard: 0 or 1",
    "tell": "when reports are told: every round; every:k rounds; or growth:d, an arm when its count grew by a share d",
    "audit": "expel liars whose reports cannot follow each other; with guarded if not given",
    "reliable_links": "declare that no report is lost: on fixed graphs a silent neighbour then counts as Byzantine",
    "algorithm": "resilient, the paper's own algorithm, or a baseline, without filter and policy; see byzmab list",
    "horizon": "rounds in a run",
    "runs": "independent repetitions",
    "seed": "where all randomness comes from",
    "record": "on how many rounds, evenly spread, regret is recorded",
    "context": "dimensions of the context that an agent sees before every choice; 0: none",
    "contexts": "how contexts are drawn: alike for all agents, or leaning:s, each agent's to a direction of its own",
    "ridge": "λ of the ridge regression on contexts, above 0",
    "shares": "how reports count at a context: equal or information shares of the joint answer, or projection",
    "vetting": "leave out neighbours whose parameters contradict one's own data",
}
ALLOWED_TEXTS = {
    "arms": "numbers with commas between them, FILE.csv, or random:M",
    "kappa": "a number, several with commas between them, or random",
}


def from_text(name: str, text: str) -> Any:
    """A setting's text, as a flag or a link holds it, as an experiment file would hold it."""
    return READERS[name](name, text) if name in READERS else text


def _numbers(name: str, text: str) -> Any:
    """A number or a list of several; the text itself where it names a file or a distribution."""
    if text.startswith("random") or NAMES_A_FILE.search(text):
        return text
    numbers = [_number(name, part) for part in text.split(",")]
    return numbers if len(numbers) > 1 else numbers[0]


def _rewards(name: str, text: str) -> Any:
    names = _plugins(text)
    return names if len(names) > 1 else text


def _byzantine(name: str, text: str) -> Any:
    """The number of Byzantine agents, or a list of agents."""
    if "," in text:
        return [int(part) if part.isdecimal() else part for part in text.removesuffix(",").split(",")]
    return _whole(name, text, "a whole number, or agents with commas behind them")


def _f(name: str, text: str) -> Any:
    return text if text == AUTO else _whole(name, text, f"a whole number, or {AUTO}")


def _switch(name: str, text: str) -> Any:
    return {"true": True, "false": False}.get(text, text)


def _plugins(text: str) -> list[str]:
    """The plug-ins of a list with commas, which stand between the parameters of one too."""
    names: list[str] = []
    for part in text.split(","):
        if names and ":" not in part and ("=" in part or _is_number(part)):
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_text(value: Any) -> str:
    """The text from which `from_text` makes the same again."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _whole(name: str, text: str, allowed: str = "a whole number") -> int:
    try:
        return int(text)
    except ValueError:
        raise BadInput(f"{name} {text!r} is not allowed; allowed: {allowed}") from None


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        allowed = ALLOWED_TEXTS.get(name, "a number")
        raise BadInput(f"{name} {text!r} is not allowed; allowed: {allowed}") from None


READERS: dict[str, Callable[[str, str], Any]] = {  # settings that are more than text
    "arms": _numbers,
    "kappa": _numbers,
    "spread": _number,
    "ridge": _number,
    "rewards": _rewards,
    "byzantine": _byzantine,
    "f": _f,
    **dict.fromkeys(WHOLE, _whole),
    **dict.fromkeys(SWITCHES, _switch),
}
