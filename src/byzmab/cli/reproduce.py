"""byzmab reproduce: the paper's figures and claims."""

from pathlib import Path
from typing import Annotated

import typer

from byzmab.cli.options import Json, Workers

FIGURES = typer.Argument(help="F1 … F12, all, or a figure file of your own; all if not given.")
HORIZON = typer.Option(help="rounds in a run; the figure's own if not given", show_default=False)
OUT = typer.Option(help="directory for figures, data and report; results in it are used again", metavar="DIR")


def reproduce(
    figures: Annotated[list[str] | None, FIGURES] = None,
    runs: Annotated[int, typer.Option(help="independent repetitions")] = 50,
    horizon: Annotated[int | None, HORIZON] = None,
    seed: Annotated[int, typer.Option(help="where all randomness comes from")] = 0,
    workers: Workers = None,
    json: Json = False,
    out: Annotated[Path, OUT] = Path("out"),
) -> None:
    """Reproduce the paper: simulate its figures, decide its claims, and write a report."""
    from byzmab.cli.show import compiling_notice, note, print_json, share_bar, warnings_to_stderr
    from byzmab.cli.tables import claims_table, figures_table

    with compiling_notice(), warnings_to_stderr():
        from byzmab.paper.figures import read_figures
        from byzmab.paper.reproduction import reproduce as run
        from byzmab.simulation.files import make_directory
        from byzmab.simulation.run import check_workers

        check_workers(workers)
        changes = {"runs": runs, "seed": seed} | ({} if horizon is None else {"horizon": horizon})
        chosen = read_figures(figures or ["all"], **changes)
        directory = make_directory(out)
        with share_bar() as progress:
            reproduction = run(chosen, directory, workers, progress)
    if json:
        print_json(reproduction.summary())
    else:
        figures_table(reproduction.figures)
        claims_table(reproduction.claims)
    figures_made = "1 figure" if len(reproduction.figures) == 1 else f"{len(reproduction.figures)} figures"
    note(f"{figures_made} in {reproduction.seconds:.0f} s; report: {directory / 'report.html'}")
