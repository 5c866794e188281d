"""Output directories: a command resumes its own work, and replaces nothing else unless it is told to.

Every directory that a command writes to holds RECORD, which says for each command what it made there and which files
are its own. Files are written under a temporary name and then renamed, so that a killed command leaves the old ones
whole.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from byzmab.core.errors import BadInput

RECORD = ".byzmab.json"
STORE = "points"  # the folder of finished runs, to which every command only adds
ELSE = "allowed: another directory, or --overwrite"
SHOWN = 3  # names, or differences, in a message


@dataclass(frozen=True)
class Work:
    """What a command makes in a directory.

    `same` holds the settings that have to be equal for it to be the same work. What is in `grows` may be more than
    there is, never less: numbers, collections of names, or mappings of them.
    """

    by: str  # the command, as "byzmab simulate"
    files: tuple[str, ...]  # those it may write, or patterns of them
    same: Mapping[str, Any] = field(default_factory=dict)
    grows: Mapping[str, Any] = field(default_factory=dict)

    def differs_from(self, there: "Work") -> list[str]:
        """What keeps this from being the same work or more of it, in words; nothing if it is."""
        (same, grows), (same_there, grows_there) = _plain(self), _plain(there)
        differences = [
            f"{_name(key)} {_short(value)} (asked for {_short(same.get(key))})"
            for key, value in same_there.items()
            if same.get(key) != value
        ]
        return differences + [words for key, value in grows_there.items() for words in _lost(key, grows, value)]


@dataclass(frozen=True)
class Output:
    """A directory that a command may write its files to."""

    directory: Path
    work: Work
    overwrite: bool
    adopted: frozenset[str]
    complete: bool = False  # whether the same work, or a part of it, was finished here before
    finished: bool = False  # whether all of it was

    @contextmanager
    def writing(self, became: Work | None = None, finished: bool = True) -> Iterator[Path]:
        """Let files be written, once no other process has put other work there meanwhile.

        `became` is what the work was in the end, if not as wanted.
        """
        became = self.work if became is None else became
        with locked(self.directory):
            self._claim(became)
            yield self.directory
            _record(self.directory, became, finished)

    def allows(self, became: Work) -> bool:
        """Whether some work, such as that of an interrupted command, may be written here."""
        try:
            with locked(self.directory):
                _check(self.directory, became, _read_record(self.directory), self.adopted)
        except BadInput:
            return self.overwrite
        return True

    def _claim(self, work: Work) -> "Output":
        """Reserve the names of the files, or BadInput; the directory with what is there."""
        there, complete = None, False
        if not self.overwrite:
            there, complete = _check(self.directory, work, _read_record(self.directory), self.adopted)
        finished = complete and there is not None and _plain(there) == _plain(work)
        if work.files and (not finished or there is None or not {*work.files} <= {*there.files}):
            _record(self.directory, work if there is None else replace(there, files=work.files), complete)
        return replace(self, complete=complete, finished=finished)


def open_output(path: str | Path, work: Work, overwrite: bool = False, adopted: Iterable[str] = ()) -> Output:
    """Open a directory for some work, and make it if it is not there.

    Parameters
    ----------
    path
        The directory.
    work
        What is to be made there.
    overwrite
        Whether files of other work may be replaced.
    adopted
        Files in it that the caller has recognised as its own.

    Raises
    ------
    BadInput
        If the directory cannot be written to, or holds something that is not this work.
    """
    output = Output(make_directory(path), work, overwrite, frozenset(adopted))
    with locked(output.directory):
        return output._claim(work)


def make_directory(path: str | Path) -> Path:
    """A directory that can be written to, or BadInput; tried before anything is computed."""
    directory = Path(path)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".byzmab-writable"
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(
            f"out {str(path)!r} cannot be written to: {error.strerror}; allowed: a directory of yours"
        ) from None
    return directory


def new_file(path: str | Path, overwrite: bool = False) -> Path:
    """A file that may be written, or BadInput if there is one already; a device or a pipe is written to as it is."""
    file = Path(path)
    if file.is_dir():
        raise BadInput(f"out {str(path)!r} is a directory; allowed: a file")
    if file.is_file() and not _is_device(file) and not overwrite:
        raise BadInput(f"out {str(path)!r} exists already; allowed: a new file, or --overwrite")
    return file


def write_bytes(file: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file that `new_file` allowed, in one or many pieces: whole or not at all, but for pipes and devices."""
    pieces = [content] if isinstance(content, bytes) else content
    with nullcontext(file) if _is_device(file) else in_place(file) as path, path.open("wb") as opened:
        opened.writelines(pieces)


def _is_device(file: Path) -> bool:
    """Whether it is a pipe or a device, as /dev/stdout is, whatever that leads to."""
    return file.is_relative_to("/dev") or (file.exists() and not file.is_file())


@contextmanager
def in_place(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; put in its place when all is written, so that no half file is ever seen."""
    unfinished = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise BadInput(f"file {str(path)!r} cannot be written: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> Path:
    """Write a text, whole or not at all; return the file."""
    with in_place(file) as path:
        path.write_text(text, encoding="utf-8")
    return file


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Wait until no other process of ours changes a directory, where the file system can tell."""
    with ExitStack() as stack:
        with suppress(OSError, ImportError):  # not every file system locks directories; renaming is safe even so
            import fcntl

            handle = os.open(directory, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _check(
    directory: Path, work: Work, made: Mapping[str, tuple[Work, bool]], adopted: frozenset[str]
) -> tuple[Work | None, bool]:
    """The part of the work that is there, and whether it was finished; BadInput if something else would be replaced."""
    visible = sorted(item.name for item in directory.iterdir() if not item.name.startswith("."))
    if not made and not adopted and visible and not (directory / STORE).is_dir():
        raise BadInput(
            f"out {str(directory)!r} holds {_some(visible)}, not made by this version of {work.by}; allowed: a new or "
            "an empty directory, or --overwrite"
        )
    owners = {name: by for by, (item, _) in made.items() for name in _existing(directory, item.files)}
    own = {name for name, by in owners.items() if by == work.by}
    taken = sorted(_existing(directory, work.files) - own - adopted)
    if taken:
        owner = owners.get(taken[0])
        whose = f"made by {owner}" if owner else f"not made by this version of {work.by}"
        raise BadInput(f"out {str(directory)!r} holds {_some(taken)}, {whose}; {ELSE}")
    if not own or not work.files:
        return None, False
    there, finished = made[work.by]
    differences = work.differs_from(there)
    if differences:
        raise BadInput(f"out {str(directory)!r} holds what {work.by} made with {_some(differences)}; {ELSE}")
    return there, finished


def _plain(work: Work) -> Any:
    """Work as JSON tells it again."""
    return json.loads(json.dumps([work.same, work.grows]))


def _existing(directory: Path, patterns: Iterable[str]) -> set[str]:
    """The files in a directory that some names or patterns stand for."""
    return {path.relative_to(directory).as_posix() for pattern in patterns for path in directory.glob(pattern)}


def _read_record(directory: Path) -> dict[str, tuple[Work, bool]]:
    """What commands have made in a directory, and whether each had finished."""
    path = directory / RECORD
    try:
        if not path.exists():
            return {}
        content = json.loads(path.read_bytes())
        return {
            by: (
                Work(by, tuple(map(str, item["files"])), dict(item["same"]), dict(item["grows"])),
                bool(item["finished"]),
            )
            for by, item in content.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(f"file {str(path)!r}, which says what the directory holds, cannot be read; {ELSE}") from None


def _record(directory: Path, work: Work, finished: bool) -> None:
    """Write down some work; files that it took over are no longer another command's."""
    try:
        made = _read_record(directory)
    except BadInput:  # we were told to overwrite
        made = {}
    others = {
        by: (Work(by, tuple(name for name in there.files if name not in work.files), there.same, there.grows), done)
        for by, (there, done) in made.items()
        if by != work.by
    }
    if work.by in made:
        work = replace(work, files=tuple(dict.fromkeys((*made[work.by][0].files, *work.files))))
    content = {
        by: {"files": item.files, "same": dict(item.same), "grows": dict(item.grows), "finished": done}
        for by, (item, done) in {**others, work.by: (work, finished)}.items()
    }
    write_text(directory / RECORD, json.dumps(content, indent=1))


def _lost(key: str, now: Mapping[str, Any], there: Any) -> list[str]:
    """What of a number, a list of names or a mapping would be lost, in words."""
    wanted = now.get(key)
    if isinstance(there, Mapping):
        inner = wanted if isinstance(wanted, Mapping) else {}
        left_out = sum(name not in inner for name in there)
        fewer = sum(name in inner and inner[name] < value for name, value in there.items())
        found = {f"{left_out} more {key}": left_out, f"more runs of {fewer} {key}": fewer}
        return [words for words, count in found.items() if count]
    if isinstance(there, list | tuple):
        missing = [str(item) for item in there if item not in (wanted or ())]
        return [f"{_name(key)} {_some(missing)} as well"] if missing else []
    if wanted is None:
        return [f"{_name(key)} as well"]
    return [f"{_name(key)} {there} (asked for {wanted})"] if wanted < there else []


def _name(key: str) -> str:
    return "code of version" if key == "version" else key.replace("_", " ")


def _short(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)
    return text if len(text) <= 32 else f"{text[:12]}…"


def _some(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
