"""byzmab reproduce: the paper's figures and claims."""

from pathlib import Path
from typing import Annotated

import typer

from byzmab.cli.options import Json, Workers, require_study

FIGURES = typer.Argument(help="F1 … F12, all, or a figure file of your own; all if not given.")
HORIZON = typer.Option(help="rounds in a run; the figure's own if not given", show_default=False)
AS_PUBLISHED = typer.Option(
    "--as-published", help="play the variant of the paper's published code instead, beside our reading"
)
OUT = typer.Option(help="directory for figures, data and report; results in it are used again", metavar="DIR")


def reproduce(
    figures: Annotated[list[str] | None, FIGURES] = None,
    runs: Annotated[int, typer.Option(help="independent repetitions")] = 50,
    horizon: Annotated[int | None, HORIZON] = None,
    seed: Annotated[int, typer.Option(help="where all randomness comes from")] = 0,
    as_published: Annotated[bool, AS_PUBLISHED] = False,
    workers: Workers = None,
    json: Json = False,
    out: Annotated[Path, OUT] = Path("out"),
) -> None:
    """Reproduce the paper: simulate its figures, decide its claims, and write a report."""
    from byzmab.cli.show import compiling_notice, note, print_json, share_bar, warnings_to_stderr
    from byzmab.cli.tables import claims_table, figures_table

    require_study()
    if as_published:
        _as_published(figures, runs, seed, horizon, workers, json, out)
        return
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


def _as_published(
    figures: list[str] | None, runs: int, seed: int, horizon: int | None, workers: int | None, json: bool, out: Path
) -> None:
    """Play the variant of the published code, and show it beside our reading."""
    from byzmab.cli.show import compiling_notice, note, print_json
    from byzmab.cli.tables import as_published_table

    with compiling_notice():
        from byzmab.core.errors import BadInput
        from byzmab.paper.as_published import play_as_published
        from byzmab.simulation.files import make_directory
        from byzmab.simulation.run import check_workers
        from byzmab.sweep.store import ResultStore

        if figures:
            raise BadInput(f"figures {' '.join(figures)} do not go with --as-published; allowed: none")
        check_workers(workers)
        directory = make_directory(out)
        rounds = 10_000 if horizon is None else horizon
        published = play_as_published(runs, seed, rounds, ResultStore(directory), workers)
        files = published.write(directory)
    if json:
        print_json(published.summary())
    else:
        as_published_table(published)
    for path in files:
        note(f"wrote {path}")
