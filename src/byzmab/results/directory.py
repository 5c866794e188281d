"""The directory that a simulation leaves behind: its figure, its result, and all that is needed to play it again."""

import itertools
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from byzmab.core.errors import BadInput
from byzmab.core.plugins import FILE_MODULE, Plugin
from byzmab.core.sources import file_of, sources_of
from byzmab.experiment.absent import NAMING_FILES, without_folders
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.files import to_toml
from byzmab.graphs.given import Given, write_graph
from byzmab.results.figure import FIGURES, save_figure
from byzmab.results.outputs import in_place, write_text
from byzmab.results.result import Result
from byzmab.worlds import Replay

RESULT, SOLO = "result.nc", "solo.nc"


def names_of(experiment: Experiment) -> tuple[str, ...]:
    """The names of the files that `write_result` writes; copies of plug-ins make room for others."""
    logs = [Path(item.source).name for item in experiment.parts.rewards if isinstance(item, Replay)]
    arms = without_folders(experiment.settings())["arms"]
    named = [arms.partition(":")[0]] if isinstance(arms, str) and arms != experiment.settings()["arms"] else []
    return ("regret.png", "regret.pdf", "graph.json", *logs, *named, "experiment.toml", RESULT, SOLO)


def find_result(experiment: Experiment, directory: Path, name: str = RESULT) -> Result | None:
    """The result that `write_result` left in a directory; None if it cannot be read, BadInput if it is another's."""
    try:
        result = Result.load(directory / name)
    except BadInput:
        return None
    for setting in ("runs", "seed", "horizon"):
        if getattr(result.experiment, setting) != getattr(experiment, setting):
            raise BadInput(f"file {str(directory / name)!r} is another experiment's, by its {setting}; move it away")
    return replace(result, experiment=experiment)


def write_result(result: Result, directory: Path, missing_only: bool = False, solo: Result | None = None) -> list[Path]:
    """Write the figure, the experiment with all files that it needs and, when these are there, the result itself.

    With `missing_only`, what is there is left as it is. Return the files written.
    """
    stem, files = directory / "regret", []
    if solo is not None and not (missing_only and (directory / SOLO).exists()):
        files.append(directory / SOLO)
        solo.save(files[-1])
    if not (missing_only and all(stem.with_suffix(suffix).exists() for suffix in FIGURES)):
        files += save_figure(result.plot(), stem)
    if missing_only and (directory / "experiment.toml").exists():
        return files
    graph, experiment = result.experiment.parts.graph, result.experiment
    copies, changes = copy_sources(experiment, directory)
    changes = {**without_folders(experiment.settings()), **changes}
    files += copies
    for item in experiment.parts.rewards:
        if isinstance(item, Replay):
            files.append(_copy(Path(item.source), directory / Path(item.source).name))
    if type(graph) is Given:  # edge by edge, so that the directory needs no other file
        files.append(directory / "graph.json")
        with in_place(files[-1]) as path:
            write_graph(graph, path)
        changes["graph"] = files[-1].name
    if isinstance(experiment.arms, str) and changes["arms"] != experiment.settings()["arms"]:
        source, target = (Path(text.partition(":")[0]) for text in (experiment.arms, changes["arms"]))
        files.append(_copy(source, directory / target))
    files += [write_text(directory / "experiment.toml", to_toml(experiment, **changes)), directory / RESULT]
    with in_place(files[-1]) as path:
        result.save(path)
    return files


def copy_sources(experiment: Experiment, directory: Path) -> tuple[list[Path], dict[str, Any]]:
    """Copy plug-ins that were named by their file, with what they import from beside it.

    Return the copies, and the settings that name them in the directory.
    """
    copies, changes = [], {}
    for name in NAMING_FILES:
        value = experiment.settings()[name]
        named = value if isinstance(value, list) else [value]
        mains = [_file_named(plugin) for plugin in experiment.parts.plugins(name)]
        for index, main in enumerate(mains):
            if main is not None:
                found, folder = _copy_with_imports(main, directory)
                copies += found
                named[index] = f"{(folder / main.path.name).relative_to(directory).as_posix()}:{_behind(named[index])}"
        if any(mains):
            changes[name] = named if isinstance(value, list) else named[0]
    return copies, changes


class _Main(NamedTuple):
    """A module of the user's own that was loaded from a file."""

    module: str
    path: Path


def _file_named(plugin: Plugin) -> _Main | None:
    """The file that a plug-in was loaded from by name; None for all others."""
    module = type(plugin).__module__
    path = file_of(module) if module.startswith(FILE_MODULE) else None
    return None if path is None else _Main(module, path)


def _behind(text: str) -> str:
    return text.partition(":")[2]


def _copy_with_imports(main: _Main, directory: Path) -> tuple[list[Path], Path]:
    """Copy a file with what it imports from beside it; the copies, and the folder they are in."""
    beside = main.path.parent
    found = sorted(source for source in sources_of(main.module).files if source.is_relative_to(beside))
    sources = {source.relative_to(beside): source for source in found}
    folder = _folder_for(sources, directory)
    return [_copy(source, folder / target) for target, source in sources.items()], folder


def _folder_for(sources: Mapping[Path, Path], directory: Path) -> Path:
    """The directory, or a new folder in it where files of other content have the same names."""
    for number in itertools.count():
        folder = directory / f"plugin-{number}" if number else directory
        if all(_is_free(folder / target, source) for target, source in sources.items()):
            break
    return folder


def _is_free(target: Path, source: Path) -> bool:
    """Whether a file can be copied there without taking the place of another."""
    return not target.exists() or (target.is_file() and target.read_bytes() == source.read_bytes())


def _copy(source: Path, target: Path) -> Path:
    if not _is_free(target, source) or not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with in_place(target) as path:
            shutil.copyfile(source, path)
    return target
