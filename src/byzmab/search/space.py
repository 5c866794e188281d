"""The space that is searched: its coordinates, and the crafted attack that a point stands for."""

from collections.abc import Mapping
from dataclasses import dataclass

from byzmab.attacks.crafted import END, Crafted
from byzmab.core.errors import BadInput
from byzmab.core.liars import f_for
from byzmab.simulation.experiment import Experiment

Point = Mapping[str, float]  # one number for each coordinate

PLACES = ("best", "second", "others", "spared")
COUNTS = ("best_count", "second_count", "other_counts", "spared_count")
SILENT = -0.5  # the low end of counts: below 0 nothing is claimed, so that silence is easily found
LOUD = 2.0  # the high end
LOUDEST = 100.0  # what it stands for, as a multiple of the receiver's count
NEVER = 1.25  # the high end of the switch, in horizons: above 1 it never comes


@dataclass(frozen=True)
class Space:
    """All crafted attacks worth trying on an experiment."""

    f: int
    normal: int  # how many agents are normal
    horizon: int

    @classmethod
    def of(cls, experiment: Experiment) -> "Space":
        """The space for an experiment; BadInput where no attack can matter."""
        parts = experiment.parts
        if experiment.byzantine < 1:
            raise BadInput("byzantine 0 leaves nobody to attack; allowed: at least 1")
        if parts.baseline is None and not parts.filter.hears:
            raise BadInput(
                f"filter {experiment.filter!r} hears nobody, so that no attack matters; allowed: one that does"
            )
        return cls(f_for(parts.f, parts.agents - 1), parts.agents - experiment.byzantine, experiment.horizon)

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """From where to where each coordinate goes."""
        deepest = 2.0 * max(self.f, 1) + 1.0  # well behind the places that trimming takes
        return {
            **dict.fromkeys(PLACES, (END, deepest)),
            **dict.fromkeys(COUNTS, (SILENT, LOUD)),
            "share": (0.0, 1.0),
            "isolate": (0.0, float(self.normal)),
            "switch": (0.0, NEVER),
        }

    @property
    def known(self) -> dict[str, Point]:
        """Where attacks that are known lie."""
        nobody_spared = {"share": 1.0, "spared": END, "spared_count": 1.0, "isolate": 0.0, "switch": NEVER}
        second = float(max(self.f, 1))
        places, counts = PLACES[:3], COUNTS[:3]
        return {
            "extreme": dict.fromkeys(places, END) | dict.fromkeys(counts, 1.0) | nobody_spared,
            "adaptive": dict.fromkeys(places, second) | dict.fromkeys(counts, 1.0) | nobody_spared,
            "starve": dict.fromkeys(places, END) | dict.fromkeys(counts, SILENT) | nobody_spared,
        }

    def attack(self, point: Point) -> Crafted:
        """The attack that a point stands for, with no more digits than can matter."""
        return Crafted(
            **{name: round(point[name], 3) for name in (*PLACES, "share")},
            **{name: round(_times(point[name]), 3) for name in COUNTS},
            isolate=round(point["isolate"]),
            switch=round(point["switch"] * self.horizon),
        )


def _times(loudness: float) -> float:
    """Silence below 0, up to the receiver's own count from 0 to 1, then more and more of it."""
    return max(loudness, 0.0) if loudness <= 1.0 else float(LOUDEST ** ((loudness - 1.0) / (LOUD - 1.0)))
