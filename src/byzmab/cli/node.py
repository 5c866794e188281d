"""byzmab node: run a node, begin it warm, copy and move its state, change its key, pardon. byzmab keygen: its key."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from byzmab.extras import needs_extra

RUN = "run"
NodeFile = Annotated[Path, typer.Argument(help="the node's settings", metavar="NODE.toml")]


class RunByDefault(TyperGroup):
    """A group in which `node NODE.toml` is short for `node run NODE.toml`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant."""
        if args and args[0] not in self.commands:
            args = [RUN, *args]
        return super().resolve_command(ctx, args)


node = typer.Typer(cls=RunByDefault, no_args_is_help=True, help="Run a node: byzmab node NODE.toml.")


@node.command(RUN)
def run_node(
    file: NodeFile,
    attack_plan: Annotated[Path | None, typer.Option(help="lie by it", metavar="FILE", hidden=True)] = None,
) -> None:
    """Run a node, and its page, until it is told to stop (SIGTERM, Ctrl-C); SIGHUP reads its neighbours again."""
    from byzmab.cli.show import compiling_notice

    with needs_extra("node"), compiling_notice():
        from byzmab.dashboard.live.node import node_pages
        from byzmab.node.config import read_config
        from byzmab.node.faults import TRY_AGAIN, Unavailable
        from byzmab.node.main import run

        config, report_for = read_config(file), None
        if attack_plan is not None:
            from byzmab.testbed.liar import Liar

            report_for = Liar(attack_plan, config.name)
        try:
            run(config, file, report_for, [node_pages()])
        except Unavailable as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(TRY_AGAIN) from None


@node.command("export")
def export_node(
    file: NodeFile,
    out: Annotated[Path | None, typer.Option(help="write to a new file", metavar="FILE")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace the file")] = False,
) -> None:
    """Write a node's state as JSON, while it runs or not."""
    with needs_extra("node"):
        from byzmab.node.config import read_config
        from byzmab.node.store import export_state
        from byzmab.results.outputs import new_file, write_bytes

        target = None if out is None else new_file(out, overwrite)
        pieces = export_state(read_config(file).data)
        if target is None:
            sys.stdout.buffer.writelines(pieces)
            sys.stdout.buffer.write(b"\n")
        else:
            write_bytes(target, pieces)


@node.command("backup")
def back_up_node(
    file: NodeFile,
    to: Annotated[Path, typer.Argument(help="the copy, in an existing directory", metavar="FILE")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace the file")] = False,
) -> None:
    """Copy a node's data file while it runs, or not; `import` brings the copy back."""
    with needs_extra("node"):
        from byzmab.node.backup import back_up
        from byzmab.node.config import read_config
        from byzmab.results.outputs import new_file

        back_up(read_config(file).data, new_file(to, overwrite))


@node.command("import")
def import_node(
    file: NodeFile, state: Annotated[Path, typer.Argument(help="what export or backup wrote", metavar="STATE")]
) -> None:
    """Begin a node's empty data directory with an export or a backup, under the same key or a new one."""
    with needs_extra("node"):
        from byzmab.node.administration import bring_back
        from byzmab.node.config import read_config

        bring_back(read_config(file), state)


@node.command("init")
def init_node(file: NodeFile) -> None:
    """Begin a node's empty data directory anew, though its key was used before; neighbours are told so."""
    with needs_extra("node"):
        from byzmab.node.administration import begin_anew
        from byzmab.node.config import read_config

        begin_anew(read_config(file))


@node.command("warm-start")
def warm_start(
    file: NodeFile, table: Annotated[Path, typer.Argument(help="columns arm, pulls, mean", metavar="TABLE.csv")]
) -> None:
    """Let a node that is stopped, and has decided nothing yet, begin with its past counts."""
    with needs_extra("node"):
        from byzmab.node import administration
        from byzmab.node.config import read_config
        from byzmab.node.past_counts import read_past_counts

        administration.warm_start(read_config(file), read_past_counts(table))


@node.command("pardon")
def pardon(
    file: NodeFile, who: Annotated[str, typer.Argument(help="a neighbour's key or name", metavar="KEY")]
) -> None:
    """Hear a neighbour again that was expelled, whether the node runs or not; its own KEY ends its alarms."""
    with needs_extra("node"):
        from byzmab.node import administration
        from byzmab.node.config import read_config

        administration.pardon(read_config(file), who)


@node.command("lower-epoch")
def lower_epoch(file: NodeFile) -> None:
    """Repair a stopped node whose clock was years ahead at a start, so that neighbours refuse its reports."""
    with needs_extra("node"):
        from byzmab.node import administration
        from byzmab.node.config import read_config

        administration.lower_epoch(read_config(file))


@node.command("handover")
def hand_over(
    file: NodeFile, new: Annotated[Path, typer.Argument(help="file of the new private key", metavar="NEW.key")]
) -> None:
    """Tell the neighbours of a running node that a new key takes the place of its own."""
    with needs_extra("node"):
        from byzmab.node import administration
        from byzmab.node.config import read_config

        administration.hand_over(read_config(file), new)


def keygen(
    file: Annotated[Path, typer.Argument(help="where the private key is written", metavar="FILE")] = Path("node.key"),
    show: Annotated[bool, typer.Option("--show", help="show the public key of a file that exists")] = False,
) -> None:
    """Make a node's private key, for its owner alone to read, and print the public one, for its neighbours."""
    with needs_extra("node"):
        from byzmab.node.identity import Key

        if show:
            key = Key.load(file)
        else:
            key = Key.generate()
            key.save(file)
    print(key.public)
