"""Finding the points of a store: by what the store says of itself, or for the experiments of a sweep."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from byzmab.core.errors import BadInput
from byzmab.experiment.absent import NAMING_FILES, is_present, without_folders
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.settings import ABOUT
from byzmab.sweep.identity import algorithm_version
from byzmab.sweep.store import POINT, Block, ResultStore, blocks_in

LATER_SETTINGS = {"tell": Experiment.tell}  # those that version 0.1 did not have, as it played
MARK = 6  # letters that tell apart what has one name


class StoredPoint(NamedTuple):
    """A point of a store."""

    settings: Mapping[str, Any]
    blocks: Sequence[Block]
    runs: int


class _Label(NamedTuple):
    """What a folder of the store says of itself."""

    settings: dict[str, Any]  # without runs
    contents: dict[str, str]  # what plug-ins and graph hold, by setting
    version: str  # of the code that played

    @property
    def name(self) -> str:
        return json.dumps([self.settings, self.contents], sort_keys=True)


def find_all(store: ResultStore) -> list[StoredPoint]:
    """Every point there is; of the same experiment played by several versions, this one's, or else the newest."""
    best: dict[str, tuple[tuple[bool, float], _Label, list[Block]]] = {}
    for folder in store.folders():
        blocks = blocks_in(folder)
        if not blocks:
            continue
        label = _read_label(folder)
        rank = label.version == algorithm_version(), max(block.path.stat().st_mtime for block in blocks)
        if label.name not in best or best[label.name][0] < rank:
            best[label.name] = rank, label, blocks
    if not best:
        where = str(store.directory.parent)
        raise BadInput(f"directory {where!r} holds no results of a sweep; byzmab sweep FILE.toml --out DIR makes some")
    chosen = [best[name] for name in sorted(best)]
    ends = [max(block.end for block in blocks) for _, _, blocks in chosen]
    settings = tell_apart([(label.settings, label.contents) for _, label, _ in chosen])
    return [
        StoredPoint({**each, "runs": runs}, blocks, runs)
        for each, (_, _, blocks), runs in zip(settings, chosen, ends, strict=True)
    ]


def find_some(store: ResultStore, points: Sequence[Experiment]) -> list[StoredPoint]:
    """The points of a sweep; BadInput where some are not there."""
    there = [_blocks(store, point) for point in points]
    if empty := sum(not blocks for blocks in there):
        where = str(store.directory.parent)
        raise BadInput(f"directory {where!r} lacks {empty} of {len(points)} points; run the sweep to add them")
    contents = [_read_label(blocks[0].path.parent).contents for blocks in there]
    settings = tell_apart([(point.settings(), held) for point, held in zip(points, contents, strict=True)])
    return [StoredPoint(each, blocks, point.runs) for each, blocks, point in zip(settings, there, points, strict=True)]


def _blocks(store: ResultStore, point: Experiment) -> list[Block]:
    """The blocks of a point: by its address, or by its name where the source of a plug-in is not here."""
    if is_present(point):
        return store.blocks(point)
    wanted = {name: value for name, value in without_folders(point.settings()).items() if name != "runs"}
    folders = [folder for folder in store.folders() if _read_label(folder).settings == wanted]
    newest = max(folders, key=lambda folder: folder.stat().st_mtime, default=None)
    return [] if newest is None else [block for block in blocks_in(newest) if block.first < point.runs]


def tell_apart(points: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]]) -> list[dict[str, Any]]:
    """The settings of points, given with what their plug-ins hold; where one name stands for several, it is marked."""
    held: dict[tuple[str, str], set[str]] = defaultdict(set)
    for settings, contents in points:
        for name, content in contents.items():
            held[name, str(settings[name])].add(content)
    told = []
    for settings, contents in points:
        marked = dict(settings)
        for name, content in contents.items():
            if len(held[name, str(settings[name])]) > 1:
                marked[name] = f"{settings[name]} #{hashlib.sha256(content.encode()).hexdigest()[:MARK]}"
        told.append(marked)
    return told


def _read_label(folder: Path) -> _Label:
    file = folder / POINT
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        known = {**LATER_SETTINGS, **content["settings"]}
        settings = {name: known[name] for name in ABOUT if name != "runs"}
        identity = content["identity"]
        return _Label(settings, {name: str(identity[name]) for name in NAMING_FILES}, identity["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"file {str(file)!r} is broken ({error}); run the sweep again after removing it") from None
