"""The catalogue: every named part of an experiment, with what it does and the parameters it takes."""

from byzmab.baselines import BASELINES
from byzmab.core.plugins import Plugin
from byzmab.simulation.experiment import PLUGINS, RESILIENT

Entry = dict[str, str]


def _entry(plugin: type[Plugin]) -> Entry:
    return {"about": (plugin.__doc__ or "").partition("\n")[0], "parameters": plugin.allowed()}


def catalogue() -> dict[str, dict[str, Entry]]:
    """Names by kind."""
    kinds = {kind: {name: _entry(entry) for name, entry in PLUGINS[kind].entries.items()} for kind in PLUGINS}
    kinds["graph"]["FILE.json"] = {
        "about": "A graph in networkx's node-link format, agents numbered from 1.",
        "parameters": "",
    }
    kinds["algorithm"] = {RESILIENT: {"about": "The paper's own: the chosen filter and policy.", "parameters": ""}}
    kinds["algorithm"] |= {name: _entry(entry) for name, entry in BASELINES.entries.items()}
    return kinds
