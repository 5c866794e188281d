"""byzmab sweep: a grid of experiments, kept in a directory that is resumed, shared and merged."""

from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.cli.options import Address, ExecutorName, Json, Overwrite, Workers, require_study, takes_experiment

OUT = typer.Option(help="directory of results; what is in it is not computed again; sweeps if not given", metavar="DIR")
TABLE = typer.Option("--table", help="show the regret of every point; without FILE.toml, of all in the directory")
PLOT = typer.Option("--plot", help="draw the same as small multiples, sweep.png and sweep.pdf in the directory")


@takes_experiment()
def sweep(
    file: Path | None,
    changes: dict[str, Any],
    executor: ExecutorName = "local",
    address: Address = None,
    workers: Workers = None,
    table: Annotated[bool, TABLE] = False,
    plot: Annotated[bool, PLOT] = False,
    json: Json = False,
    out: Annotated[Path | None, OUT] = None,
    overwrite: Overwrite = False,
) -> None:
    """Run every combination of settings that a sweep file names, or show what sweeps have left in a directory."""
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import sweep_table

    require_study()
    with compiling_notice(), warnings_to_stderr():
        from byzmab.core.errors import BadInput
        from byzmab.results.figure import save_figure
        from byzmab.results.outputs import open_output
        from byzmab.simulation.progress import progress_bar
        from byzmab.sweep.data import open_sweep, work_of
        from byzmab.sweep.executors import open_executor
        from byzmab.sweep.points import Sweep
        from byzmab.sweep.run import run_sweep
        from byzmab.sweep.store import ResultStore

        if file is None and (changes or not (table or plot or json)):
            raise BadInput("sweep file is missing; allowed: FILE.toml, or only --out with --table, --plot or --json")
        wanted = None if file is None else Sweep.read(file, changes)
        options = {} if wanted is None else wanted.options
        where = out or options.get("out", "sweeps")
        store = ResultStore(where)
        output = open_output(where, work_of(wanted, store, plot), overwrite)
        if wanted is not None:
            workers = options.get("workers") if workers is None else workers
            with open_executor(executor, address, workers) as (pool, count), progress_bar("sweeping") as progress:
                run_sweep(wanted.points, store, pool, count or workers, progress, note)
        data = open_sweep(store, wanted)
    if json or options.get("json", False):
        print_json({"points": data.summary(), "computed": store.computed, "reused": store.reused})
    elif table or not plot:
        sweep_table(data)
    if plot:
        with output.writing() as directory:
            for path in save_figure(data.plot(), directory / "sweep"):
                note(f"wrote {path}")
    note(f"{store.computed} runs computed, {store.reused} reused, in {output.directory}")
