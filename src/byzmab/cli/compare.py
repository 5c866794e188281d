"""byzmab compare: two experiments that met the same luck."""

from pathlib import Path
from typing import Annotated

import typer

from byzmab.cli.options import Json, Workers, require_study

FILE = "an experiment file, or a result that `byzmab simulate --out` wrote"


def compare(
    a: Annotated[Path, typer.Argument(help=FILE, metavar="A")],
    b: Annotated[Path, typer.Argument(help=FILE, metavar="B")],
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Compare two experiments run by run: the regret of A less that of B, with its 95 % interval."""
    from byzmab.cli.show import compiling_notice, print_json, warnings_to_stderr
    from byzmab.cli.tables import difference_table

    require_study()
    with compiling_notice(), warnings_to_stderr():
        from byzmab.experiment.files import open_experiment
        from byzmab.results.result import Result
        from byzmab.simulation.compare import check_same_luck
        from byzmab.simulation.compare import compare as compare_results
        from byzmab.simulation.progress import progress_bar
        from byzmab.simulation.run import simulate

        given = [Result.load(path) if path.suffix == ".nc" else open_experiment(path, {}) for path in (a, b)]
        check_same_luck(*(item.experiment if isinstance(item, Result) else item for item in given))
        results = []
        for path, item in zip((a, b), given, strict=True):
            with progress_bar(f"simulating {path.name}") as progress:
                results.append(item if isinstance(item, Result) else simulate(item, progress=progress, workers=workers))
        comparison = compare_results(*results)
    if json:
        fields = ("difference", "low", "high", "stderr", "runs", "differs")
        summaries = {key: result.summary() for key, result in zip("ab", results, strict=True)}
        print_json({**{name: getattr(comparison, name) for name in fields}, **summaries})
    else:
        names = [str(path) if a.name == b.name else path.name for path in (a, b)]
        difference_table(list(zip(names, results, strict=True)), comparison)
