"""byzmab attack search: look for the attack that hurts most."""

from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.cli.options import Json, Workers, takes_experiment

OUT = typer.Option(help="directory for the attack, numbers and figures; a search stopped goes on there", metavar="DIR")
TRIALS = typer.Option(help="attacks to try")
SEARCH_RUNS = typer.Option(help="runs played for each of them; --runs are those on which the found one is judged")
OPTIMIZER = typer.Option(help="how to choose the next one to try: cma-es, tpe or random")

app = typer.Typer(help="Attacks: look for the worst.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command("search")
@takes_experiment()
def search(
    file: Path | None,
    changes: dict[str, Any],
    trials: Annotated[int, TRIALS] = 300,
    search_runs: Annotated[int, SEARCH_RUNS] = 20,
    optimizer: Annotated[str, OPTIMIZER] = "cma-es",
    workers: Workers = None,
    json: Json = False,
    out: Annotated[Path | None, OUT] = None,
) -> None:
    """Search a family of attacks for the one with the largest regret, and judge it on fresh seeds.

    As set, on two cores, it takes three to five minutes; the time grows with trials, search runs, agents and horizon.
    """
    from byzmab.cli.show import compiling_notice, note, print_json, progress_bar, warnings_to_stderr
    from byzmab.cli.tables import judgement_table

    with compiling_notice(), warnings_to_stderr():
        from byzmab.search.judge import check_judged, judge
        from byzmab.search.keep import save_search, summary
        from byzmab.search.search import search_attack
        from byzmab.simulation.files import make_directory, open_experiment, run_options
        from byzmab.sweep.store import ResultStore

        experiment = open_experiment(file, changes)
        check_judged(experiment)
        wanted = run_options(file)
        json, directory = json or wanted.get("json", False), make_directory(out or wanted.get("out", "attack"))
        workers = wanted.get("workers") if workers is None else workers
        with progress_bar("searching") as progress:
            found = search_attack(experiment, trials, search_runs, optimizer, ResultStore(directory), progress, workers)
        files = save_search(found, directory)  # before it is judged, so that nothing stops it from being there
        if found.interrupted:
            note(f"the worst of {len(found.trials)} trials is in {files[0]}; the same command goes on from there")
            raise typer.Exit(130)
        with progress_bar("judging") as progress:
            judgement = judge(found, progress, workers)
        files = save_search(found, directory, judgement)
    if json:
        print_json(summary(found, judgement))
    else:
        judgement_table(found, judgement)
    for path in files:
        note(f"wrote {path}")
