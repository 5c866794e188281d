"""Examples to start from: the paper's figures, and two stories on real numbers."""

from importlib import resources
from typing import Any

from byzmab.core import recommended
from byzmab.dashboard.lab.setup import texts_of
from byzmab.paper.figures import IDS, read_figure
from byzmab.simulation.files import read_experiment

STORIES = {
    "ads": "Ten firms choose ads, two of them lie",
    "relays": "Ten computers choose relays, two of them lie",
}
Example = dict[str, Any]


def examples() -> list[Example]:
    """Every example: its name, its title, and its set-ups with their labels."""
    return [*map(_figure, IDS), *(_story(name, title) for name, title in STORIES.items())]


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
