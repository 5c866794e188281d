"""Who is compared, with which constants; and on which networks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from byzmab.attacks import ATTACKS
from byzmab.baselines import BASELINES
from byzmab.core import recommended
from byzmab.core.errors import BadInput, unknown
from byzmab.core.filters import FILTERS, Filter
from byzmab.core.plugins import import_named
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.parts import RESILIENT
from byzmab.search.search import space_of

Settings = Mapping[str, Any]  # of an experiment
WITHOUT_TRIMMING: Settings = {"f": 0}
BY_LIARS: Settings = {"f": None}  # as many as lie

ALONE = "solo"


@dataclass(frozen=True)
class Contestant:
    """An algorithm: how it was published, and what else is tried when its constants are tuned."""

    name: str
    published: Settings
    others: tuple[Settings, ...] = ()
    source: str = ""  # where the published constants are from
    knows: str = ""
    assumes: str = ""


class Network(NamedTuple):
    """Where they are compared."""

    agents: int
    byzantine: int
    arms: Any
    graph: str
    time_varying: bool

    def __str__(self) -> str:
        arms = self.arms.partition(":")[2] if isinstance(self.arms, str) else len(self.arms)
        varying = "time-varying " if self.time_varying else ""
        return f"{self.agents} agents, {self.byzantine} lie, {arms} arms, {varying}{self.graph}"


def _filter(name: str, filter: str, policy: str, others: tuple[str, ...], source: str, assumes: str) -> Contestant:
    """A filter of ours with its published policy and others."""
    published = {"algorithm": RESILIENT, "filter": filter, "policy": policy}
    tried = tuple({**published, "policy": other} for other in others)
    knows = "f" if FILTERS.resolve(filter).trims else "nothing"
    return Contestant(name, published, tried, source, knows, assumes)


def _baseline(name: str, published: str, others: tuple[str, ...], source: str, trims: bool = False) -> Contestant:
    """A baseline with published parameters and others; where it was published without trimming, that is tried too."""
    entry = BASELINES.entries[name.partition(" ")[0]]
    knows, assumes = (getattr(entry, about) for about in ("knows", "assumes"))
    first = {"algorithm": published, **(WITHOUT_TRIMMING if trims else {})}
    tried = [{"algorithm": other, **(BY_LIARS if trims else {})} for other in ((published,) if trims else ()) + others]
    tried += [{"algorithm": other, **WITHOUT_TRIMMING} for other in others if trims]
    return Contestant(name, first, tuple(tried), source, knows, assumes)


AS_GIVEN = "as given"  # the source of constants that are in no list
OURS_ASSUMES = "no proof"
NARROWER = ("ucb:1", "ucb:0.5", "ucb:0.2", "ucb:0.1", "moss")  # than UCB1's width: tried with every filter, and alone
WIDTHS = (*NARROWER, "tuned")
CONTESTANTS = {
    item.name: item
    for item in (
        _filter(ALONE, "solo", "ucb", WIDTHS, "UCB1", "nothing"),
        _filter("trimmed", "trimmed", "ucb", WIDTHS, "the paper", "3f + 1 neighbours, f of them lie"),
        _filter("pooled", "pooled", "ucb", WIDTHS, "byzmab", OURS_ASSUMES),
        _filter("screened", "screened", "tuned", NARROWER, "byzmab", OURS_ASSUMES),
        _filter(
            "guarded",
            recommended.FILTER,
            recommended.POLICY,
            tuple(policy for policy in NARROWER if policy != recommended.POLICY),
            "byzmab",
            "proven as guarded:proven=1 only",
        ),
        _baseline("consensus", "consensus", (), "Zhu & Liu 2021", trims=True),
        _baseline("coop-ucb", "coop-ucb:1", ("coop-ucb", "coop-ucb:0.5"), "ECC 2016", trims=True),
        _baseline("coop-ucb2", "coop-ucb2", ("coop-ucb2:1", "coop-ucb2:0.5"), "Landgren et al. 2016", trims=True),
        _baseline("dducb", "dducb", ("dducb:1", "dducb:0.5"), "authors' code", trims=True),
        _baseline(
            "gosine",
            "gosine",
            ("gosine:2,2", "gosine:1,2", "gosine:0.25,2"),
            "authors' code",
        ),
        _baseline("vial-2021", "vial-2021", ("vial-2021:2", "vial-2021:1", "vial-2021:0.25"), "MobiHoc 2021"),
        _baseline("vial-2022", "vial-2022", ("vial-2022:2", "vial-2022:1", "vial-2022:0.25"), "POMACS 2022"),
        _baseline("demabar", "demabar", ("demabar:16", "demabar:8", "demabar:4"), "after AAAI 2026, λ as BARBAT"),
        _baseline(
            "median-elimination",
            "median-elimination",
            ("median-elimination:constant=0", "median-elimination:groups=1"),
            "after NeurIPS 2022, TSP 2025",
        ),
        _baseline("mp-ucb", "mp-ucb", ("mp-ucb:0", "mp-ucb:-0.5"), "Madhushani et al. 2021"),
    )
}

FOUR = (0.5, 0.45, 0.4, 0.3)
GRAPHS = (("complete", False), ("erdos-renyi:0.5", False), ("erdos-renyi:0.5", True))


class Preset(NamedTuple):
    """How large a comparison is."""

    networks: tuple[Network, ...]
    attacks: tuple[str, ...]  # those with a name
    horizon: int
    runs: int
    trials: int  # of a search
    search_runs: int


PRESETS = {
    "small": Preset(
        tuple(Network(10, 2, FOUR, *graph) for graph in GRAPHS),
        ("constant", "extreme", "smart"),
        10_000,
        10,
        12,
        3,
    ),
    "full": Preset(
        tuple(
            Network(agents, liars, arms, *graph)
            for agents, liars in ((10, 2), (40, 4))
            for arms in (FOUR, "random:20")
            for graph in GRAPHS
        ),
        ("constant", "gaussian", "adaptive", "extreme", "starve", "mimic", "alie", "smart"),
        10_000,
        20,
        30,
        3,
    ),
}


def preset_of(
    name: str, networks: list[str] | None = None, attacks: list[str] | None = None, **sizes: int | None
) -> Preset:
    """A preset by its name, with some sizes changed, unless None; BadInput where there is none of that name.

    Of its networks, those whose description holds one of some words, if there are any; with other attacks, if given.
    """
    if name not in PRESETS:
        raise unknown("preset", name, list(PRESETS))
    changes: dict[str, Any] = {size: value for size, value in sizes.items() if value is not None}
    for size, value in changes.items():
        least = len(space_of(Experiment()).known) if size == "trials" else 1
        if value < least:
            raise BadInput(f"{size} {value} is not allowed; allowed: a whole number of at least {least}")
    if attacks:
        for attack in attacks:
            ATTACKS.resolve(attack)
        changes["attacks"] = tuple(attacks)
    preset = PRESETS[name]._replace(**changes)
    chosen = tuple(item for item in preset.networks if not networks or any(words in str(item) for words in networks))
    if not chosen:
        raise unknown("network", ", ".join(networks or ()), map(str, preset.networks))
    return preset._replace(networks=chosen)


def contestants_of(names: list[str] | None) -> list[Contestant]:
    """The contestants with some names, all of them for None; being alone is always among them.

    Other names are those of filters, of algorithms or filters with parameters, or a user's own as file.py:Name.
    """
    chosen = [item for name, item in CONTESTANTS.items() if not names or name in (ALONE, *names)]
    return chosen + [_given(name) for name in dict.fromkeys(names or ()) if name not in CONTESTANTS]


def _given(text: str) -> Contestant:
    """One that is not in the list: an algorithm with just these constants, or a filter with the policies of all."""
    name, colon, rest = text.partition(":")
    if not colon and name not in FILTERS.entries:
        raise BadInput(f"{unknown('algorithm', text, list(CONTESTANTS))}, or your own as file.py:Name")
    if name in FILTERS.entries or _is_filter(text, name, rest.partition(":")[0]):
        FILTERS.resolve(text)
        return _filter(text, text, "ucb", WIDTHS, AS_GIVEN, OURS_ASSUMES)
    algorithm = BASELINES.resolve(text)
    return Contestant(text, {"algorithm": text}, (), AS_GIVEN, algorithm.knows, algorithm.assumes)


def _is_filter(text: str, where: str, class_name: str) -> bool:
    """Whether a user's module has a filter of that name."""
    if where in BASELINES.entries:
        return False
    found = getattr(import_named(f"algorithm {text!r}", where), class_name, None)
    return isinstance(found, type) and issubclass(found, Filter)


def experiment_of(network: Network, settings: Settings, **size: Any) -> Experiment | str:
    """The experiment of a contestant on a network; in one sentence why not, where it makes no sense there.

    BadInput where nobody could play it, as by its seed.
    """
    everyones = Experiment(**network._asdict(), **size, record=1)
    try:
        return everyones.but(**settings)
    except BadInput as error:
        return str(error)


def constants(settings: Settings) -> str:
    """The constants of an experiment's settings, as they are written."""
    if settings["algorithm"] == RESILIENT:
        return f"{settings['filter']}, {settings['policy']}"
    return f"{settings['algorithm']}{', f = 0' if settings.get('f') == 0 else ''}"
