"""The catalogue: every named part of an experiment, with what it does and the parameters it takes."""

from byzmab.core.plugins import Plugin
from byzmab.experiment.parts import ALGORITHMS, PLUGINS, RESILIENT
from byzmab.worlds import NAME, Replay

Entry = dict[str, str]


def _entry(plugin: type[Plugin]) -> Entry:
    """Return what a plug-in does and the parameters that people set; other fields are not theirs to set."""
    return {"about": (plugin.__doc__ or "").partition("\n")[0], "parameters": plugin.parameters}


def catalogue() -> dict[str, dict[str, Entry]]:
    """Names by kind."""
    kinds = {kind: {name: _entry(entry) for name, entry in PLUGINS[kind].entries.items()} for kind in PLUGINS}
    kinds["graph"]["FILE.json"] = {
        "about": "A graph in networkx's node-link format, nodes of any name.",
        "parameters": "",
    }
    kinds["rewards"][NAME] = _entry(Replay)
    kinds["algorithm"] = {RESILIENT: {"about": "The paper's own: the chosen filter and policy.", "parameters": ""}}
    kinds["algorithm"] |= {name: _entry(entry) for name, entry in ALGORITHMS.entries.items()}
    return kinds
