"""What determines a run: the content of which the address of its results is made."""

import hashlib
import json
import os
import platform
import subprocess
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple
from uuid import uuid4

from byzmab.core.compiler import PACKAGE, source_digest
from byzmab.core.fingerprint import Unknowable, fingerprint
from byzmab.core.plugins import Plugin, Registry
from byzmab.experiment.absent import REGISTRIES
from byzmab.experiment.experiment import Experiment
from byzmab.graphs import Given
from byzmab.worlds import Replay

# the code that decides what comes out; all else only reads, writes, draws and shows
PLAYING = (
    "core",
    "ordering",
    "attacks",
    "graphs",
    "worlds",
    "engine",
    "baselines",
    "contexts",
    *(f"experiment/{name}.py" for name in ("experiment", "parts", "given_means", "listening", "context_settings")),
    *(f"simulation/{name}.py" for name in ("true_means", "sizes", "density", "single_run", "loops", "context_world")),
)
ONLY_HERE = "only here"  # a key of identities that hold in this process alone
PACKAGES = ("byzmab", "numpy", "numba", "llvmlite")


@cache
def algorithm_version() -> str:
    """A digest of the code that plays: with another one, the same settings may give other digits."""
    return source_digest(*PLAYING)


class NotStored(UserWarning):
    """Results are given but not stored, as what determines them cannot be known."""


class Address(NamedTuple):
    """Under which name results are found again."""

    name: str  # a digest of all that determines a run but its number
    lasting: bool  # False where a plug-in cannot be known again; the name then holds in this process alone


def identity(experiment: Experiment) -> dict[str, Any]:
    """Everything that determines a run but its number: settings, the code that plays, plug-ins and graphs.

    Where a plug-in cannot be known again, a warning says so once; what stands for it then holds in this process alone.
    """
    try:
        return _identity(experiment, fingerprint)
    except Unknowable as error:
        _say_once(f"results are not stored: {error}")
        return {**_identity(experiment, _in_this_process), ONLY_HERE: True}


def what_determines(experiment: Experiment) -> dict[str, Any]:
    """The identity, for comparing it with one that another process wrote down; equal to none where it does not last."""
    try:
        return _identity(experiment, fingerprint)
    except Unknowable:
        return {**_identity(experiment, _in_this_process), ONLY_HERE: uuid4().hex}


def address(experiment: Experiment) -> Address:
    """A digest of the identity."""
    content = identity(experiment)
    return Address(_digest(json.dumps(content, sort_keys=True).encode()), ONLY_HERE not in content)


def _identity(experiment: Experiment, own: Callable[[Plugin], str]) -> dict[str, Any]:
    """The identity, with a user's own plug-ins as `own` tells them."""
    content = {name: value for name, value in experiment.settings().items() if name != "runs"}
    for name, registry in REGISTRIES.items():
        contents = [_contents(plugin, registry, own) for plugin in experiment.parts.plugins(name)]
        if contents:
            content[name] = contents if len(contents) > 1 else contents[0]
    return {**content, "version": algorithm_version()}


def _contents(plugin: Plugin, registry: Registry, own: Callable[[Plugin], str]) -> str:
    """A plug-in by what it holds, wherever it lies: name and parameters, edges of a graph, what it is made of."""
    if type(plugin) is Given or (isinstance(plugin, Given) and type(plugin) in registry.entries.values()):
        held = (plugin.listed, plugin.labels) if plugin.labels else plugin.listed
        return f"edges {_digest(repr(held).encode())}"
    if isinstance(plugin, Replay):
        events = (type(plugin).__name__, plugin.names, plugin.agents, plugin.groups)
        return f"log {_digest(repr(events).encode())}"
    if type(plugin) in registry.entries.values():
        return registry.name_of(plugin)
    name = f"{type(plugin).__qualname__}:{plugin.to_text()}"
    try:
        return f"{name} made of {own(plugin)}"
    except Unknowable as error:
        raise Unknowable(f"{plugin.kind} {type(plugin).__name__!r} cannot be known again, as {error}") from None


def _in_this_process(plugin: Plugin) -> str:
    """A number that no other plug-in has in this process; a class without fields is always the same plug-in."""
    for number, kept in enumerate(_KEPT):
        if kept is plugin or (type(kept) is type(plugin) and not vars(plugin)):
            return str(number)
    _KEPT.append(plugin)
    return str(len(_KEPT) - 1)


_KEPT: list[Plugin] = []  # plug-ins that cannot be known again, by number
_SAID: set[str] = set()


def _say_once(message: str) -> None:
    if message not in _SAID:
        _SAID.add(message)
        warnings.warn(message, NotStored, stacklevel=2)


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
