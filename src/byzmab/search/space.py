"""The space that is searched: its branches, their coordinates, and the crafted attack that a point stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from byzmab.attacks import Attack
from byzmab.attacks.crafted import (
    ALL_ARMS,
    BESIDE,
    END,
    RANKS,
    RECEIVERS_ERRORS,
    SECOND_ONLY,
    SENDERS_ERRORS,
    Crafted,
)
from byzmab.attacks.greedy import Foresight, Greedy, Phased, Victim
from byzmab.core.liars import f_for
from byzmab.experiment.experiment import Experiment

Point = Mapping[str, float]  # one number for each coordinate

LIES = ("best", "second", "others", "spared")
COUNTS = ("best_count", "second_count", "other_counts", "spared_count")
RECEIVERS = ("share", "best_share", "isolate", "switch")  # what tells one receiver from another
PAUSE = ("pause", "resume")
UNAIMED = ("best", "others", "best_count", "other_counts", "best_share")  # what only the second best arm leaves out
SILENT = -0.5  # the low end of counts: below 0 nothing is claimed, so that silence is easily found
LOUD = 2.0  # the high end
LOUDEST = 100.0  # what it stands for, as a multiple of the receiver's count
NEVER = 1.25  # the high end of times, in horizons: above 1 they never come
TRIED = {"reach": 3.0, "pace": 0.01}  # of attacks that try out their lies, where a search begins
MOST_ERRORS = 6.0  # standard errors off the truth: no honest report is so far


class Family(Protocol):
    """What a search needs of a space; its branches are whatever it likes that is a key of a table."""

    @property
    def known(self) -> Mapping[str, tuple[Any, Point]]:
        """Where attacks with a name lie: a branch and a point."""

    @property
    def starts(self) -> Sequence[tuple[Any, Point]]:
        """All starts, those with a name first."""

    def bounds(self, branch: Any) -> Mapping[str, tuple[float, float]]:
        """From where to where each coordinate of a branch goes."""

    def attack(self, branch: Any, point: Point) -> Attack:
        """The attack that a point of a branch stands for."""


class Branch(NamedTuple):
    """A part of the family that is searched by itself: the unit of a lie, its receivers, its arms, how bold it is."""

    errors: int = RANKS
    common: int = 0
    target: int = ALL_ARMS
    careful: int = 0

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The parameters that matter in it."""
        left_out = (RECEIVERS if self.common else ()) + (UNAIMED if self.target == SECOND_ONLY else ())
        return tuple(name for name in (*LIES, *COUNTS, *RECEIVERS, *PAUSE) if name not in left_out)


PLAIN = Branch()

FORESEEING: dict[str, type[Foresight]] = {"greedy": Greedy, "phased": Phased, "victim": Victim}


class Foreseeing(NamedTuple):
    """Another part: lies tried out on the receiver's filter and policy; `kind` says which agents they strike."""

    kind: str
    careful: int = 0


class Start(NamedTuple):
    """Where a search begins: an attack that is known to hurt some filter."""

    branch: Branch | Foreseeing
    point: Point


@dataclass(frozen=True)
class Space:
    """All attacks worth trying on an experiment."""

    f: int
    normal: int  # how many agents are normal
    horizon: int
    audited: bool = False  # whether exposed Byzantine agents are expelled: then careful ones are tried as well

    @classmethod
    def of(cls, experiment: Experiment) -> "Space":
        """The space for an experiment without contexts."""
        parts = experiment.parts
        f, normal = f_for(parts.f, parts.agents - 1), parts.agents - parts.byzantine
        return cls(f, normal, experiment.horizon, parts.audits)

    def bounds(self, branch: Branch | Foreseeing) -> dict[str, tuple[float, float]]:
        """From where to where each coordinate of a branch goes."""
        if isinstance(branch, Foreseeing):
            struck = {"phased": {"rounds": (0.0, 1.0)}, "victim": {"victim": (0.0, 1.0)}}
            return {"reach": (0.2, MOST_ERRORS), "pace": (0.0, 0.1), **struck.get(branch.kind, {})}
        deepest = 2.0 * max(self.f, 1) + 1.0  # well behind the ranks that trimming takes
        every = {
            **dict.fromkeys(LIES, (END, deepest if branch.errors == RANKS else MOST_ERRORS)),
            **dict.fromkeys(COUNTS, (SILENT, LOUD)),
            **dict.fromkeys(("share", "best_share"), (0.0, 1.0)),
            "isolate": (0.0, float(self.normal)),
            **dict.fromkeys(("switch", *PAUSE), (0.0, NEVER)),
        }
        return {name: every[name] for name in branch.coordinates}

    @property
    def known(self) -> dict[str, Start]:
        """Where attacks with a name lie that are members of the family."""
        second = float(max(self.f, 1))
        return {
            "extreme": _start(PLAIN),
            "adaptive": _start(PLAIN, best=second, second=second, others=second),
            "starve": _start(PLAIN, **dict.fromkeys(COUNTS[:3], SILENT)),
        }

    @property
    def starts(self) -> tuple[Start, ...]:
        """All starts, those with a name first, then one or two for every other thing that the family can do.

        Where reports are audited, all of them with careful Byzantine agents come next, and the bold ones of the others
        come last.
        """
        known, others = tuple(self.known.values()), self._others
        careful = (Start(start.branch._replace(careful=1), start.point) for start in (*known, *others))
        return (*known, *(careful if self.audited else ()), *others)

    @property
    def _others(self) -> tuple[Start, ...]:
        """The starts without a name."""
        silent = {"second_count": SILENT, "other_counts": SILENT}
        errors = {"best": 1.5, "second": 1.5, "others": 1.5, "spared": 0.0}
        return (
            _start(PLAIN, **silent),  # low on the best arm, silent elsewhere
            _start(PLAIN, **silent, share=0.5),  # and half of the receivers told that the arms are poor
            _start(PLAIN, best=0.5, second=0.5, others=0.5),  # between the honest
            _start(Branch(RECEIVERS_ERRORS), **errors),  # nearly `alie`, whose deviation is about one such error
            _start(Branch(SENDERS_ERRORS), **errors),
            _start(Branch(common=1)),
            _start(Branch(SENDERS_ERRORS, common=1), **errors),
            _start(Branch(target=SECOND_ONLY), second=0.5),
            _start(Branch(RECEIVERS_ERRORS, target=SECOND_ONLY), second=1.5, spared=0.0),
            _start(Branch(BESIDE), **dict.fromkeys(LIES[:3], 0.5), spared=0.0),
            Start(Foreseeing("greedy"), TRIED),
            Start(Foreseeing("phased"), {**TRIED, "rounds": 0.5}),
            Start(Foreseeing("victim"), {**TRIED, "victim": 0.0}),
        )

    def attack(self, branch: Branch | Foreseeing, point: Point) -> Attack:
        """The attack that a point of a branch stands for, with no more digits than can matter."""
        if isinstance(branch, Foreseeing):
            return self._foreseeing(branch, point)
        numbers = {name: round(point[name], 3) for name in (*LIES, "share", "best_share") if name in point}
        counts = {name: round(times_of(point[name]), 3) for name in COUNTS if name in point}
        given: dict[str, Any] = {**numbers, **counts, **self._wholes(point), **branch._asdict()}
        return Crafted(**given)

    def _foreseeing(self, branch: Foreseeing, point: Point) -> Foresight:
        """An attack that tries out its lies; rounds go from 1 to the horizon, evenly in their logarithm."""
        given: dict[str, Any] = {"reach": round(point["reach"], 3), "pace": round(point["pace"], 4)}
        if branch.kind == "phased":
            given["rounds"] = round(self.horizon ** point["rounds"])
        if branch.kind == "victim":
            given["victim"] = 1 + min(int(point["victim"] * self.normal), self.normal - 1)
        return FORESEEING[branch.kind](**given, careful=branch.careful)

    def _wholes(self, point: Point) -> dict[str, int]:
        """The parameters that are whole numbers; a pause that ends before it begins is none."""
        scales = {"isolate": 1, "switch": self.horizon}
        found = {name: round(point[name] * scale) for name, scale in scales.items() if name in point}
        pause, resume = (round(point[name] ** 3 * self.horizon) for name in PAUSE)  # many early rounds to choose from
        return found | ({"pause": pause, "resume": resume} if pause < min(resume, self.horizon) else {})


def _start(branch: Branch, **given: float) -> Start:
    """A start of a branch; the harmful end of the scale to everyone all the time, where nothing else is given."""
    usual = dict.fromkeys(LIES, END) | dict.fromkeys(COUNTS, 1.0)
    usual |= {"share": 1.0, "best_share": 1.0, "isolate": 0.0, "switch": NEVER, "pause": 0.0, "resume": 0.0}
    return Start(branch, {name: given.get(name, usual[name]) for name in branch.coordinates})


def times_of(loudness: float) -> float:
    """Silence below 0, up to the receiver's own count from 0 to 1, then more and more of it."""
    return max(loudness, 0.0) if loudness <= 1.0 else float(LOUDEST ** ((loudness - 1.0) / (LOUD - 1.0)))
