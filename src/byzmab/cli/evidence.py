"""byzmab evidence: check proof that an agent lied."""

from pathlib import Path
from typing import Annotated

import typer

from byzmab.extras import needs_extra

evidence = typer.Typer(no_args_is_help=True, help="Check proof that an agent lied.")


@evidence.callback()
def _group() -> None:
    pass


@evidence.command()
def verify(
    file: Annotated[Path, typer.Argument(help="evidence, or what GET /v1/neighbours answered", metavar="FILE")],
) -> None:
    """Say what evidence proves, from its frames and the key alone; exit code 2 if any of it proves nothing."""
    with needs_extra("node"):
        from byzmab.node.evidence import explain, read_evidence

        for piece in read_evidence(file):
            print(f"{piece.kind}: {explain(piece)}")
