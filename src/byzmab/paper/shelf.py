"""The figures that a directory holds, each in its data file: which of them stay, and which may be replaced."""

import glob
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from byzmab.core.errors import BadInput
from byzmab.paper.draw import read_data, write_figure
from byzmab.paper.figures import IDS, About, Figure, read_figure
from byzmab.paper.reproduction import FigureData, data_of
from byzmab.results.outputs import ELSE, locked
from byzmab.sweep.store import ResultStore

DATA = ".nc"
SIZES = re.compile(r"\b(horizon|runs|seed) (\d+)")  # in a caption
BROKEN = (OSError, ValueError, KeyError)


class Shelf:
    """The figures of a directory."""

    def __init__(self, directory: Path, overwrite: bool, keep_larger: bool) -> None:
        self.directory, self.overwrite, self.keep_larger = directory, overwrite, keep_larger

    def ids(self) -> list[str]:
        """The figures of which there is a data file, with the caption and the file that it was made from."""
        found = self.directory.glob(f"*{DATA}")
        return sorted(
            path.stem for path in found if all(path.with_suffix(suffix).is_file() for suffix in (".txt", ".toml"))
        )

    def recognised(self) -> set[str]:
        """The files of a report that is here, though no record tells of it, as an older version wrote none."""
        names = {path.name for id in self.ids() for path in self.directory.glob(f"{glob.escape(id)}.*")}
        with suppress(OSError, ValueError):
            if names and {"figures", "claims"} <= set(json.loads((self.directory / "summary.json").read_bytes())):
                names |= {"summary.json", "report.html"}
        return names

    def is_wanted(self, asked: About, notes: list[str]) -> bool:
        """Whether a figure is to be made, or the one that is here kept; BadInput if that would be lost."""
        there = self._about(asked.id)
        if there is None or self.overwrite:
            return True
        differences = _differences(there, asked)
        larger = asked.kind != "graph" and there.runs > asked.runs
        if larger and not differences and self.keep_larger and self._find(asked.id) is not None:
            notes.append(f"{asked.id} has {there.runs} runs, more than {asked.runs}, and is kept")
            return False
        if larger:
            differences.append(f"{there.runs} runs (asked for {asked.runs})")
        if differences:
            raise BadInput(f"out {str(self.directory)!r} holds {asked.id} with {', '.join(differences)}; {ELSE}")
        if there.version != asked.version:
            notes.append(f"{asked.id} was made by another version of byzmab, and is made anew")
        return True

    def put(self, data: FigureData) -> list[Path]:
        """Write a figure, unless another process has put one here meanwhile that would be lost."""
        with locked(self.directory):
            return write_figure(data, self.directory) if self.is_wanted(data.about, []) else []

    def others(self, asked: Sequence[Figure]) -> dict[str, FigureData]:
        """The figures here that were not asked for; BadInput if one of them cannot be read."""
        found: dict[str, FigureData] = {}
        lost = []
        for id in sorted({*self.ids()} - {figure.id for figure in asked}):
            data = self._find(id)
            if data is None:
                lost.append(id)
            else:
                found[id] = data
        if lost and not self.overwrite:
            names = " ".join(lost)
            raise BadInput(
                f"out {str(self.directory)!r} holds {names}, which cannot be read and would be missing in the report; "
                f"allowed: byzmab reproduce {names} first, another directory, or --overwrite"
            )
        return found

    def kept(self, asked: Sequence[Figure]) -> dict[str, FigureData]:
        """The figures here that were asked for."""
        found = {figure.id: self._find(figure.id) for figure in asked}
        return {id: data for id, data in found.items() if data is not None}

    def _find(self, id: str) -> FigureData | None:
        return self._read(id) or self._from_results(id)

    def _read(self, id: str) -> FigureData | None:
        try:
            return read_data(self.directory / f"{id}{DATA}")
        except BROKEN:
            return None

    def _about(self, id: str) -> About | None:
        """What a figure here was made from, by its data file or else by its caption; None if there is none."""
        data = self._read(id)
        if data is not None:
            return data.about
        stem = self.directory / id
        if not stem.with_suffix(DATA).exists() and not stem.with_suffix(".txt").exists():
            return None
        try:
            caption = stem.with_suffix(".txt").read_text(encoding="utf-8")
            source = stem.with_suffix(".toml").read_text(encoding="utf-8")
            sizes = {name: int(number) for name, number in SIZES.findall(caption)}
            return About(id, "", "", caption, source, sizes["runs"], sizes["seed"], sizes["horizon"], "")
        except BROKEN:
            if not stem.with_suffix(DATA).exists():  # it was killed while it put a new figure here
                return None
            raise BadInput(f"out {str(self.directory)!r} holds a figure {id} that cannot be read; {ELSE}") from None

    def _from_results(self, id: str) -> FigureData | None:
        """A figure of the paper whose data file is broken, or of an older version, if all of its runs are here."""
        with suppress(BadInput, *BROKEN):
            about = self._about(id)
            if about is None or id not in IDS:
                return None
            figure = read_figure(id, **about.sizes())
            store = ResultStore(self.directory / "results")
            if figure.source == about.source:
                return data_of(figure, {key: store.read(item) for key, item in figure.all_experiments().items()})
        return None


def _differences(there: About, asked: About) -> list[str]:
    """What two figures of one name differ in, but for the number of runs, in words."""
    differences = [] if there.source == asked.source else ["another file"]
    if asked.kind != "graph":
        for name in ("seed", "horizon"):
            if getattr(there, name) != getattr(asked, name):
                differences.append(f"{name} {getattr(there, name)} (asked for {getattr(asked, name)})")
    return differences
