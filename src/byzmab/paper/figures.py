"""The figures: what each of them simulates, read from its file."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from byzmab.core.errors import BadInput, unknown
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.files import settings_of
from byzmab.experiment.settings import ABOUT
from byzmab.graphs import Given
from byzmab.sweep.identity import algorithm_version
from byzmab.toml import TomlFile, parse_toml, read_toml

IDS = tuple(f"F{number}" for number in range(1, 13))
SOLO = "solo"
KINDS = {
    "regret": "one curve of the normal agents' average per experiment",
    "agents": "one curve per normal agent of one experiment",
    "graph": "the graph, drawn",
    "frequency": "share of pulls per arm in each third of the horizon",
}
USUAL = (  # settings that every caption names; others where they are not as usual
    "arms", "agents", "byzantine", "f", "kappa", "graph", "attack", "filter", "policy", "horizon", "runs", "seed",
)  # fmt: skip
HEADINGS = ("title", "label", "kind", "experiment", "curve")


@dataclass(frozen=True)
class About:
    """What is said of a figure, and what it was made from."""

    id: str
    title: str
    kind: str
    caption: str
    source: str  # the file, word for word
    runs: int
    seed: int
    horizon: int
    version: str  # a digest of the code that played

    def sizes(self) -> dict[str, int]:
        """Runs, seed and horizon."""
        return {"runs": self.runs, "seed": self.seed, "horizon": self.horizon}

    def in_words(self) -> str:
        """Runs, seed and horizon in words."""
        return f"{'1 run' if self.runs == 1 else f'{self.runs} runs'}, seed {self.seed}, horizon {self.horizon}"


@dataclass(frozen=True)
class Figure:
    """One figure: its experiments by label, and the counterpart in which everybody is alone."""

    id: str
    title: str
    label: str  # the paper's
    kind: str
    experiments: dict[str, Experiment]
    solo: Experiment
    source: str  # the file, word for word

    def all_experiments(self) -> dict[str, Experiment]:
        """What has to be simulated."""
        if self.kind == "graph":
            return {}
        if self.kind == "frequency":
            return self.experiments
        solos = {name: alone(self.experiments[label]) for label, name in self.counterparts().items()}
        return {**self.experiments, SOLO: self.solo, **solos}

    def counterparts(self) -> dict[str, str]:
        """The label of each curve's counterpart, the same policy alone: SOLO where it is the first curve's policy."""
        policies = {label: experiment.settings()["policy"] for label, experiment in self.experiments.items()}
        first = self.solo.settings()["policy"]
        return {label: SOLO if policy == first else f"{SOLO}, {policy}" for label, policy in policies.items()}

    def about(self) -> About:
        """What is said of the figure, and what it is made from."""
        first = next(iter(self.experiments.values()))
        sizes = first.runs, first.seed, first.horizon
        return About(self.id, self.title, self.kind, self.caption(), self.source, *sizes, algorithm_version())

    def caption(self) -> str:
        """The full set-up in words."""
        first = next(iter(self.experiments.values()))
        common = {
            name: value
            for name, value in first.settings().items()
            if all(other.settings()[name] == value for other in self.experiments.values())
        }
        unusual = {name for name in ABOUT if first.settings()[name] != getattr(Experiment, name)} - {"record"}
        shown = [name for name in ABOUT if name in USUAL or name in unusual or name not in common]
        parts = [f"{name.replace('_', ' ')} {_plain(common[name])}" for name in shown if name in common]
        varied = [name for name in shown if name not in common]
        origin = f" (the paper's figure “{self.label}”)" if self.id in IDS else ""
        text = f"{self.title}{origin}. " + ", ".join(parts) + "."
        if varied:
            text += " Curves differ in " + ", ".join(varied) + "."
        if self.kind in ("regret", "agents"):
            alone = "the same policy" if set(self.counterparts().values()) == {SOLO} else self.solo.settings()["policy"]
            text += f" Mean over runs with a band of one standard deviation; solo is {alone} alone."
        if self.kind == "frequency":
            text += " Bars: mean over runs; whiskers: one standard deviation over runs, whose means are drawn anew."
        return text


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def read_figure(wanted: str, **changes: Any) -> Figure:
    """A figure of the paper by its id, or one of your own by its file; `changes` are settings that win."""
    if wanted in IDS:
        text = resources.files("byzmab.paper").joinpath("figures", f"{wanted}.toml").read_text(encoding="utf-8")
        return make_figure(parse_toml(text, f"figure {wanted!r}"), Path(wanted), **changes)
    if not wanted.endswith(".toml"):
        raise unknown("figure", wanted, [*IDS, "all", "FILE.toml"])
    return make_figure(read_toml(wanted, "figure file"), Path(wanted), **changes)


def make_figure(file: TomlFile, path: Path, **changes: Any) -> Figure:
    """A figure from its file, which lies at a path."""
    id, data = path.stem, file.data
    for key in data:
        if key not in HEADINGS:
            raise BadInput(f"{file.at(key)}: {unknown('key', key, HEADINGS)}")
    if data.get("kind") not in KINDS:
        raise BadInput(f"{file.at('kind')}: {unknown('kind', str(data.get('kind')), KINDS)}")
    common = {**_settings(file, path, "experiment", data.get("experiment", {})), **changes}
    curves = data.get("curve", [{"label": "experiment"}])
    if not isinstance(curves, list) or not all(isinstance(curve, dict) and "label" in curve for curve in curves):
        raise BadInput(f"{file.at('curve')}: curve is not allowed so; allowed: [[curve]] tables with a label each")
    experiments = {}
    for index, curve in enumerate(curves):
        settings = {key: value for key, value in curve.items() if key != "label"}
        own = _settings(file, path, f"curve[{index}]", settings)
        experiments[str(curve["label"])] = Experiment(**{**common, **own, **changes})
    _check_kind(id, data["kind"], experiments)
    return Figure(
        id,
        str(data.get("title", id)),
        str(data.get("label", id)),
        data["kind"],
        experiments,
        alone(next(iter(experiments.values()))),
        file.text,
    )


def _check_kind(id: str, kind: str, experiments: dict[str, Experiment]) -> None:
    """Raise BadInput where a kind of figure cannot show these experiments."""
    if kind != "regret" and len(experiments) != 1:
        raise BadInput(f"figure {id!r} has {len(experiments)} curves; allowed: one for kind {kind!r}")
    if kind == "graph" and not isinstance(next(iter(experiments.values())).parts.graph, Given):
        raise BadInput(f"figure {id!r} cannot be drawn; allowed: firms, or a JSON file, for kind 'graph'")


def _settings(file: TomlFile, path: Path, name: str, table: Any) -> dict[str, Any]:
    """The settings of a table of the file."""
    if not isinstance(table, dict):
        raise BadInput(f"{file.at(name)}: {name} is not allowed so; allowed: a table of settings")
    return settings_of(table, path, lambda key: file.at(f"{name}.{key}"), ABOUT)


def alone(experiment: Experiment) -> Experiment:
    """The non-cooperative counterpart: the same agents, arms, policy and luck, but nobody is heard."""
    world = ("arms", "agents", "byzantine", "rewards", "context", "contexts")
    kept = (*world, "policy", "ridge", "horizon", "runs", "seed", "record")
    settings = {name: experiment.settings()[name] for name in kept}
    return Experiment(filter="solo", attack="none", **settings)


def read_figures(wanted: Sequence[str], **changes: Any) -> list[Figure]:
    """Several figures, or all of them, each once."""
    names = [*IDS, *(name for name in wanted if name.endswith(".toml"))] if "all" in wanted else wanted
    figures = [read_figure(name, **changes) for name in dict.fromkeys(names)]
    for number, figure in enumerate(figures):
        if figure.id in (other.id for other in figures[:number]):
            raise BadInput(f"two figures are called {figure.id!r}; allowed: files of different names")
    return figures
