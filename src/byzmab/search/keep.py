"""What a search leaves behind: the attack as a plug-in file, the numbers and the figures."""

import glob
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from byzmab.attacks import ALL_ATTACKS, Attack
from byzmab.experiment.experiment import Experiment
from byzmab.results.figure import STYLES, draw_band, dress, new_axes, save_figure
from byzmab.results.outputs import Work, make_directory, write_text
from byzmab.search.judge import ALONE, FOUND, Judgement
from byzmab.search.search import RUNS, TRIALS, Search
from byzmab.search.words import in_words
from byzmab.search.worst_cases import RUNS as RUNS_EACH
from byzmab.search.worst_cases import TRIALS as TRIALS_EACH
from byzmab.search.worst_cases import Contestant, WorstCase
from byzmab.sweep.identity import what_determines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = (FOUND, "extreme", "adaptive", "starve")
FILES = ("found.py", "search.json", "search.png", "search.pdf", "regret.png", "regret.pdf")  # of one search
WIDTH = 116  # of lines in the plug-in file

PLUGIN = '''"""Found: {title}.

What it does, i being the receiver and n its own count:

{words}

How it was found:

{how}

byzmab simulate --attack found.py:Found plays it; {module} explains the parameters.
"""

from dataclasses import dataclass

from byzmab.attacks import ATTACKS
from {module} import {family}


@dataclass(frozen=True)
class Found({family}):
    """The attack that hurt {against} most in {trials} trials."""

{parameters}
'''


def save_search(search: Search, directory: str | Path, judgement: Judgement | None = None) -> list[Path]:
    """Write found.py, search.json and the figures to a directory that is there; the files written.

    Files of these names, such as those of an earlier search, are replaced.
    """
    directory = Path(directory)
    files = [
        write_text(directory / "found.py", plugin_of(search)),
        write_text(directory / "search.json", json.dumps(summary(search, judgement), indent=2)),
    ]
    files += save_figure(draw_search(search), directory / "search")
    if judgement is not None:
        files += save_figure(draw_judgement(judgement), directory / "regret")
    return files


def save_worst_cases(cases: list[WorstCase], directory: str | Path) -> list[Path]:
    """Write worst-cases.json, and what each search found to a folder of its own; the files written."""
    directory = Path(directory)
    files = []
    for case in cases:
        folder = make_directory(directory / _folder(case.contestant))
        files.append(save_search(case.search, folder, case.judgement)[0])
    found = json.dumps([case.summary() for case in cases], indent=2)
    return [*files, write_text(directory / "worst-cases.json", found)]


def work_of(experiment: Experiment, how: Mapping[str, Any], found: Search | None = None) -> Work:
    """What a search makes in its directory; an interrupted one may be followed by any with as many trials."""
    trials = how.get("trials", TRIALS)
    same = {**_same(experiment, how, ("attack",)), "trials": trials, "search_runs": how.get("runs", RUNS)}
    if found is not None and found.interrupted:
        trials = len(found.trials)
        del same["trials"]
    grows = {"runs": experiment.runs, "trials_made": trials}
    return Work("byzmab attack search", FILES, same, grows)


def work_of_worst_cases(experiment: Experiment, how: Mapping[str, Any], contestants: Sequence[Contestant]) -> Work:
    """What searches against several filters make in their directory; more filters may be added."""
    sizes = {"trials": how.get("trials", TRIALS_EACH), "search_runs": how.get("runs", RUNS_EACH)}
    same = {**_same(experiment, how, ("attack", *Contestant._fields)), **sizes}
    names = [_folder(item) for item in contestants]
    files = ["worst-cases.json", *(f"{glob.escape(name)}/{file}" for name in names for file in FILES)]
    grows = {"runs": experiment.runs, "filters": names}
    return Work("byzmab attack search --all-filters", tuple(files), same, grows)


def _same(experiment: Experiment, how: Mapping[str, Any], without: Sequence[str]) -> dict[str, Any]:
    """The settings that have to be equal for a search to be the same."""
    settings = {name: value for name, value in what_determines(experiment).items() if name not in without}
    return settings | {name: how.get(name) for name in ("goal", "lock_in", "restarts", "optimizer")}


def _folder(contestant: Contestant) -> str:
    return "-".join(contestant).replace(":", "-").replace("/", "-")


def plugin_of(search: Search) -> str:
    """The source of a plug-in file with the attack that was found."""
    attack, experiment, trials = search.attack, search.experiment, len(search.trials)
    against = _against(experiment)
    settings = ", ".join(f"{name} = {value!r}" for name, value in _settings(experiment).items())
    how = (
        f"Regret {search.best.regret:.1f} after {experiment.horizon} rounds, the worst by the goal {search.goal} in "
        f"{trials} trials of {search.runs} runs each, optimizer {search.optimizer}, {search.restarts} restarts, seed "
        f"{experiment.seed}. The experiment: {settings}."
    )
    return PLUGIN.format(
        title=f"an attack on {against}, made by byzmab attack search",
        words="\n".join(_wrap(words, "- ") for words in in_words(attack, experiment)),
        how=_wrap(_plain(how), ""),
        against=against,
        trials=trials,
        module=type(attack).__module__,
        family=type(attack).__name__,
        parameters="\n".join(
            f"    {name}: {type(value).__name__} = {value}" for name, value in _parameters(attack).items()
        ),
    )


def summary(search: Search, judgement: Judgement | None = None) -> dict[str, Any]:
    """The object of `byzmab attack search --json`."""
    experiment, attack = search.experiment, search.attack
    return {
        "experiment": _settings(experiment),
        "attack": {
            "name": ALL_ATTACKS.name_of(attack),
            "parameters": _parameters(attack),
            "about": in_words(attack, experiment),
        },
        "search": {
            "goal": search.goal,
            "lock_in": search.lock_in,
            "optimizer": search.optimizer,
            "restarts": search.restarts,
            "seed": experiment.seed,
            "runs": search.runs,
            "trials": len(search.trials),
            "interrupted": search.interrupted,
            "regret": search.best.regret,
            "worth": search.best.worth,
            "known": search.known,
            "regrets": [trial.regret for trial in search.trials],
            "seconds": search.seconds,
        },
        "fresh": None if judgement is None else judgement.summary(),
    }


def draw_search(search: Search) -> "Axes":
    """Every trial's regret, the worst so far, and the attacks known before."""
    axes = new_axes()
    numbers = range(1, len(search.trials) + 1)
    regrets = [trial.regret for trial in search.trials]
    worst = [max(regrets[:number]) for number in numbers]
    axes.plot(numbers, regrets, ".", color="#999999", markersize=3, label="trials")
    axes.step(numbers, worst, where="post", color=STYLES[0][0], linewidth=1.8, label="worst so far")
    for (name, regret), (color, dashes) in zip(search.known.items(), STYLES[1:], strict=False):
        axes.axhline(regret, color=color, linestyle=dashes, linewidth=1.2, label=name)
    axes.set_xlabel("trial")
    axes.set_ylabel("regret at the horizon")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)  # above, where nothing is hidden
    return axes


def draw_judgement(judgement: Judgement) -> "Axes":
    """Regret over time under the found attack, under those it grew from, and alone."""
    axes = new_axes()
    drawn = [name for name in DRAWN if name in judgement.results]
    if judgement.worst_named not in drawn:
        drawn.append(judgement.worst_named)
    for name in (*drawn, ALONE):
        result = judgement.results[name]
        draw_band(axes, result.rounds, result.network_regret, name, alone=name == ALONE)
    dress(axes, judgement.found.experiment.horizon)
    return axes


def _settings(experiment: Experiment) -> dict[str, Any]:
    """The settings without the attack, which is what was searched."""
    return {name: value for name, value in experiment.settings().items() if name != "attack"}


def _parameters(attack: Attack) -> dict[str, float]:
    return {item.name: getattr(attack, item.name) for item in fields(attack)}


def _against(experiment: Experiment) -> str:
    return _plain(" with ".join(word for word in experiment.algorithm_in_words() if word != "-"))


def _plain(text: str) -> str:
    """A text with nothing in it that would end a docstring: names may be paths with strange signs."""
    return text.replace("\\", "/").replace('"', "'")


def _wrap(text: str, mark: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark))
