"""What commands show: progress bars, tables, JSON, warnings."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from byzmab.simulation.result import Result


def print_json(value: Any) -> None:
    """Print one JSON object to stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


@contextmanager
def compiling_notice() -> Iterator[None]:
    """Say once that the first run compiles, if anything is compiled within the block."""
    from byzmab.core.compiler import say_once, watching_compilation

    with watching_compilation(say_once("compiling (about ten seconds, and only the first time) …")):
        yield


@contextmanager
def warnings_to_stderr() -> Iterator[None]:
    """Print warnings as one plain line each."""
    before = warnings.showwarning

    def show(message: Any, *_: Any, **__: Any) -> None:
        print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr if that is a terminal, and None otherwise."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def regret_table(results: Sequence[tuple[str, "Result"]]) -> None:
    """Print regret at the horizon, one row for each result."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="regret per normal agent at the horizon", title_justify="left")
    named = any(name for name, _ in results)
    for heading in (["name"] if named else []) + ["filter", "policy", "attack", "graph"]:
        table.add_column(heading)
    for heading in ("regret", "std", "stderr", "messages", "seconds", "M steps/s"):
        table.add_column(heading, justify="right")
    for name, result in results:
        summary = result.summary()
        settings, regret = summary["experiment"], summary["regret"]
        table.add_row(
            *([name] if named else []),
            *(str(settings[key]) for key in ("filter", "policy", "attack", "graph")),
            *("-" if regret[key] is None else f"{regret[key]:.2f}" for key in ("mean", "std", "stderr")),
            f"{summary['messages']:,}",
            f"{summary['seconds']:.2f}",
            f"{summary['agent_steps_per_second'] / 1e6:.2f}",
        )
    Console(width=None if sys.stdout.isatty() else 140).print(table)
