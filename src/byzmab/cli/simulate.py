"""byzmab simulate: run one experiment."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from byzmab.cli.options import Json, Overwrite, Workers, require_study, takes_experiment

if TYPE_CHECKING:
    from byzmab.experiment.experiment import Experiment
    from byzmab.results.outputs import Output
    from byzmab.results.result import Result

OUT = typer.Option(help="directory for the result, the experiment file and the figure", metavar="DIR")
NO_SOLO = typer.Option("--no-solo", help="leave out what the same agents lose solo, without neighbours")


@takes_experiment()
def simulate(
    file: Path | None,
    changes: dict[str, Any],
    workers: Workers = None,
    no_solo: Annotated[bool, NO_SOLO] = False,
    json: Json = False,
    out: Annotated[Path | None, OUT] = None,
    overwrite: Overwrite = False,
) -> None:
    """Simulate a network of agents, some of which lie, and show the regret of the others beside their solo regret.

    If --out holds the result of the same experiment, this is shown and nothing is simulated.
    """
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import show_answer

    with compiling_notice(), warnings_to_stderr():
        from byzmab.experiment.files import open_experiment, run_options
        from byzmab.results.directory import names_of, write_result
        from byzmab.results.outputs import Work, open_output

        experiment = open_experiment(file, changes)
        wanted = run_options(file)
        json, out = json or wanted.get("json", False), out or wanted.get("out")
        output = None
        if out is not None:
            require_study()
            from byzmab.sweep.identity import what_determines

            settings = {**what_determines(experiment), "runs": experiment.runs}
            output = open_output(out, Work("byzmab simulate", names_of(experiment), settings), overwrite)
        workers = wanted.get("workers") if workers is None else workers
        compared = not (no_solo or experiment.is_alone)
        result, solo, simulated = _results(experiment, compared, output, workers)
    if json:
        print_json(result.summary(solo))
    else:
        show_answer(result, solo)
    if output is not None:
        if not simulated:
            note(f"{output.directory} holds this result already; nothing was simulated")
        with output.writing() as directory:
            for path in write_result(result, directory, missing_only=not simulated, solo=solo):
                note(f"wrote {path}")


def _results(
    experiment: "Experiment", compared: bool, output: "Output | None", workers: int | None
) -> "tuple[Result, Result | None, bool]":
    """Return the result, that of the same agents solo if it is wanted, and whether the first one was simulated."""
    from byzmab.results.directory import RESULT, SOLO, find_result
    from byzmab.simulation.progress import progress_bar
    from byzmab.simulation.run import check_workers
    from byzmab.simulation.run import simulate as run

    check_workers(workers)
    wanted = {RESULT: experiment, **({SOLO: experiment.alone()} if compared else {})}
    found = {
        name: find_result(item, output.directory, name) if output is not None and output.finished else None
        for name, item in wanted.items()
    }
    results = []
    for name, item in wanted.items():
        with progress_bar("simulating" if name == RESULT else "simulating solo") as progress:
            results.append(found[name] or run(item, progress=progress, workers=workers))
    return results[0], results[1] if compared else None, found[RESULT] is None
