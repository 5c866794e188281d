"""byzmab simulate: run one experiment."""

from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.cli.options import Json, Overwrite, Workers, require_study, takes_experiment


@takes_experiment()
def simulate(
    file: Path | None,
    changes: dict[str, Any],
    workers: Workers = None,
    json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="directory for the result, the experiment file and the figure", metavar="DIR")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Simulate a network of agents, some of which lie, and show the regret of the others.

    If --out holds the result of the same experiment, this is shown and nothing is simulated.
    """
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import regret_table

    with compiling_notice(), warnings_to_stderr():
        from byzmab.simulation.files import find_result, names_of, open_experiment, run_options, write_result
        from byzmab.simulation.outputs import Work, open_output
        from byzmab.simulation.progress import progress_bar
        from byzmab.simulation.run import check_workers
        from byzmab.simulation.run import simulate as run

        experiment = open_experiment(file, changes)
        wanted = run_options(file)
        json, out = json or wanted.get("json", False), out or wanted.get("out")
        if out is not None:
            require_study()
        output = found = None
        if out is not None:
            from byzmab.sweep.identity import what_determines

            settings = {**what_determines(experiment), "runs": experiment.runs}
            output = open_output(out, Work("byzmab simulate", names_of(experiment), settings), overwrite)
            found = find_result(experiment, output.directory) if output.finished else None
        workers = wanted.get("workers") if workers is None else workers
        if found is None:
            with progress_bar("simulating") as progress:
                result = run(experiment, progress=progress, workers=workers)
        else:
            check_workers(workers)
            result = found
    if json:
        print_json(result.summary())
    else:
        regret_table([("", result)])
    if output is not None:
        if found is not None:
            note(f"{output.directory} holds this result already; nothing was simulated")
        with output.writing() as directory:
            for path in write_result(result, directory, missing_only=found is not None):
                note(f"wrote {path}")
