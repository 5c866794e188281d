"""byzmab reproduce: the paper's figures and claims."""

from pathlib import Path
from typing import Annotated

import typer

from byzmab.cli.options import Json, Overwrite, Workers, require_study

FIGURES = typer.Argument(help="F1 … F12, all, or a figure file of your own; all if not given.")
HORIZON = typer.Option(help="rounds in a run; the figure's own if not given", show_default=False)
AS_PUBLISHED = typer.Option(
    "--as-published", help="play the variant of the paper's published code instead, beside our reading"
)
OUT = typer.Option(
    help="directory for figures, data and report; results in it are used again, and other figures stay", metavar="DIR"
)


def reproduce(
    figures: Annotated[list[str] | None, FIGURES] = None,
    runs: Annotated[int, typer.Option(help="independent repetitions")] = 50,
    horizon: Annotated[int | None, HORIZON] = None,
    seed: Annotated[int, typer.Option(help="where all randomness comes from")] = 0,
    as_published: Annotated[bool, AS_PUBLISHED] = False,
    workers: Workers = None,
    json: Json = False,
    out: Annotated[Path, OUT] = Path("out"),
    overwrite: Overwrite = False,
) -> None:
    """Reproduce the paper: simulate its figures, decide its claims, and write a report.

    Figures that are in the directory stay in its report. One that would lose runs, or has another seed or horizon, is
    replaced with --overwrite only; `all` keeps those that have more runs.
    """
    from byzmab.cli.show import compiling_notice, note, print_json, share_bar, warnings_to_stderr
    from byzmab.cli.tables import claims_table, figures_table

    require_study()
    if as_published:
        _as_published(figures, {"runs": runs, "seed": seed, "horizon": horizon}, workers, json, out, overwrite)
        return
    with compiling_notice(), warnings_to_stderr():
        from byzmab.paper.figures import read_figures
        from byzmab.paper.reproduction import reproduce as run
        from byzmab.simulation.run import check_workers

        check_workers(workers)
        changes = {"runs": runs, "seed": seed} | ({} if horizon is None else {"horizon": horizon})
        wanted = figures or ["all"]
        chosen = read_figures(wanted, **changes)
        with share_bar() as progress:
            reproduction = run(chosen, out, workers, progress, overwrite, keep_larger="all" in wanted)
    if json:
        print_json(reproduction.summary())
    else:
        figures_table({id: reproduction.figures[id] for id in reproduction.asked})
        claims_table(reproduction.claims_asked())
    for message in reproduction.notes:
        note(message)
    made, others = len(reproduction.asked), len(reproduction.figures) - len(reproduction.asked)
    kept = f", with {others} from before" if others else ""
    figures_made = "1 figure" if made == 1 else f"{made} figures"
    note(f"{figures_made} in {reproduction.seconds:.0f} s; report: {out / 'report.html'}{kept}")


def _as_published(
    figures: list[str] | None,
    sizes: dict[str, int | None],
    workers: int | None,
    json: bool,
    out: Path,
    overwrite: bool,
) -> None:
    """Play the variant of the published code, and show it beside our reading."""
    from byzmab.cli.show import compiling_notice, note, print_json
    from byzmab.cli.tables import as_published_table

    with compiling_notice():
        from byzmab.core.errors import BadInput
        from byzmab.paper.as_published import HORIZON as USUAL
        from byzmab.paper.as_published import play_as_published, work_of
        from byzmab.results.outputs import open_output
        from byzmab.simulation.run import check_workers
        from byzmab.sweep.store import ResultStore

        if figures:
            raise BadInput(f"figures {' '.join(figures)} do not go with --as-published; allowed: none")
        check_workers(workers)
        given = {name: USUAL if size is None else size for name, size in sizes.items()}
        output = open_output(out, work_of(**given), overwrite)
        published = play_as_published(**given, store=ResultStore(output.directory), workers=workers)
        with output.writing() as directory:
            files = published.write(directory)
    if json:
        print_json(published.summary())
    else:
        as_published_table(published)
    for path in files:
        note(f"wrote {path}")
