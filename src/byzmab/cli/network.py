"""byzmab network: real nodes on this machine, some of them lying, and an application for each."""

import signal
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated, Any

import typer

from byzmab.cli.options import Json
from byzmab.core import recommended
from byzmab.experiment.settings import ABOUT
from byzmab.extras import needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from byzmab.testbed.traffic import Traffic

REFRESH = 1.0  # seconds between two looks at the nodes

WITHOUT = {  # what is meant where nothing is given
    "arms": "0.5,0.45,0.4,0.3",
    "attack": "extreme",
    "filter": recommended.FILTER,
    "policy": recommended.POLICY,
}


def _given(name: str, help: str) -> Any:
    """An option whose default depends on whether there are contexts."""
    return typer.Option(
        help=f"{help}; {WITHOUT[name]}, or with contexts {recommended.AT_CONTEXTS[name]}, if not given",
        show_default=False,
    )


Arms = Annotated[str | None, _given("arms", "means in [0, 1], random:M, or parameters as in byzmab simulate")]
Attack = Annotated[str | None, _given("attack", "how they lie, as in byzmab simulate")]
Filter = Annotated[str | None, _given("filter", "against liars")]
Policy = Annotated[str | None, _given("policy", "by which arms are chosen")]
Agents = Annotated[int | None, typer.Option(help="how many; the graph's number or 10 if not given", show_default=False)]
F = Annotated[str, typer.Option("--f", help="upper bound on Byzantine neighbours, or auto")]
Port = Annotated[int | None, typer.Option(help="HTTP of agent i at this + i; free ports if not given")]
PagePort = Annotated[
    int | None,
    typer.Option(
        help="the overview page; --base-port or a free one if not given", min=0, max=65535, show_default=False
    ),
]
LATER, EXPEL_AFTER = "later", 40.0  # seconds of traffic
Equivocators = Annotated[
    str,
    typer.Option(help=f"what proven equivocators get: expel, keep, or later: expel after {EXPEL_AFTER:g} s"),
]
Duration = Annotated[float | None, typer.Option(min=0.0, help="seconds after which to end; until Ctrl-C if not given")]
Data = Annotated[Path | None, typer.Option(help="new directory for keys and state; kept", metavar="DIR")]


def network(
    arms: Arms = None,
    agents: Agents = None,
    byzantine: Annotated[int, typer.Option(help="agents 1 to this lie")] = 2,
    f: F = recommended.F,
    kappa: Annotated[float, typer.Option(help="in [1, 2)")] = 1.5,
    graph: Annotated[str, typer.Option(help="who hears whom, as in byzmab simulate")] = "complete",
    attack: Attack = None,
    filter: Filter = None,
    policy: Policy = None,
    tell: Annotated[
        str, typer.Option(help="when they report: every time, or growth:d, as in byzmab simulate")
    ] = "every",
    context: Annotated[int, typer.Option(help=ABOUT["context"])] = 0,
    contexts: Annotated[str, typer.Option(help=ABOUT["contexts"])] = "alike",
    ridge: Annotated[float, typer.Option(help=ABOUT["ridge"])] = 1.0,
    shares: Annotated[str, typer.Option(help=ABOUT["shares"])] = "equal",
    vetting: Annotated[bool, typer.Option(help=ABOUT["vetting"])] = True,
    equivocators: Equivocators = LATER,
    traffic: Annotated[float, typer.Option(help="decisions per second and node")] = 50.0,
    seed: Annotated[int, typer.Option(help="of rewards, graph and lies")] = 0,
    base_port: Port = None,
    page_port: PagePort = None,
    duration: Duration = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Start a network of nodes with an application each, and watch their regret, until Ctrl-C."""
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import show_network

    with needs_extra("node"), compiling_notice(), warnings_to_stderr(), _directory(data) as directory:
        from byzmab.dashboard.live.overview import make_overview
        from byzmab.dashboard.live.watch import Watch
        from byzmab.dashboard.pages import serve_in_background
        from byzmab.experiment.experiment import Experiment
        from byzmab.experiment.settings import from_text
        from byzmab.testbed.network import Network
        from byzmab.testbed.provision import Options, check_equivocators
        from byzmab.testbed.traffic import Traffic

        given = {"arms": arms, "attack": attack, "filter": filter, "policy": policy}
        meant = {
            **(recommended.AT_CONTEXTS if context else WITHOUT),
            **{name: text for name, text in given.items() if text is not None},
        }
        experiment = Experiment(
            agents=agents,
            byzantine=byzantine,
            f=from_text("f", f),
            kappa=kappa,
            graph=graph,
            tell=tell,
            seed=seed,
            context=context,
            contexts=contexts,
            ridge=ridge,
            shares=shares,
            vetting=vetting,
            **{name: from_text(name, text) for name, text in meant.items()},
        )
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, nodes first
        check_equivocators(equivocators, LATER)
        options = Options("keep" if equivocators == LATER else equivocators, base_port=base_port)
        nodes = Network(experiment, directory, options)
        playing = Traffic(nodes, traffic)
        watch = Watch(nodes, playing, EXPEL_AFTER if equivocators == LATER else None)
        note(f"starting {len(nodes.members)} nodes in {directory} …")
        with nodes, _asked_to_stop() as asked:
            for member in nodes.members:
                note(f"{member.name}: {member.url}{'  lies' if member.lies else ''}")
            port = page_port if page_port is not None else base_port or 0
            with serve_in_background(make_overview(watch), port) as address, playing:
                note(f"watch it at {address}")
                watch.begin()
                _watch(playing, duration, asked)
                watch.end()
            summary = playing.summary()
    if json:
        print_json(summary)
    else:
        show_network(summary)


@contextmanager
def _directory(wanted: Path | None) -> "Iterator[Path]":
    """The directory that was asked for, or one that is gone afterwards."""
    if wanted is not None:
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix="byzmab-network-") as directory:
        yield Path(directory)


@contextmanager
def _asked_to_stop() -> "Iterator[SimpleQueue[int]]":
    """Keep Ctrl-C and SIGTERM until somebody looks: raised between two statements, they would leave out the summary."""
    asked: SimpleQueue[int] = SimpleQueue()  # whose put may be called by a signal in the middle of its get
    before = {
        number: signal.signal(number, lambda number, frame: asked.put(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch(playing: "Traffic", duration: float | None, asked: "SimpleQueue[int]") -> None:
    """Show a live table on a terminal, until the duration is over or somebody asked to stop."""
    from rich.console import Console
    from rich.live import Live

    from byzmab.cli.layout import live_table
    from byzmab.cli.show import note
    from byzmab.cli.tables import network_table

    console = Console(stderr=True)
    end = float("inf") if duration is None else time.monotonic() + duration
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while (left := end - time.monotonic()) > 0:
            with suppress(Empty):
                asked.get(timeout=min(REFRESH, left))
                break
            if console.is_terminal:
                live.update(live_table(network_table(playing.summary()), console), refresh=True)
        else:
            return
    note("stopping …")
