"""byzmab attack search: look for the attack that hurts most."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from byzmab.cli.options import Json, Overwrite, Workers, require_study, takes_experiment

if TYPE_CHECKING:
    from collections.abc import Callable

    from byzmab.experiment.experiment import Experiment

    Outcome = tuple[dict[str, Any], Callable[[], None], list[Path]]  # for --json, what prints a table, files written

OUT = typer.Option(help="directory for the attack, numbers and figures; a search stopped goes on there", metavar="DIR")
TRIALS = typer.Option(help="attacks to try; 300, or 100 against each of all filters", show_default=False)
SEARCH_RUNS = typer.Option(
    help="runs played for each of them, 20, or 10 for all filters; --runs are those on which the found one is judged",
    show_default=False,
)
OPTIMIZER = typer.Option(help="how to choose the next one to try: cma-es, tpe or random")
GOAL = typer.Option(
    help="what to look for: regret, gain (the least over solo), worst-agent (its regret), victim (an agent's regret "
    "over its own alone) or lock-in (the most runs locked in)"
)
RESTARTS = typer.Option(help="how many optimizers begin, each in another part of the family")
LOCK_IN = typer.Option(help="regret above which a run locked in; twice solo's mean if not given", show_default=False)
ALL_FILTERS = typer.Option("--all-filters", help="search against every filter, and show the worst cases beside solo")

app = typer.Typer(help="Attacks: look for the worst.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command("search")
@takes_experiment()
def search(
    file: Path | None,
    changes: dict[str, Any],
    all_filters: Annotated[bool, ALL_FILTERS] = False,
    goal: Annotated[str, GOAL] = "regret",
    lock_in: Annotated[float | None, LOCK_IN] = None,
    trials: Annotated[int | None, TRIALS] = None,
    search_runs: Annotated[int | None, SEARCH_RUNS] = None,
    restarts: Annotated[int, RESTARTS] = 4,
    optimizer: Annotated[str, OPTIMIZER] = "cma-es",
    workers: Workers = None,
    json: Json = False,
    out: Annotated[Path | None, OUT] = None,
    overwrite: Overwrite = False,
) -> None:
    """Search a family of attacks for the one that hurts most, and judge it on fresh seeds.

    As set, on two cores, it takes three to five minutes, and five to ten with --all-filters; the time grows with
    trials, search runs, agents and horizon. With --all-filters each is played with the policy that is given, or with
    tuned, trimmed also with the paper's ucb, and guarded with moss.
    """
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr

    require_study("search")
    with compiling_notice(), warnings_to_stderr():
        from byzmab.experiment.files import open_experiment, read_settings, run_options

        experiment = open_experiment(file, changes)
        wanted = run_options(file)
        where = out or wanted.get("out", "attack")
        how = {"goal": goal, "lock_in": lock_in, "restarts": restarts, "optimizer": optimizer}
        how["workers"] = wanted.get("workers") if workers is None else workers
        sizes = {"trials": trials, "runs": search_runs}
        how |= {name: size for name, size in sizes.items() if size is not None}
        if all_filters:
            given = {**({} if file is None else read_settings(file)), **changes}
            summary, show, files = _search_all(experiment, given.get("policy"), how, where, overwrite)
        else:
            summary, show, files = _search_one(experiment, how, where, overwrite)
    if json or wanted.get("json", False):
        print_json(summary)
    else:
        show()
    for path in files:
        note(f"wrote {path}")


def _search_one(experiment: "Experiment", how: dict[str, Any], out: Path, overwrite: bool) -> "Outcome":
    """Search against an experiment's own filter."""
    from byzmab.cli.show import note
    from byzmab.cli.tables import judgement_table
    from byzmab.results.outputs import open_output
    from byzmab.search.judge import check_judged, judge
    from byzmab.search.keep import save_search, summary, work_of
    from byzmab.search.search import check_search, search_attack
    from byzmab.simulation.progress import progress_bar
    from byzmab.sweep.store import ResultStore

    check_judged(experiment)
    check_search(experiment, **how)
    output = open_output(out, work_of(experiment, how), overwrite)
    with progress_bar("searching") as progress:
        found = search_attack(experiment, store=ResultStore(output.directory), progress=progress, **how)
    became = work_of(experiment, how, found)
    if not output.complete and output.allows(became):
        with output.writing(became, finished=False) as directory:
            save_search(found, directory)  # before it is judged, so that nothing stops it from being there
    if found.interrupted:
        kept = output.directory / "found.py"
        note(f"the worst of {len(found.trials)} trials is in {kept}; the same command goes on from there")
        raise typer.Exit(130)
    with progress_bar("judging") as progress:
        judgement = judge(found, progress, how["workers"])
    with output.writing() as directory:
        files = save_search(found, directory, judgement)
    return summary(found, judgement), lambda: judgement_table(found, judgement), files


def _search_all(experiment: "Experiment", policy: Any, how: dict[str, Any], out: Path, overwrite: bool) -> "Outcome":
    """Search against every filter, with one policy if it is given; --filter is not asked."""
    from byzmab.cli.show import note
    from byzmab.cli.tables import worst_cases_table
    from byzmab.results.outputs import open_output
    from byzmab.search.judge import check_judged
    from byzmab.search.keep import save_worst_cases, work_of_worst_cases
    from byzmab.search.search import check_search
    from byzmab.search.worst_cases import contestants, worst_cases
    from byzmab.simulation.progress import progress_bar
    from byzmab.sweep.store import ResultStore

    wanted = contestants(policy)
    check_judged(experiment)
    for contestant in wanted:
        check_search(experiment.but(**contestant._asdict()), **how)
    output = open_output(out, work_of_worst_cases(experiment, how, wanted), overwrite)
    with progress_bar("searching") as progress:
        found = worst_cases(experiment, wanted, store=ResultStore(output.directory), progress=progress, **how)
    all_found = len(found) == len(wanted)
    became = work_of_worst_cases(experiment, how, [case.contestant for case in found])
    files: list[Path] = []
    if all_found or output.allows(became):
        with output.writing(became, finished=all_found) as directory:
            files = save_worst_cases(found, directory)
    if not all_found:
        note(f"{len(found)} of {len(wanted)} are finished; the same command goes on from there")
        raise typer.Exit(130)
    summary = {"worst_cases": [case.summary() for case in found]}
    return summary, lambda: worst_cases_table(found), files
