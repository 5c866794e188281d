"""Set-ups: the texts that the page sends, checked and made an experiment, and the description of it."""

import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from byzmab.core import recommended
from byzmab.core.errors import BadInput, unknown
from byzmab.core.liars import f_as_given
from byzmab.dashboard.lab.work import check_work, seconds_of
from byzmab.experiment.assumptions import too_few_neighbours, too_many_liars
from byzmab.experiment.context_settings import USUAL, WITHOUT
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.files import to_toml
from byzmab.experiment.parts import ALGORITHMS, PLUGINS, RESILIENT
from byzmab.experiment.settings import ABOUT, SWITCHES, from_text, to_text
from byzmab.simulation.sizes import COMFORTABLE_BYTES, bytes_of, context_bytes
from byzmab.testbed.provision import draw_graph

MOST = {"agents": 60, "arms": 50, "runs": 500, "record": 1000, "context": 20}  # that a page can show
ALLOWED = {  # where the lab accepts less than a command does
    "arms": f"two or more means in [0, 1] with commas between them, or random:M with M from 2 to {MOST['arms']}",
    **{name: f"a whole number from 1 to {MOST[name]}" for name in ("runs", "record", "context")},
}
FILES = (".csv", ".json", ".npz")
ELSEWHERE = "byzmab simulate has no such limit"
AT_CONTEXTS = {**recommended.AT_CONTEXTS, "horizon": "2000", "runs": "8"}  # what is played within seconds
Texts = Mapping[str, str]  # setting → its text, as a flag would hold it


def read_setup(texts: Texts) -> Experiment:
    """Return the experiment of a set-up, or BadInput whose sentence begins with the setting that is wrong.

    The sentence offers only what the lab accepts.
    """
    try:
        return _read_setup(texts)
    except BadInput as error:
        wrong, offers, _ = str(error).partition("; allowed: ")
        setting = wrong.partition(" ")[0]
        if offers and setting in ALLOWED:
            raise BadInput(f"{wrong}{offers}{ALLOWED[setting]}; {ELSEWHERE}") from None
        raise


def _read_setup(texts: Texts) -> Experiment:
    for name, text in texts.items():
        if name not in ABOUT:
            raise unknown("setting", name, ABOUT)
        if name == "algorithm":
            _check_registered(name, text.strip())
        elif name in PLUGINS:
            chosen = from_text(name, text.strip())
            for item in chosen if isinstance(chosen, list) else [chosen]:
                _check_registered(name, item)
    settings = {name: from_text(name, text.strip()) for name, text in texts.items()}
    if str(settings.get("arms", "")).partition(":")[0].endswith(FILES):  # nor read a file
        raise BadInput(f"arms {texts['arms']!r} is not what the lab shows; allowed: means, or random:M; {ELSEWHERE}")
    _check_counts({name: settings[name] for name in MOST if isinstance(settings.get(name), int)})
    experiment = Experiment(**settings)
    if not isinstance(experiment.byzantine, int):
        raise BadInput(f"byzantine {texts['byzantine']!r} is not what the lab shows; allowed: a number; {ELSEWHERE}")
    _check_size(experiment)
    return experiment


def _check_registered(kind: str, text: str) -> None:
    """BadInput unless a plug-in is registered: a link must not make a machine import or read a file."""
    name = text.partition(":")[0]
    known = [RESILIENT, *ALGORITHMS.entries] if kind == "algorithm" else PLUGINS[kind].entries
    if name not in known:
        raise unknown(kind, name, known)


def _check_counts(counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        if count > MOST[name]:
            raise BadInput(f"{name} {count} are too many for the lab; allowed: up to {MOST[name]}; {ELSEWHERE}")


def _check_size(experiment: Experiment) -> None:
    parts, runs = experiment.parts, experiment.runs
    _check_counts({"agents": parts.agents, "arms": parts.arms})
    check_work(experiment, ELSEWHERE)
    others, at_contexts = bytes_of(experiment), context_bytes(experiment)
    need = (others + at_contexts) * runs
    if need > COMFORTABLE_BYTES:
        what = f"memory {experiment.memory} with tell {experiment.tell}"
        if at_contexts > others:
            what = f"context {experiment.context} with {parts.arms} arms"
        raise BadInput(
            f"{what} takes {need / 1e6:.0f} MB for {runs} runs "
            f"at once; allowed in the lab: what fits into {COMFORTABLE_BYTES / 1e6:.0f} MB; {ELSEWHERE}"
        )


def fragment_of(setups: str) -> str:
    """Return the end of the address that opens set-ups, given as `filter=mean&f=1|filter=trimmed`, or BadInput."""
    settings = [dict(pair.partition("=")[::2] for pair in setup.split("&") if pair) for setup in setups.split("|")]
    for texts in settings:
        read_setup(texts)
    return "#" + "|".join(urlencode(texts) for texts in settings)


def texts_of(experiment: Experiment) -> dict[str, str]:
    """The settings that are not as usual, as text."""
    values = {name: getattr(experiment, name) for name in ABOUT}
    return {name: to_text(value) for name, value in values.items() if value != getattr(Experiment, name)}


def usual() -> dict[str, str]:
    """Every setting as it is if not given; empty where it follows from others."""
    values = {name: getattr(Experiment, name) for name in ABOUT}
    return {name: "" if value is None else to_text(value) for name, value in values.items()}


def first_view() -> dict[str, str]:
    """The set-up that is shown first: the recommended one."""
    return {"f": recommended.F, "filter": recommended.FILTER, "policy": recommended.POLICY}


def at_contexts() -> dict[str, Any]:
    """What a page offers when contexts are switched on: what is then meant, and what goes with contexts or only so."""
    return {"settings": AT_CONTEXTS, "only": list(USUAL), "not": [*WITHOUT, "audit"]}


def command_of(experiment: Experiment) -> str:
    """The line that plays the experiment in a shell."""
    words = ["byzmab", "simulate"]
    for name, text in texts_of(experiment).items():
        flag = f"--{name.replace('_', '-')}"
        switch = flag if text == "true" else f"--no-{flag[2:]}"  # time_varying, when it is told, is true
        words += [switch] if name in SWITCHES else [flag, text]
    return shlex.join(words)


def python_of(experiment: Experiment) -> str:
    """The program that plays the experiment."""
    return f"import byzmab\n\nresult = byzmab.simulate(byzmab.{experiment!r})\nprint(result)\n"


def describe(experiment: Experiment) -> dict[str, Any]:
    """What the page shows of a set-up before it is played."""
    parts = experiment.parts
    return {
        "agents": parts.agents,
        "arms": parts.arms,
        "means": parts.means,
        "context": experiment.context,
        "byzantine": experiment.parts.byzantine,
        "f": f_as_given(parts.f),
        "horizon": experiment.horizon,
        "runs": experiment.runs,
        "words": [word for word in experiment.algorithm_in_words() if word != "-"],
        "steps": parts.baseline is None,
        "random_graph": parts.graph.random,
        "edges": edges_of(experiment),
        "work": seconds_of(experiment),
        "warning": too_many_liars(experiment) or too_few_neighbours(experiment),
        "toml": to_toml(experiment),
        "command": command_of(experiment),
        "python": python_of(experiment),
    }


def edges_of(experiment: Experiment) -> list[tuple[int, int]]:
    """The edges (teller, hearer), agents numbered from 1, as they are drawn in the first round of the first run."""
    parts = experiment.parts
    heard = draw_graph(parts.graph, parts.agents, experiment.parts.byzantine, experiment.seed)
    return [(teller + 1, hearer + 1) for hearer, tellers in enumerate(heard) for teller in tellers]
