"""byzmab list: everything that can be combined."""

from typing import Annotated

import typer


def show_list(
    json: Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else on stdout")] = False,
) -> None:
    """List every filter, policy, attack, graph, family of rewards and algorithm with its parameters."""
    from rich.console import Console
    from rich.table import Table

    from byzmab.cli.show import print_json
    from byzmab.simulation.catalogue import catalogue

    entries = catalogue()
    if json:
        print_json(entries)
        return
    for kind, names in entries.items():
        table = Table("name", "what it does", "parameters", title=kind, title_justify="left")
        for name, entry in names.items():
            table.add_row(name, entry["about"], entry["parameters"])
        Console().print(table)
