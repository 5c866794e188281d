"""byzmab tournament: which filter, against the worst that can happen?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.cli.options import Address, ExecutorName, Json, Overwrite, Workers, require_study, takes_experiment

OUT = typer.Option(help="directory for results, maps and report; what is in it is not played again", metavar="DIR")


@takes_experiment(several=("filter", "policy", "attack", "graph", "agents"))
def tournament(
    file: Path | None,
    changes: dict[str, Any],
    executor: ExecutorName = "local",
    address: Address = None,
    workers: Workers = None,
    json: Json = False,
    out: Annotated[Path, OUT] = Path("tournament"),
    overwrite: Overwrite = False,
) -> None:
    """Play every filter and policy against every attack on every graph, relative to what an agent does alone.

    Filter, policy, attack, graph and agents may be given several times; where they are not, a preset of 6 filters, 5
    policies, 12 attacks, 4 graphs and 10 or 20 agents is played. A graph may be called "time-varying erdos-renyi:0.6".
    """
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import standings_table

    require_study()
    with compiling_notice(), warnings_to_stderr():
        from byzmab.results.outputs import open_output
        from byzmab.simulation.progress import progress_bar
        from byzmab.sweep.executors import open_executor
        from byzmab.sweep.store import ResultStore
        from byzmab.tournament.draw import write_maps
        from byzmab.tournament.field import read_field
        from byzmab.tournament.standings import play
        from byzmab.tournament.tournament_report import work_of, write_report

        field = read_field(file, changes)
        output = open_output(out, work_of(field), overwrite)
        store = ResultStore(output.directory)
        with open_executor(executor, address, workers) as (pool, count), progress_bar("playing") as progress:
            standings = play(field, store, pool, count or workers, progress, note)
    if json:
        print_json({**standings.summary(), "computed": store.computed, "reused": store.reused})
    else:
        standings_table(standings)
    with output.writing() as directory:
        for path in [*write_maps(standings, directory), write_report(standings, directory / "report.html")]:
            note(f"wrote {path}")
