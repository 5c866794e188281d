"""Options of commands that take an experiment: a file, and a flag for every setting."""

from collections.abc import Callable, Collection
from functools import wraps
from importlib.util import find_spec
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.experiment.settings import ABOUT, SWITCHES, WHOLE, from_text
from byzmab.extras import missing

STUDY = ("h5netcdf", "matplotlib", "plotly", "scipy", "xarray")  # what the extra of that name installs
FLAGS = {
    "f": ["--f"],
    "time_varying": ["--time-varying/--fixed"],
    "audit": ["--audit/--no-audit"],
    "reliable_links": ["--reliable-links/--no-reliable-links"],
    "vetting": ["--vetting/--no-vetting"],
    "context": ["--context-dim", "--context"],  # the second names are from before, and work as they did
    "contexts": ["--context-distribution", "--contexts"],
}
FILE = Annotated[
    Path | None, typer.Argument(help="An experiment file; flags win over what it says.", metavar="FILE.toml")
]
Workers = Annotated[int | None, typer.Option(help="threads to run on; all cores if not given", show_default=False)]
ExecutorName = Annotated[str, typer.Option("--executor", help="where to compute: local, on threads here, or dask")]
Address = Annotated[
    str | None, typer.Option(help="of a Dask scheduler; a cluster on this machine if not given", show_default=False)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="replace what other work left at --out")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else on stdout")]


def takes_experiment(several: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the experiment file and a flag for every setting; it is called with `file` and `changes`.

    Settings in `several` may be given more than once, and come as lists.
    """
    return lambda command: _with_flags(command, several)


def _with_flags(command: Callable[..., None], several: Collection[str]) -> Callable[..., None]:
    @wraps(command)
    def wrapped(file: Path | None = None, **values: Any) -> None:
        given = {name: values.pop(name) for name in ABOUT}
        changes = {
            name: from_text(name, value) if isinstance(value, str) else value
            for name, value in given.items()
            if value is not None and value != []
        }
        command(file=file, changes=changes, **values)

    own = [
        item.replace(kind=Parameter.KEYWORD_ONLY)
        for name, item in signature(command).parameters.items()
        if name not in ("file", "changes")
    ]
    parameters = [_parameter("file", FILE), *(_parameter(name, _flag(name, name in several)) for name in ABOUT), *own]
    wrapped.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {item.name: item.annotation for item in parameters}
    return wrapped


def _parameter(name: str, annotation: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _flag(name: str, several: bool) -> Any:
    kind: Any = int if name in WHOLE else bool if name in SWITCHES else str
    kind = list[kind] if several else kind
    return Annotated[kind | None, typer.Option(*FLAGS.get(name, []), help=ABOUT[name], show_default=False)]


def require_study(extra: str = "study") -> None:
    """Raise BadInput, before any work is done, where a package for files, figures or intervals is missing."""
    for package in STUDY:
        if find_spec(package) is None:
            raise missing(package, extra)
