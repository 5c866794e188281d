"""The measured tables of the tournament, of which filter to use, of the results and of audits, from one set of results.

    python -m benchmarks.tables --out tables                # all of them: hours of processor time
    python -m benchmarks.tables --out tables audits         # one group alone: tournament, worst or audits

A table stands between `<!-- table NAME, by python -m benchmarks.tables -->` and `<!-- end of table -->`. Below it stand
the date, the version and the sizes. An interrupted command resumes from --out. `--dry` prints and writes nothing.
"""

import argparse
import datetime
import re
from pathlib import Path

import byzmab
from byzmab import Experiment, ResultStore, run_sweep
from byzmab.attacks import ATTACKS
from byzmab.core import recommended
from byzmab.results.statistics import describe
from byzmab.search import contestants, worst_cases
from byzmab.simulation.progress import progress_bar
from byzmab.tournament.draw import short
from byzmab.tournament.field import Cell, read_field
from byzmab.tournament.standings import play

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / name for name in ("tournament.md", "which-filter.md", "results.md", "concepts/filters.md")]
TABLE = re.compile(r"(<!-- table ([a-z-]+), by python -m benchmarks\.tables -->\n).*?(<!-- end of table -->)", re.S)
BOTH = {"filter": recommended.FILTER, "policy": recommended.POLICY}
TEN = {"agents": 10, "byzantine": 2, "f": 2, **BOTH}


def markdown(headings, rows, sizes):
    """Return a table with what it was measured with below."""
    lines = [headings, ["---"] * len(headings), *rows]
    measured = f"*byzmab {byzmab.__version__}, {datetime.date.today():%Y-%m-%d}; {sizes}.*"
    return "\n".join(["", *(f"| {' | '.join(line)} |" for line in lines), "", measured, "", ""])


def shown(mean, stderr, digits=1):
    """Return a mean and its standard error."""
    return f"{mean:.{digits}f}" if stderr is None else f"{mean:.{digits}f} ± {stderr:.{digits}f}"


def tournament(store, sizes, workers):
    """Play the preset: the worst case of every filter, and that of the recommended one by graph and policy."""
    field = read_field(None, {**sizes, "byzantine": 2})
    with progress_bar("playing") as progress:
        standings = play(field, store, workers=workers, progress=progress)
    scores, above = standings.scores, standings.above_solo()
    worst = []
    for name, cell in sorted(standings.worst().items(), key=lambda item: scores[item[1]].ratio):
        ratio = shown(scores[cell].ratio, scores[cell].stderr, 2)
        where = f"{cell.graph}, {cell.agents} agents"
        verdict = f"{len(above[name])} of {standings.cells_of(name)}"
        worst.append([f"`{name}`", ratio, f"`{cell.policy}`", f"`{short(cell.attack)}`", where, verdict])
    rows = []
    for graph in field.graphs:
        for agents in field.agents:
            row = [f"{graph}, {agents}"]
            for policy in field.policies:
                cells = [Cell(recommended.FILTER, policy, attack, graph, agents) for attack in field.attacks]
                score = max((scores[cell] for cell in cells), key=lambda score: score.ratio)
                row.append(shown(score.ratio, score.stderr, 2))
            rows.append(row)
    about = f"{field.base.runs} runs, {field.base.horizon:,} rounds, seed {field.base.seed}"
    headings = ["filter", "regret over solo", "with", "against", "on", "cells above 1 by two standard errors"]
    return {
        "tournament": markdown(headings, worst, about),
        "tournament-recommended": markdown(["graph, agents", *(f"`{name}`" for name in field.policies)], rows, about),
    }


def worst(store, sizes, workers):
    """Search against every filter: solo, the worst attack with a name and the worst that was found."""
    base = Experiment(agents=10, byzantine=2, **{"runs": 200, "seed": 1, **sizes})
    with progress_bar("searching") as progress:
        cases = worst_cases(base, contestants(), store=store, progress=progress, workers=workers)
    rows = []
    for case in (case.summary() for case in cases):
        regret = {key: shown(*(case[key]["regret"][name] for name in ("mean", "stderr"))) for key in ("solo", "found")}
        named = shown(*(case["named"]["regret"][name] for name in ("mean", "stderr")))
        locked = ", ".join(str(case[key]["locked"]["runs"]) for key in ("named", "found"))
        contestant = f"`{case['filter']}`, `{case['policy']}`"
        rows.append([contestant, regret["solo"], f"{named} (`{case['named']['attack']}`)", regret["found"], locked])
    headings = ["filter, policy", "solo", "worst attack with a name", "worst found", "runs locked in: named, found"]
    about = f"{base.runs} runs, {base.horizon:,} rounds, searched and judged on different seeds"
    return {"worst-cases": markdown(headings, rows, about)}


def audits(store, sizes, workers):
    """Play every attack with a name against the recommended filter: without audit, with it, and careful."""
    base = Experiment(**TEN, **{"runs": 60, "seed": 77, "record": 1, **sizes})
    variants = {
        name: [base.but(attack=name, audit=False), base.but(attack=name), base.but(attack=f"{name}:careful=1")]
        for name in ATTACKS.entries
        if name != "crafted"
    }
    with progress_bar("playing") as progress:
        run_sweep([point for row in variants.values() for point in row], store, workers=workers, progress=progress)
    rows = []
    for name, points in variants.items():
        found = [describe(store.read(point).network_regret[:, -1]) for point in points]
        rows.append([f"`{name}`", *(shown(item["mean"], item["stderr"]) for item in found)])
    headings = ["attack", "without audit", "with audit", "with audit, careful"]
    about = f"`{BOTH['filter']}` with `{BOTH['policy']}`, {base.runs} runs, {base.horizon:,} rounds, seed {base.seed}"
    return {"audits": markdown(headings, rows, about)}


GROUPS = {"tournament": tournament, "worst": worst, "audits": audits}


def write(tables):
    """Put tables in their places; those that were not made stay as they are."""
    for page in PAGES:
        text = page.read_text()
        new = TABLE.sub(
            lambda found: f"{found[1]}{tables[found[2]]}{found[3]}" if found[2] in tables else found[0], text
        )
        if new != text:
            page.write_text(new)
            print(f"wrote {page.relative_to(DOCS.parent)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="all if none is given")
    parser.add_argument("--out", default="tables", help="directory of results")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--horizon", type=int)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--dry", action="store_true", help="print the tables and write nothing")
    chosen = parser.parse_args()
    sizes = {name: getattr(chosen, name) for name in ("runs", "horizon") if getattr(chosen, name) is not None}
    store = ResultStore(chosen.out)
    for group in chosen.groups or GROUPS:
        tables = GROUPS[group](store, sizes, chosen.workers)
        if chosen.dry:
            print(*tables.values(), sep="\n")
        else:
            write(tables)


if __name__ == "__main__":
    main()
