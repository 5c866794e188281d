"""byzmab simulate: run one experiment."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from byzmab.simulation.settings import ABOUT


def _option(name: str, *flags: str) -> Any:
    return typer.Option(*flags, help=ABOUT[name], show_default=False)


def simulate(
    file: Annotated[
        Path | None, typer.Argument(help="An experiment file; flags win over what it says.", metavar="[FILE.toml]")
    ] = None,
    arms: Annotated[str | None, _option("arms")] = None,
    agents: Annotated[int | None, _option("agents")] = None,
    byzantine: Annotated[int | None, _option("byzantine")] = None,
    f: Annotated[int | None, _option("f", "--f")] = None,
    kappa: Annotated[str | None, _option("kappa")] = None,
    graph: Annotated[str | None, _option("graph")] = None,
    time_varying: Annotated[bool | None, _option("time_varying", "--time-varying/--fixed")] = None,
    attack: Annotated[str | None, _option("attack")] = None,
    filter: Annotated[str | None, _option("filter")] = None,
    memory: Annotated[int | None, _option("memory")] = None,
    policy: Annotated[str | None, _option("policy")] = None,
    rewards: Annotated[str | None, _option("rewards")] = None,
    subset: Annotated[int | None, _option("subset")] = None,
    epoch: Annotated[int | None, _option("epoch")] = None,
    delay: Annotated[int | None, _option("delay")] = None,
    algorithm: Annotated[str | None, _option("algorithm")] = None,
    horizon: Annotated[int | None, _option("horizon")] = None,
    runs: Annotated[int | None, _option("runs")] = None,
    seed: Annotated[int | None, _option("seed")] = None,
    record: Annotated[int | None, _option("record")] = None,
    workers: Annotated[
        int | None, typer.Option(help="threads to run on; all cores if not given", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else on stdout")] = False,
    out: Annotated[
        Path | None, typer.Option(help="directory for the result, the experiment file and the figure", metavar="DIR")
    ] = None,
) -> None:
    """Simulate a network of agents, some of which lie, and show the regret of the others."""
    from byzmab.cli.options import numbers_or_word, several
    from byzmab.cli.show import compiling_notice, print_json, progress_bar, regret_table, warnings_to_stderr
    from byzmab.simulation.settings import ABOUT

    given = {name: value for name, value in locals().items() if name in ABOUT and value is not None}
    given["arms"] = numbers_or_word("arms", arms, "random")
    given["kappa"] = numbers_or_word("kappa", kappa, "random")
    given["rewards"] = several(rewards)
    changes = {name: value for name, value in given.items() if value is not None}

    with compiling_notice(), warnings_to_stderr():
        from byzmab.simulation.experiment import Experiment
        from byzmab.simulation.files import make_directory, read_experiment, write_result
        from byzmab.simulation.run import simulate as run

        experiment = Experiment(**changes) if file is None else read_experiment(file, changes)
        directory = None if out is None else make_directory(out)
        with progress_bar("simulating") as progress:
            result = run(experiment, progress=progress, workers=workers)
    if json:
        print_json(result.summary())
    else:
        regret_table([("", result)])
    if directory is not None:
        for path in write_result(result, directory):
            print(f"wrote {path}", file=sys.stderr)
