"""The table of a comparison, in Markdown, one for each network, and the data as JSON."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

from byzmab.comparison.contestants import Contestant, Network, Preset
from byzmab.comparison.play import Leaderboard, Outcome, Row
from byzmab.results.outputs import Work, write_text
from byzmab.sweep.identity import algorithm_version

HEADINGS = (
    "algorithm",
    "constants",
    "no attack",
    "worst named",
    "worst found",
    "messages",
    "bytes",
    "s",
    "knows",
    "assumes",
)
FIGURE = ("comparison.png", "comparison.pdf")
NUMBERS = ("no attack", "worst named", "worst found", "messages", "bytes", "s")


def work_of(contestants: Sequence[Contestant], preset: Preset, seed: int) -> Work:
    """What a comparison makes in its directory; runs, attacks, networks and algorithms may be added to it."""
    same = {"seed": seed, "version": algorithm_version()}
    same |= {name: getattr(preset, name) for name in ("horizon", "trials", "search_runs")}
    grows = {
        "runs": preset.runs,
        "attacks": list(preset.attacks),
        "networks": list(map(str, preset.networks)),
        "algorithms": [item.name for item in contestants],
    }
    return Work("byzmab compare-algorithms", ("comparison.md", "comparison.json", *FIGURE), same, grows)


def sorted_rows(comparison: Leaderboard, network: Network) -> list[Row]:
    """The rows of a network, the smallest regret under the worst attack first, those not played last."""
    rows = [row for row in comparison.rows if row.network == network]
    return sorted(rows, key=lambda row: math.inf if row.worst is None else row.worst.mean)


def cells_of(row: Row) -> list[str]:
    """A row of the table, in the order of the headings."""
    name = row.contestant.name if row.kind == "published" else f"{row.contestant.name}, tuned"
    needs = [row.contestant.knows, row.contestant.assumes]
    if row.cost is None:
        return [name, row.constants, *["–"] * len(NUMBERS), *needs]
    outcomes = [_shown(row.without), _shown(row.named, named=True), _shown(row.found)]
    cost = [f"{row.cost.messages:,.0f}", f"{row.cost.bytes:,.0f}", f"{row.cost.seconds:.2f}"]
    return [name, row.constants, *outcomes, *cost, *needs]


def _shown(outcome: Outcome | None, named: bool = False) -> str:
    if outcome is None:
        return "–"
    attack = f" {outcome.attack}" if named else ""
    return f"{outcome.mean:.1f} ± {outcome.stderr:.1f}{attack}"


def to_markdown(comparison: Leaderboard) -> str:
    """One table for each network, the smallest regret under the worst attack first; then why some were not played."""
    preset = comparison.preset
    lines = [
        f"Horizon {preset.horizon}, {preset.runs} runs, seed {comparison.seed}; mean ± standard error of the regret "
        f"per normal agent. Named attacks: {', '.join(preset.attacks)}. Search: {preset.trials} trials of "
        f"{preset.search_runs} runs. Messages, bytes and seconds are of a run without attack."
    ]
    for network in preset.networks:
        rows = sorted_rows(comparison, network)
        ruler = ["---:" if heading in NUMBERS else "---" for heading in HEADINGS]
        lines += ["", f"## {network}", "", *map(_line, (HEADINGS, ruler, *map(cells_of, rows)))]
        reasons = dict.fromkeys(f"- `{row.contestant.name}`: {row.reason}" for row in rows if row.reason)
        lines += ["", "Not played:", "", *reasons] if reasons else []
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write_tables(comparison: Leaderboard, directory: Path) -> list[Path]:
    """The tables as Markdown, and all numbers as JSON."""
    return [
        write_text(directory / "comparison.md", to_markdown(comparison)),
        write_text(directory / "comparison.json", json.dumps(comparison.summary(), indent=2) + "\n"),
    ]
