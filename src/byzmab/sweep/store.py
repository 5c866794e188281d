"""The store: finished blocks of runs in a directory, each under the address of all that determines it.

    DIR/points/<address>/point.json               the settings, for people and for `open_sweep`
    DIR/points/<address>/0-20-<checksum>.npz      runs 0 to 19: regret, pulls, messages, the arms' means
    DIR/points/<address>/0-20-<checksum>.json     where, when and with what they were computed

Nothing is ever changed in place, and equal names hold equal content, so directories of several machines merge
by copying one over the other. Results whose address does not last are kept until the store is gone, and no longer.
"""

import hashlib
import io
import json
import re
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers
from byzmab.experiment.absent import without_folders
from byzmab.experiment.experiment import Experiment
from byzmab.results.outputs import in_place
from byzmab.results.result import Result
from byzmab.simulation.run import Progress, simulate
from byzmab.sweep.identity import address, identity, provenance

POINT = "point.json"
NAME = re.compile(r"(\d+)-(\d+)-([0-9a-f]{32})\.npz")


class Block(NamedTuple):
    """A file of finished runs."""

    first: int
    end: int
    checksum: str
    path: Path


class ResultStore:
    """Results on disk, in blocks of runs. What is there is never computed again.

    Parameters
    ----------
    directory
        Where results are kept; it is made when something is written.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory) / "points"
        self.computed = 0  # runs, since it was opened
        self.reused = 0

    def folder(self, experiment: Experiment) -> Path:
        """Where the blocks of an experiment lie.

        Parameters
        ----------
        experiment
            The experiment.
        """
        where = address(experiment)
        return (self.directory if where.lasting else self._passing) / where.name

    @cached_property
    def _passing(self) -> Path:
        """A folder for results whose address does not last; removed with the store."""
        folder = Path(tempfile.mkdtemp(prefix="byzmab-unstored-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def folders(self) -> list[Path]:
        """The folders of all experiments of which something is there."""
        roots = [self.directory, *([self._passing] if "_passing" in vars(self) else [])]
        return [point.parent for root in roots for point in sorted(root.glob(f"*/{POINT}"))]

    def blocks(self, experiment: Experiment) -> list[Block]:
        """Whole blocks that cover some of the experiment's runs, without overlap; broken ones are removed.

        Parameters
        ----------
        experiment
            The experiment.
        """
        chosen: list[Block] = []
        for block in blocks_in(self.folder(experiment)):
            covered = chosen[-1].end if chosen else 0
            if block.end <= covered or block.first >= experiment.runs:
                continue
            if is_whole(block):
                chosen.append(block)
            else:
                for path in (block.path, block.path.with_suffix(".json")):
                    path.unlink(missing_ok=True)
        return chosen

    def missing(self, experiment: Experiment) -> list[tuple[int, int]]:
        """The runs, first and end, that no block holds yet.

        Parameters
        ----------
        experiment
            The experiment.
        """
        gaps, reached = [], 0
        for block in self.blocks(experiment):
            if block.first > reached:
                gaps.append((reached, block.first))
            reached = block.end
        if reached < experiment.runs:
            gaps.append((reached, experiment.runs))
        self.reused += experiment.runs - sum(end - first for first, end in gaps)
        return gaps

    def write(self, experiment: Experiment, part: Result, origin: dict[str, Any] | None = None) -> None:
        """Keep some runs of an experiment; all there or not at all, whatever happens.

        Parameters
        ----------
        experiment
            The experiment.
        part
            Some of its runs.
        origin
            Where and how these were computed; if None, here and now.
        """
        folder = self.folder(experiment)
        folder.mkdir(parents=True, exist_ok=True)
        point = folder / POINT
        if not point.exists():
            settings = {name: value for name, value in without_folders(experiment.settings()).items() if name != "runs"}
            content = {"settings": settings, "identity": identity(experiment)}
            _write(point, json.dumps(content, indent=2).encode())
        data = _pack(part)
        name = f"{part.first}-{part.first + part.experiment.runs}-{_checksum(data)}"
        origin = {**(origin or provenance()), "seconds": round(part.seconds, 6)}
        _write(folder / f"{name}.json", json.dumps(origin, indent=2).encode())
        _write(folder / f"{name}.npz", data)  # last: what is there is whole
        self.computed += part.experiment.runs

    def read(self, experiment: Experiment) -> Result:
        """The result of an experiment all of whose runs are there.

        Parameters
        ----------
        experiment
            The experiment.
        """
        parts = list(_cut(experiment, self.blocks(experiment)))
        result = Result.join(parts) if parts else None
        if result is None or result.experiment.runs != experiment.runs:
            raise BadInput(f"store {str(self.directory.parent)!r} does not hold all {experiment.runs} runs asked for")
        return replace(result, experiment=experiment)

    def get(self, experiment: Experiment, progress: Progress | None = None, workers: int | None = None) -> Result:
        """The result of an experiment: runs that are there are read, others are played and kept.

        Parameters
        ----------
        experiment
            The experiment.
        progress
            As for `simulate`.
        workers
            As for `simulate`.

        Returns
        -------
        Result
            All its runs.
        """
        for first, end in self.missing(experiment):
            some = experiment.but(runs=end - first)
            self.write(experiment, simulate(some, progress=progress, workers=workers, first=first))
        return self.read(experiment)


def blocks_in(folder: Path) -> list[Block]:
    """All blocks in a folder, by first run, the longest first where several begin together."""
    found = []
    for path in folder.glob("*.npz"):
        if match := NAME.fullmatch(path.name):
            found.append(Block(int(match[1]), int(match[2]), match[3], path))
    return sorted(found, key=lambda block: (block.first, -block.end, block.path.name))


def is_whole(block: Block) -> bool:
    """Whether a block's content is what its name says."""
    try:
        return _checksum(block.path.read_bytes()) == block.checksum
    except OSError:
        return False


class Arrays(NamedTuple):
    """What a block holds."""

    rounds: Integers
    regret: Floats  # run × honest agent × round
    pulls: NDArray[np.int32]  # run × honest agent × third × arm
    messages: Integers  # run
    arms_told: Integers  # run: in these messages
    means: Floats  # run × arm: μ


def _pack(part: Result) -> bytes:
    """The bytes of a block: the same for the same runs, whichever process played them."""
    content = io.BytesIO()
    counts = part.message_counts, part.arm_counts
    arrays = Arrays(part.rounds, part.regret_values, part.pull_values, *counts, part.means)
    np.savez(content, **arrays._asdict())
    return content.getvalue()


def unpack(block: Block) -> Arrays:
    """The content of a block, if it is whole."""
    if not is_whole(block):
        raise BadInput(f"block {str(block.path)!r} is broken; run the sweep again to have it computed anew")
    try:
        with np.load(block.path, allow_pickle=False) as data:
            found = {name: data[name] for name in data.files}
            if "arms_told" not in found:  # of version 0.1, when every report was on all arms
                found["arms_told"] = found["messages"] * found["means"].shape[1]
            return Arrays(*(found[name] for name in Arrays._fields))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise BadInput(f"block {str(block.path)!r} cannot be read: {error}") from None


def _load(experiment: Experiment, block: Block) -> Result:
    some = experiment.but(runs=block.end - block.first)
    return Result(some, *unpack(block), _seconds(block), block.first)


def _seconds(block: Block) -> float:
    """How long a block was played; 0 where its provenance is lost."""
    try:
        return float(json.loads(block.path.with_suffix(".json").read_bytes())["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def _cut(experiment: Experiment, blocks: list[Block]) -> Iterator[Result]:
    """What blocks hold of an experiment's runs, each run once."""
    reached = 0
    for block in blocks:
        part = _load(experiment, block)
        low, high = max(block.first, reached) - block.first, min(block.end, experiment.runs) - block.first
        yield part.cut(low, high)
        reached = block.end


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _write(path: Path, data: bytes) -> None:
    with in_place(path) as unfinished:
        unfinished.write_bytes(data)
