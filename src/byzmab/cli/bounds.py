"""byzmab bounds: the theorems' numbers for an experiment, and the regret measured beside them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.cli.options import Json, Overwrite, require_study, takes_experiment

RUNS = 10  # if not given: every round is looked at, which takes about a second a run


@takes_experiment()
def bounds(
    file: Path | None,
    changes: dict[str, Any],
    json: Json = False,
    out: Annotated[Path | None, typer.Option(help="directory for a figure of regret and bounds", metavar="DIR")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Print UCB1's bound, the paper's upper bound from the recorded g, the lower-bound rate and who meets 3f+1.

    Where an assumption of the upper bound fails, none is printed, and the reason is.
    """
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import bounds_table

    with compiling_notice(), warnings_to_stderr():
        from byzmab.experiment.files import open_experiment, run_options
        from byzmab.paper.bounds import measure
        from byzmab.results.figure import save_figure
        from byzmab.results.outputs import Work, open_output
        from byzmab.simulation.progress import progress_bar

        experiment = open_experiment(file, changes if file is not None else {"runs": RUNS, **changes})
        wanted = run_options(file)
        json, out = json or wanted.get("json", False), out or wanted.get("out")
        if out is not None:
            require_study()
        output = None
        if out is not None:
            from byzmab.sweep.identity import what_determines

            settings = {**what_determines(experiment), "runs": experiment.runs}
            output = open_output(out, Work("byzmab bounds", ("bounds.png", "bounds.pdf"), settings), overwrite)
        with progress_bar("measuring") as progress:
            measured = measure(experiment, progress)
    if json:
        print_json(measured.summary())
    else:
        bounds_table(measured)
    if output is not None:
        with output.writing() as directory:
            for path in save_figure(measured.plot(), directory / "bounds"):
                note(f"wrote {path}")
