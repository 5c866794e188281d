"""byzmab lab: the page on which experiments are built by hand."""

from typing import Annotated

import typer

from byzmab.cli.options import require_study
from byzmab.extras import needs_extra

PORT = 8690  # below those of `byzmab network`


def lab(
    setups: Annotated[
        str,
        typer.Argument(help="experiments to open instead of the story: name=value joined by &, several joined by |"),
    ] = "",
    *,
    port: Annotated[
        int, typer.Option(help="of this machine's loopback; 0 for any that is free", min=0, max=65535)
    ] = PORT,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="open the page in the browser")] = True,
) -> None:
    """Serve the lab to this machine's browser until Ctrl-C: build experiments, watch them play, step through them."""
    from byzmab.cli.show import compiling_notice, note

    require_study("node,study")
    fragment = ""
    if setups:
        from byzmab.dashboard.lab.setup import fragment_of

        fragment = fragment_of(setups)

    def opened(address: str) -> None:
        address += fragment
        note(f"the lab is at {address}; Ctrl-C ends it")
        if browser:
            typer.launch(address)

    with needs_extra("node,study"), compiling_notice():
        from byzmab.dashboard.lab.routes import make_app
        from byzmab.dashboard.pages import serve

        serve(make_app(), port, opened)
