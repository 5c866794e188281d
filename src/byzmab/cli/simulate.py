"""byzmab simulate: run one experiment."""

from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.cli.options import Json, Workers, require_study, takes_experiment


@takes_experiment()
def simulate(
    file: Path | None,
    changes: dict[str, Any],
    workers: Workers = None,
    json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="directory for the result, the experiment file and the figure", metavar="DIR")
    ] = None,
) -> None:
    """Simulate a network of agents, some of which lie, and show the regret of the others."""
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import regret_table

    with compiling_notice(), warnings_to_stderr():
        from byzmab.simulation.files import make_directory, open_experiment, run_options, write_result
        from byzmab.simulation.progress import progress_bar
        from byzmab.simulation.run import simulate as run

        experiment = open_experiment(file, changes)
        wanted = run_options(file)
        json, out = json or wanted.get("json", False), out or wanted.get("out")
        if out is not None:
            require_study()
        directory = None if out is None else make_directory(out)
        with progress_bar("simulating") as progress:
            result = run(experiment, progress=progress, workers=wanted.get("workers") if workers is None else workers)
    if json:
        print_json(result.summary())
    else:
        regret_table([("", result)])
    if directory is not None:
        for path in write_result(result, directory):
            note(f"wrote {path}")
