"""byzmab warm-up: compile every part that is built in, once."""

from typing import Annotated

import typer

PROCESSES = typer.Option(help="processes to compile in; all cores if not given", min=1, show_default=False)


def warm_up(workers: Annotated[int | None, PROCESSES] = None) -> None:
    """Compile every filter, policy, attack, graph, family of rewards, drift and algorithm now, not when first played.

    Parts that go with contexts are compiled for these, too. Loops of large networks and of tallies that forget are not.

    What is kept on disk already is only loaded; Ctrl-C keeps what was compiled until then.
    """
    from byzmab.cli.show import note
    from byzmab.simulation.warm_up import warm_up as run

    count = run(workers, progress=True)
    note(f"{count} combinations are ready: their parts are not compiled again until byzmab or numba changes")
