"""What determines a run: the content of which the address of its results is made."""

import hashlib
import inspect
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from byzmab.baselines import BASELINES
from byzmab.core.compiler import PACKAGE, source_digest
from byzmab.core.errors import BadInput
from byzmab.core.plugins import Plugin, Registry
from byzmab.graphs import Given
from byzmab.simulation.experiment import PLUGINS, Experiment

# the code that decides what comes out; all else only reads, writes, draws and shows
PLAYING = (
    "core",
    "attacks",
    "graphs",
    "engine",
    "baselines",
    *(f"simulation/{name}.py" for name in ("density", "experiment", "single_run")),
)
PACKAGES = ("byzmab", "numpy", "numba", "llvmlite")


@cache
def algorithm_version() -> str:
    """A digest of the code that plays: with another one, the same settings may give other digits."""
    return source_digest(*PLAYING)


def identity(experiment: Experiment) -> dict[str, Any]:
    """Everything that determines a run but its number: settings, the code that plays, plug-ins and graphs."""
    content = {name: value for name, value in experiment.settings().items() if name != "runs"}
    for name, registry in PLUGINS.items():
        content[name] = _contents(getattr(experiment.parts, name), registry)
    if experiment.parts.baseline is not None:
        content["algorithm"] = _contents(experiment.parts.baseline, BASELINES)
    return {**content, "version": algorithm_version()}


def address(experiment: Experiment) -> str:
    """A digest of the identity."""
    return _digest(json.dumps(identity(experiment), sort_keys=True).encode())


def _contents(plugin: Plugin, registry: Registry) -> str:
    """A plug-in by what it holds, wherever it lies: name and parameters, edges of a graph, source of one's own."""
    if isinstance(plugin, Given):
        return f"edges {_digest(repr(plugin.listed).encode())}"
    if type(plugin) in registry.entries.values():
        return registry.name_of(plugin)
    try:
        source = Path(inspect.getfile(type(plugin))).read_bytes()
    except (OSError, TypeError):
        name = type(plugin).__name__
        raise BadInput(
            f"{plugin.kind} {name!r} has no source by which to know its results again; allowed: a class in a file"
        ) from None
    return f"{type(plugin).__qualname__}:{plugin.to_text()} in source {_digest(source)}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def provenance() -> dict[str, Any]:
    """Where and when something was computed, and with what."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "process": os.getpid(),
        **_surroundings(),
    }


@cache
def _surroundings() -> dict[str, Any]:
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "algorithm": algorithm_version(),
        "revision": _revision(),
    }


def _revision() -> str | None:
    """The git revision of the source in use, with + where it was edited since; None where it is no checkout."""
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:  # installed, perhaps inside somebody's checkout
        return None
    return _git("describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(PACKAGE), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
