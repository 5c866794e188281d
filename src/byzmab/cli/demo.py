"""byzmab demo: a first look at what lying does, and what filtering does about it."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def demo(
    runs: Annotated[int, typer.Option(help="independent repetitions")] = 50,
    workers: Annotated[
        int | None, typer.Option(help="threads to run on; all cores if not given", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option(help="directory for the figure", metavar="DIR")] = Path("out"),
) -> None:
    """Compare being alone with the paper's filter and with ours, ten agents of which two lie."""
    from byzmab.cli.show import compiling_notice, progress_bar, regret_table, warnings_to_stderr

    with compiling_notice(), warnings_to_stderr():
        from byzmab.simulation.experiment import Experiment
        from byzmab.simulation.figure import new_axes
        from byzmab.simulation.files import make_directory, save_figure
        from byzmab.simulation.run import simulate

        directory = make_directory(out)
        attacked = Experiment(attack="extreme", runs=runs)
        experiments = {
            "alone": attacked.but(filter="solo"),
            "the paper's filter": attacked,
            "the paper's, tuned": attacked.but(policy="tuned"),
            "ours, tuned": attacked.but(filter="screened", policy="tuned"),
        }
        results, axes = [], new_axes()
        for name, experiment in experiments.items():
            with progress_bar(name) as progress:
                result = simulate(experiment, progress=progress, workers=workers)
            result.plot(axes, name)
            results.append((name, result))
    regret_table(results)
    for path in save_figure(axes, directory / "demo"):
        print(f"wrote {path}", file=sys.stderr)
