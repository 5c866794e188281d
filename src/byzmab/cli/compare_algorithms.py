"""byzmab compare-algorithms: ours and every baseline, under the worst attacks."""

from pathlib import Path
from typing import Annotated

import typer

from byzmab.cli.options import Json, Overwrite, Workers, require_study

ALGORITHMS = typer.Argument(
    help="Those to compare: as in byzmab list, with parameters or not, file.py:Name of your own, and solo; all if not "
    "given."
)
PRESET = typer.Option(help="how large: small, minutes on two cores, or full, hours")
NETWORK = typer.Option(
    help="only networks whose description holds these words: '40 agents', '20 arms, complete'; may be repeated"
)
ATTACK = typer.Option(help="an attack with a name to meet; the preset's if none is given; may be repeated")
HORIZON = typer.Option(help="rounds in a run; the preset's if not given", show_default=False)
RUNS = typer.Option(help="independent repetitions; the preset's if not given", show_default=False)
TRIALS = typer.Option(help="attacks that each search tries; the preset's if not given", show_default=False)
OUT = typer.Option(help="directory for results, table and figure; what is in it is not played again", metavar="DIR")


def compare_algorithms(
    algorithms: Annotated[list[str] | None, ALGORITHMS] = None,
    preset: Annotated[str, PRESET] = "small",
    network: Annotated[list[str] | None, NETWORK] = None,
    attack: Annotated[list[str] | None, ATTACK] = None,
    horizon: Annotated[int | None, HORIZON] = None,
    runs: Annotated[int | None, RUNS] = None,
    trials: Annotated[int | None, TRIALS] = None,
    seed: Annotated[int, typer.Option(help="where all randomness comes from")] = 0,
    workers: Workers = None,
    json: Json = False,
    out: Annotated[Path, OUT] = Path("comparison"),
    overwrite: Overwrite = False,
) -> None:
    """Compare algorithms with published and tuned constants, without attack and under the worst named and found.

    Stopped and started again it goes on where it was. Tables, numbers and the figure of regret against messages are
    written at the end.
    """
    from byzmab.cli.show import compiling_notice, note, print_json, warnings_to_stderr
    from byzmab.cli.tables import leaderboard_table

    require_study("search")
    with compiling_notice(), warnings_to_stderr():
        from byzmab.comparison.contestants import contestants_of, preset_of
        from byzmab.comparison.draw import write_figure
        from byzmab.comparison.play import compare_algorithms as run
        from byzmab.comparison.table import work_of, write_tables
        from byzmab.results.outputs import open_output
        from byzmab.simulation.progress import progress_bar
        from byzmab.simulation.run import check_workers
        from byzmab.sweep.store import ResultStore

        check_workers(workers)
        chosen = preset_of(preset, network, attack, horizon=horizon, runs=runs, trials=trials)
        contestants = contestants_of(algorithms)
        output = open_output(out, work_of(contestants, chosen, seed), overwrite)
        with progress_bar("comparing") as progress:
            comparison = run(contestants, chosen, ResultStore(output.directory), seed, workers, progress)
    if json:
        print_json(comparison.summary())
    else:
        leaderboard_table(comparison)
    with output.writing() as directory:
        for path in [*write_tables(comparison, directory), *write_figure(comparison, directory)]:
            note(f"wrote {path}")
