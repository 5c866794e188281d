"""Reproducing: simulate the figures, draw them, decide the claims, write it all down."""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from byzmab.core.report import Floats
from byzmab.paper.figures import SOLO, Figure
from byzmab.simulation.assumptions import TooFewNeighbours
from byzmab.simulation.result import Result
from byzmab.simulation.statistics import describe
from byzmab.sweep.store import ResultStore

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class FigureData:
    """A figure with its results."""

    figure: Figure
    results: dict[str, Result]  # by label, SOLO included

    def series(self) -> dict[str, Floats]:
        """The curves: regret by run and round."""
        if self.figure.kind == "agents":
            (result,) = (result for label, result in self.results.items() if label != SOLO)
            parts = result.experiment.parts
            curves = {}
            for index in range(result.regret_values.shape[1]):
                kappa = "" if parts.kappas is None else f", kappa={parts.kappas[index]:g}"
                curves[f"agent {parts.normal[index] + 1}{kappa}"] = result.regret_values[:, index]
            return {**curves, SOLO: self.results[SOLO].network_regret}
        hidden = {*self.figure.counterparts().values()} - {SOLO}  # of other policies: only differences are shown
        return {label: result.network_regret for label, result in self.results.items() if label not in hidden}

    def against_alone(self) -> dict[str, Floats]:
        """What each curve loses more at the horizon than the same agents with the same policy alone, run by run."""
        if self.figure.kind == "agents":
            alone = self.results[SOLO].regret_values[:, :, -1].T
            labels = [label for label in self.series() if label != SOLO]
            own = [self.series()[label][:, -1] for label in labels]
            return {f"{label} − itself alone": a - b for label, a, b in zip(labels, own, alone, strict=True)}
        regret = {**{label: result.network_regret for label, result in self.results.items()}, **self.series()}
        pairs = self.figure.counterparts().items()
        return {f"{label} − {other}": final_difference(regret[label], regret[other]) for label, other in pairs}

    def rounds(self) -> Any:
        """The rounds of the curves."""
        return next(iter(self.results.values())).rounds

    def shares(self) -> Floats:
        """Share of pulls by run, third and arm, over the normal agents."""
        (result,) = self.results.values()
        pulls = result.pull_values.sum(axis=1).astype(float)
        return pulls / pulls.sum(axis=2, keepdims=True)  # type: ignore[no-any-return]

    def summary(self) -> dict[str, Any]:
        """The numbers at the horizon."""
        if self.figure.kind == "graph":
            return {"curves": {}}
        return {"curves": {label: describe(values[:, -1]) for label, values in self.series().items()}}


@dataclass
class Reproduction:
    """All that came out."""

    figures: dict[str, FigureData] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    files: list[Path] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """The object of `byzmab reproduce --json`."""
        return {
            "figures": {id: data.summary() for id, data in self.figures.items()},
            "claims": {id: claim.summary() for id, claim in self.claims.items()},
            "seconds": self.seconds,
        }


def reproduce(
    figures: Sequence[Figure], out: Path, workers: int | None = None, progress: Progress | None = None
) -> Reproduction:
    """Simulate and draw figures one after the other, then decide the claims that they carry.

    Whatever is finished stays: results in the store in `out`, and each figure as soon as it is drawn. `progress` is
    called with the figure's name and the share of all rounds that is done.
    """
    from byzmab.paper.claims import decide_all
    from byzmab.paper.draw import write_figure
    from byzmab.paper.reproduction_report import write_report

    began = time.perf_counter()
    store = ResultStore(out / "results")
    reproduction = Reproduction()
    work = [sum(_rounds(experiment) for experiment in figure.all_experiments().values()) for figure in figures]
    done, total = 0, max(1, sum(work))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TooFewNeighbours)  # the paper's set-ups are what they are
        for figure in figures:
            results = {}
            for label, experiment in figure.all_experiments().items():

                def tell(
                    played: int, of: int, before: int = done, size: int = _rounds(experiment), id: str = figure.id
                ) -> None:
                    if progress is not None:
                        progress(id, (before + size * played / of) / total)

                results[label] = store.get(experiment, tell, workers)
                done += _rounds(experiment)
            data = FigureData(figure, results)
            reproduction.figures[figure.id] = data
            reproduction.files += write_figure(data, out)
            if progress is not None:
                progress(figure.id, done / total)
    reproduction.claims = decide_all(reproduction.figures)
    reproduction.seconds = time.perf_counter() - began
    (out / "summary.json").write_text(json.dumps(reproduction.summary(), indent=2))
    reproduction.files += [write_report(reproduction, out / "report.html"), out / "summary.json"]
    return reproduction


def _rounds(experiment: Any) -> int:
    """How much work an experiment is: agent-rounds, many arms counted as more."""
    parts = experiment.parts
    return int(experiment.runs * experiment.horizon * parts.agents * (1 + parts.arms // 8))


def final_difference(a: Floats, b: Floats) -> Floats:
    """The paired difference of two curves at the horizon, run by run."""
    return np.asarray(a[:, -1] - b[:, -1])
