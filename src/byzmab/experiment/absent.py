"""Plug-ins whose source is not here: what was saved has all data and settings, and only playing needs the source."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from byzmab.core.errors import BadInput
from byzmab.core.plugins import Plugin
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.parts import ALGORITHMS, PLUGINS, Absent
from byzmab.worlds import NAME, resolve_rewards

REGISTRIES = {**PLUGINS, "algorithm": ALGORITHMS}  # by setting
NAMING_FILES = tuple(REGISTRIES)  # settings that may name a file of a plug-in; arms may name one of data


def recall(settings: Mapping[str, Any], beside: Path) -> Experiment:
    """The experiment of saved settings; files of plug-ins are looked for beside a file, then in the current directory.

    Where a plug-in cannot be had, something that says so stands for it.
    """
    found = dict(settings)
    for name in REGISTRIES.keys() & found.keys():
        found[name] = _recalled(name, found[name], beside)
    found["arms"] = find_beside(beside, found.get("arms", Experiment.arms))
    return Experiment(**found)


def _recalled(setting: str, value: Any, beside: Path) -> Any:
    registry = REGISTRIES[setting]
    if isinstance(value, list):
        return [_recalled(setting, item, beside) for item in value]
    if not isinstance(value, str) or ":" not in value or value.partition(":")[0] in registry.entries:
        return value
    here = find_beside(beside, value)
    try:
        resolve_rewards(here) if setting == "rewards" else registry.resolve(here)
    except BadInput as error:
        return _placeholder(setting)(value, str(error))
    return here


@cache
def _placeholder(setting: str) -> Any:
    """A class of plug-ins of one kind that are not here."""
    base = REGISTRIES[setting].base
    return type(f"Absent{base.__name__}", (Absent, base), {"to_text": lambda self: ""})


def is_present(experiment: Experiment) -> bool:
    """Whether the sources of all its plug-ins are here, so that it can be played."""
    return not any(isinstance(plugin, Absent) for plugin in _plugins(experiment))


def _plugins(experiment: Experiment) -> list[Plugin]:
    return [plugin for setting in REGISTRIES for plugin in experiment.parts.plugins(setting)]


def check_present(experiment: Experiment) -> None:
    """Raise BadInput for an experiment that cannot be played, because the source of a plug-in is not here."""
    for plugin in _plugins(experiment):
        if isinstance(plugin, Absent):
            raise BadInput(f"{plugin.reason}; its source is needed to play this again")


def find_beside(path: Path, value: Any) -> Any:
    """A setting that names a file, which is looked for beside another file, then in the current directory."""
    if isinstance(value, list):
        return [find_beside(path, item) for item in value]
    before, name, behind = _around_file(value)
    return f"{before}{path.parent / name}{behind}" if name and (path.parent / name).exists() else value


def _around_file(value: Any) -> tuple[str, str, str]:
    """A text that names a file: what is before it, its name, and what is behind; no name where it names none."""
    text = value if isinstance(value, str) else ""
    before = f"{NAME}:" if text.startswith(f"{NAME}:") else ""
    name, colon, rest = text.removeprefix(before).partition(":")
    endings = (".csv", ".parquet") if before else (".json", ".npz", ".py", ".csv")
    return (before, name, colon + rest) if name.endswith(endings) else ("", "", "")


def without_folders(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are saved: files by their name alone, wherever they lie on this machine."""
    named = (*NAMING_FILES, "arms")
    return {name: _file_name(value) if name in named else value for name, value in settings.items()}


def _file_name(value: Any) -> Any:
    if isinstance(value, list):
        return [_file_name(item) for item in value]
    before, name, behind = _around_file(value)
    return f"{before}{Path(name).name}{behind}" if name else value
