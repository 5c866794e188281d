"""Reproducing: simulate the figures, draw them, decide the claims, write it all down.

A directory holds one report. Figures that were made before stay in it: they are read from their data files, and are
neither simulated nor drawn again.
"""

import glob
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from byzmab.core.liars import TooFewNeighbours
from byzmab.core.report import Floats
from byzmab.experiment.assumptions import unwarned
from byzmab.graphs.given import Given
from byzmab.paper.figures import IDS, SOLO, About, Figure
from byzmab.results.outputs import Work, open_output, write_text
from byzmab.results.result import Result
from byzmab.results.statistics import describe
from byzmab.sweep.store import ResultStore

Progress = Callable[[str, float], None]


NO_GRAPH: tuple[int, list[int], list[tuple[int, int]]] = (0, [], [])


@dataclass(frozen=True)
class FigureData:
    """A figure with its numbers, simulated or read from its data file: all that is drawn, told and claimed of it."""

    about: About
    curves: dict[str, Floats]  # regret by run and round
    differences: dict[str, Floats]  # what each curve loses more at the horizon than the same agents alone, run by run
    rounds: Any  # of the curves
    shares: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))  # of pulls, by run, third and arm
    graph: tuple[int, list[int], list[tuple[int, int]]] = NO_GRAPH  # agents, Byzantine agents, undirected edges

    def summary(self) -> dict[str, Any]:
        """What the figure was made from, and its numbers at the horizon."""
        curves = {label: describe(values[:, -1]) for label, values in self.curves.items()}
        return {**self.about.sizes(), "curves": curves}


def data_of(figure: Figure, results: Mapping[str, Result]) -> FigureData:
    """Return the numbers of a figure from its results by label, SOLO included."""
    about = figure.about()
    if about.kind == "graph":
        return FigureData(about, {}, {}, np.array([]), graph=_graph_of(figure))
    rounds = next(iter(results.values())).rounds
    if about.kind == "agents":
        return FigureData(about, *_by_agent(results), rounds)
    regret = {label: result.network_regret for label, result in results.items()}
    hidden = {*figure.counterparts().values()} - {SOLO}  # of other policies: only differences are shown
    curves = {label: values for label, values in regret.items() if label not in hidden}
    if about.kind == "frequency":
        return FigureData(about, curves, {}, rounds, shares=_shares_of(results))
    return FigureData(about, curves, differences_of(figure, regret), rounds)


def differences_of(figure: Figure, regret: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return what each curve loses more at the horizon than its counterpart, the same policy alone, run by run."""
    pairs = figure.counterparts().items()
    return {f"{label} − {other}": final_difference(regret[label], regret[other]) for label, other in pairs}


def _by_agent(results: Mapping[str, Result]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """A curve for every honest agent, and what it loses more at the horizon than itself alone."""
    (result,) = (result for label, result in results.items() if label != SOLO)
    parts, curves = result.experiment.parts, {}
    for index in range(result.regret_values.shape[1]):
        kappa = "" if parts.kappas is None else f", kappa={parts.kappas[index]:g}"
        curves[f"agent {parts.normal[index] + 1}{kappa}"] = result.regret_values[:, index]
    alone = results[SOLO].regret_values[:, :, -1].T
    pairs = zip(curves.items(), alone, strict=True)
    differences = {f"{label} − itself alone": values[:, -1] - own for (label, values), own in pairs}
    return {**curves, SOLO: results[SOLO].network_regret}, differences


def _shares_of(results: Mapping[str, Result]) -> Floats:
    """The share of pulls by run, third and arm, over the honest agents."""
    (result,) = results.values()
    pulls = result.pull_values.sum(axis=1).astype(float)
    return pulls / pulls.sum(axis=2, keepdims=True)  # type: ignore[no-any-return]


def _graph_of(figure: Figure) -> tuple[int, list[int], list[tuple[int, int]]]:
    """The number of agents, the Byzantine agents and the undirected edges of a figure's graph."""
    parts = next(iter(figure.experiments.values())).parts
    assert isinstance(parts.graph, Given), "only a graph given edge by edge can be drawn"
    pairs = {(min(a, b), max(a, b)) for a, heard in enumerate(parts.graph.listed) for b in heard}
    return parts.agents, list(map(int, parts.order[: parts.byzantine])), sorted(pairs)


@dataclass
class Reproduction:
    """All that is in a report."""

    figures: dict[str, FigureData] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # the figures asked for; others are from before
    notes: list[str] = field(default_factory=list)  # what became of figures that were there, for people
    seconds: float = 0.0
    files: list[Path] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """The object of `byzmab reproduce --json`."""
        return {
            "figures": {id: data.summary() for id, data in self.figures.items()},
            "claims": {id: claim.summary() for id, claim in self.claims.items()},
            "seconds": self.seconds,
        }

    def claims_asked(self) -> dict[str, Any]:
        """The claims that rest on figures asked for, or on none."""
        return {id: item for id, item in self.claims.items() if not item.figures or {*item.figures} & {*self.asked}}


def reproduce(
    figures: Sequence[Figure],
    out: str | Path,
    workers: int | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
    keep_larger: bool = False,
) -> Reproduction:
    """Simulate and draw figures one after the other, then decide the claims and write the report.

    Whatever is finished stays: results in the store in `out`, and each figure as soon as it is drawn. Other figures
    that are in `out` stay in its report.

    Parameters
    ----------
    figures
        The figures to make.
    out
        The directory of the report.
    workers
        Threads to run on; all cores if None.
    progress
        Called with a figure's name and the share of all rounds that is done.
    overwrite
        Whether a figure in `out` may be replaced by one of fewer runs, or with another seed, horizon or file.
    keep_larger
        Whether a figure in `out` that has more runs than asked for is kept, rather than refused.

    Raises
    ------
    BadInput
        If `out` holds something else, or a figure that would be lost.
    """
    from byzmab.paper.shelf import Shelf

    began = time.perf_counter()
    names = [f"{glob.escape(figure.id)}.*" for figure in figures]
    shelf = Shelf(Path(out), overwrite, keep_larger)
    work = Work("byzmab reproduce", ("report.html", "summary.json", *names))
    reproduction = Reproduction(asked=[figure.id for figure in figures])
    wanted = [figure for figure in figures if shelf.is_wanted(figure.about(), reproduction.notes)]
    shelf.others(figures)  # before anything is computed: what cannot be kept is told
    output = open_output(out, work, overwrite, shelf.recognised())
    _make(wanted, shelf, workers, progress, reproduction)
    with output.writing():
        reproduction.figures = _in_order({**shelf.others(figures), **shelf.kept(figures), **reproduction.figures})
        _write_report(reproduction, shelf.directory, began)
    return reproduction


def _make(
    figures: Sequence[Figure],
    shelf: Any,
    workers: int | None,
    progress: Progress | None,
    reproduction: Reproduction,
) -> None:
    """Simulate and draw figures, and keep each of them as soon as it is finished."""
    store = ResultStore(shelf.directory / "results")
    work = [sum(_rounds(experiment) for experiment in figure.all_experiments().values()) for figure in figures]
    done, total = 0, max(1, sum(work))
    with unwarned(TooFewNeighbours):  # the paper's set-ups are what they are
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
            data = data_of(figure, results)
            reproduction.files += shelf.put(data)
            reproduction.figures[figure.id] = data
            if progress is not None:
                progress(figure.id, done / total)


def _in_order(figures: Mapping[str, FigureData]) -> dict[str, FigureData]:
    """The paper's figures in its order, then all others by name."""
    return {id: figures[id] for id in (*(id for id in IDS if id in figures), *sorted({*figures} - {*IDS}))}


def _write_report(reproduction: Reproduction, directory: Path, began: float) -> None:
    """Decide the claims on all figures, and write the report and its numbers."""
    from byzmab.paper.claims import decide_all
    from byzmab.paper.reproduction_report import write_report

    reproduction.claims = decide_all(reproduction.figures)
    reproduction.seconds = time.perf_counter() - began
    numbers = write_text(directory / "summary.json", json.dumps(reproduction.summary(), indent=2))
    reproduction.files += [write_report(reproduction, directory / "report.html"), numbers]


def _rounds(experiment: Any) -> int:
    """How much work an experiment is: agent-rounds, many arms counted as more."""
    parts = experiment.parts
    return int(experiment.runs * experiment.horizon * parts.agents * (1 + parts.arms // 8))


def final_difference(a: Floats, b: Floats) -> Floats:
    """The paired difference of two curves at the horizon, run by run."""
    return np.asarray(a[:, -1] - b[:, -1])
