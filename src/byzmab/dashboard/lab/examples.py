"""Examples to start from: the paper's figures, two stories on real numbers, and one with contexts."""

from importlib import resources
from typing import Any

from byzmab.core import recommended
from byzmab.dashboard.lab.setup import AT_CONTEXTS, texts_of
from byzmab.experiment.files import read_experiment
from byzmab.paper.figures import IDS, read_figure

STORIES = {
    "ads": "Ten firms choose ads, two of them lie",
    "relays": "Ten computers choose relays, two of them lie",
}
DIFFERENT = {  # label → what differs
    "filtering": {"filter": recommended.CONTEXT_FILTER},
    "adding up all": {"algorithm": "lin-sum"},
    "trimming coordinates": {"algorithm": "lin-trimmed"},
}
Example = dict[str, Any]


def examples() -> list[Example]:
    """Every example: its name, its title, and its set-ups with their labels."""
    return [*map(_figure, IDS), *(_story(name, title) for name, title in STORIES.items()), _at_contexts()]


def _at_contexts() -> Example:
    meant = {"context": "5", **{name: text for name, text in AT_CONTEXTS.items() if name != "filter"}}
    setups = [{"label": label, "settings": {**meant, **differs}} for label, differs in DIFFERENT.items()]
    title = "Ten agents see a context before each choice, two of them lie"
    return {"name": "contexts", "title": title, "from": "Contexts", "setups": setups}


def _figure(id: str) -> Example:
    figure = read_figure(id)
    setups = [{"label": label, "settings": texts_of(item)} for label, item in figure.experiments.items()]
    if len(setups) == 1:
        setups[0]["label"] = id
    return {"name": id, "title": figure.title, "from": "The paper", "setups": setups}


def _story(name: str, title: str) -> Example:
    file = resources.files("byzmab.dashboard.lab").joinpath("stories", f"{name}.toml")
    with resources.as_file(file) as path:
        experiment = read_experiment(path)
    setups = [
        {"label": f"{name}, {filter}", "settings": texts_of(experiment.but(filter=filter))}
        for filter in ("trimmed", "mean", recommended.FILTER)
    ]
    return {"name": name, "title": title, "from": "Real numbers", "setups": setups}
