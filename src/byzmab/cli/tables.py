"""The tables that commands print."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from byzmab.cli.layout import new_table, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from byzmab.comparison.play import Leaderboard
    from byzmab.paper.as_published import AsPublished
    from byzmab.paper.bounds import Bounds
    from byzmab.paper.claims import Claim
    from byzmab.paper.reproduction import AnyFigure
    from byzmab.search.judge import Judgement
    from byzmab.search.search import Search
    from byzmab.search.worst_cases import WorstCase
    from byzmab.simulation.compare import Comparison
    from byzmab.simulation.result import Result
    from byzmab.sweep.data import SweepData
    from byzmab.tournament.standings import Score, Standings


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def figures_table(figures: Mapping[str, "AnyFigure"]) -> None:
    """Print every curve's regret at the horizon."""
    table = new_table("regret per normal agent at the horizon", ("figure", "curve"), ("runs", "mean", "stderr"))
    for id, data in figures.items():
        for label, numbers in data.summary()["curves"].items():
            table.add_row(id, label, str(data.about.runs), *(_number(numbers[key]) for key in ("mean", "stderr")))
    print_table(table)


def as_published_table(published: "AsPublished") -> None:
    """Print the regret of the published variant and of our reading."""
    table = new_table("regret per normal agent at the horizon", ("variant",), ("mean", "stderr"))
    for label, numbers in published.summary()["curves"].items():
        table.add_row(label, *(_number(numbers[key]) for key in ("mean", "stderr")))
    print_table(table)


def leaderboard_table(comparison: "Leaderboard") -> None:
    """Print what every algorithm did on every network, the smallest regret under its worst attack first."""
    from byzmab.comparison.table import HEADINGS, cells_of, sorted_rows

    shown = [heading for heading in HEADINGS if heading not in ("knows", "assumes", "bytes")]
    for network in comparison.preset.networks:
        table = new_table(str(network), shown[:2], shown[2:])
        for row in sorted_rows(comparison, network):
            cells = dict(zip(HEADINGS, cells_of(row), strict=True))
            table.add_row(*(cells[heading] for heading in shown))
        print_table(table)


def claims_table(claims: Mapping[str, "Claim"]) -> None:
    """Print the verdict on every claim, with its evidence."""
    headings = ("claim", "the paper says, and the test", "verdict", "mean and 95 % interval")
    table = new_table("what the paper claims, and what we find", headings, (), sentences=True)
    colors = {"holds": "green", "fails": "red", "inconclusive": "yellow"}
    for id, item in claims.items():
        evidence = "\n".join(str(number).replace("[", "\\[") for number in item.evidence)
        figures = (
            "; ".join(f"{id}: {about.in_words()}" for id, about in item.made_from.items())
            or "4000 drawn graphs for each q"
        )
        said = f"{item.statement}\n[dim]{item.test}\ndecided from {figures}[/dim]"
        table.add_row(id, said, f"[{colors[item.verdict]}]{item.verdict}[/]", evidence)
    print_table(table)


def bounds_table(bounds: "Bounds") -> None:
    """Print the theorems' numbers per normal agent."""
    summary = bounds.summary()
    parts = [f"UCB1's bound {summary['ucb1_bound']:.1f}", f"3f+1 = {summary['needed_neighbours']} neighbours"]
    if summary["chance_of_enough"] is not None:
        parts.append(f"p(q), the chance that all have them, {summary['chance_of_enough']:.4g}")
    if bounds.experiment.parts.tell.keeps:
        measured = "" if summary["arms_told"] is None else f", measured {summary['arms_told']:.1f}"
        parts.append(f"arms told over an edge: at most {summary['most_arms_told']:.1f}{measured}")
    headings = ("agent", "neighbours", "3f+1", "lower-bound rate", "measured regret", "upper bound", "with min over τ")
    table = new_table("; ".join(parts), (), headings)
    for agent in summary["agents"]:
        table.add_row(
            str(agent["agent"]),
            f"{agent['neighbours']:g}",
            "yes" if agent["meets_3f_plus_1"] else "no",
            f"{agent['lower_rate']:.3f}",
            *(_number(agent[key], 1) for key in ("regret", "upper_bound", "upper_bound_min_tau")),
        )
    print_table(table)
    if summary["why_no_upper_bound"] is not None:
        print(f"no upper bound: {summary['why_no_upper_bound']}")


def sweep_table(data: "SweepData") -> None:
    """Print the regret of every point of a sweep, with its bootstrap interval."""
    headings = ("regret", "95 % interval", "stderr", "runs")
    table = new_table(
        "regret per normal agent at the horizon", [name.replace("_", " ") for name in data.varied], headings
    )
    for row in data.table.to_dict("records"):
        several = row["runs"] > 1
        interval = f"{row['low']:.2f} … {row['high']:.2f}" if several else "-"
        numbers = _number(row["mean"]), interval, _number(row["stderr"] if several else None), str(row["runs"])
        table.add_row(*(str(row[name]) for name in data.varied), *numbers)
    print_table(table)


def standings_table(standings: "Standings") -> None:
    """Print the maps of a tournament, a table for each graph, and every filter's worst case."""
    from byzmab.tournament.field import Cell

    field = standings.field
    print("Regret over that of solo, ± standard error;")
    print("* the filter's worst case, ! (red) worse than alone.")
    for agents in field.agents:
        worst = set(standings.worst(agents=agents).values())
        for graph in field.graphs:
            table = new_table(f"{agents} agents on {graph}", ("filter", "policy"), field.attacks)
            for filter in field.filters:
                for policy in field.policies:
                    cells = [Cell(filter, policy, attack, graph, agents) for attack in field.attacks]
                    table.add_row(filter, policy, *(_ratio(standings.scores[cell], cell in worst) for cell in cells))
                table.add_section()
            print_table(table)
    table = new_table(
        "every filter's worst case; above: in how many cells it is above 1 by more than two standard errors",
        ("filter", "policy", "attack", "graph", "agents"),
        ("regret over solo", "above"),
    )
    above = standings.above_solo()
    for cell in sorted(standings.worst().values(), key=lambda cell: standings.scores[cell].ratio):
        verdict = f"{len(above[cell.filter])} of {standings.cells_of(cell.filter)}"
        table.add_row(*map(str, cell), _ratio(standings.scores[cell], False), verdict)
    print_table(table)


def _ratio(score: "Score", worst: bool) -> str:
    error = "" if score.stderr is None else f" ±{score.stderr:.2f}"
    text = f"{score.ratio:.2f}{error}{'*' if worst else ''}"
    return f"[red]{text}![/]" if score.hurts else text


def judgement_table(search: "Search", judgement: "Judgement") -> None:
    """Print what the found attack does, and its regret beside that of every other."""
    from byzmab.search.words import in_words

    for sentence in in_words(search.attack, search.experiment):
        print(sentence)
    fresh = judgement.summary()
    title = f"regret per normal agent at the horizon, {fresh['runs']} runs on fresh seeds"
    locked = f"above {fresh['lock_in']:.0f}"
    table = new_table(title, ("attack",), ("regret", "stderr", "found exceeds it by", "95 % interval", locked))
    for name, row in fresh["attacks"].items():
        excess = row.get("excess")
        told = (
            ("", "")
            if excess is None
            else (f"{excess['difference']:+.2f}", "{low:+.2f} to {high:+.2f}".format(**excess))
        )
        runs = str(row["locked"]["runs"])
        table.add_row(name, _number(row["regret"]["mean"]), _number(row["regret"]["stderr"]), *told, runs)
    print_table(table)


def _with_error(regret: Mapping[str, float]) -> str:
    """A mean and its standard error, without decimals where these would say nothing."""
    digits = 0 if regret["mean"] >= 100.0 else 1
    return f"{regret['mean']:.{digits}f} ±{regret['stderr']:.{digits}f}"


def worst_cases_table(cases: "Sequence[WorstCase]") -> None:
    """Print the worst cases of all filters, and the found attacks in full."""
    rows = [case.summary() for case in cases]
    runs = cases[0].judgement.found.experiment.runs
    title = f"worst regret, {runs} runs on fresh seeds, and how many of them locked in"
    table = new_table(title, ("filter", "policy"), ("solo", "worst with a name", "worst found", "locked"))
    for row in rows:
        told = {key: _with_error(row[key]["regret"]) for key in ("solo", "named", "found")}
        locked = f"{row['named']['locked']['runs']}, {row['found']['locked']['runs']}"
        hurts = row["found_above_solo"]["low"] > 0.0
        found = f"[red]{told['found']}[/]" if hurts else told["found"]
        named = f"{row['named']['attack'].replace(':careful=1', '*')} {told['named']}"
        table.add_row(row["filter"], row["policy"], told["solo"], named, found, locked)
    print_table(table)
    if any(row["named"]["attack"].endswith("careful=1") for row in rows):
        print("* careful: liars tell nothing that an audit notices.")
    for row in rows:
        print(f"{row['filter']} {row['policy']}: {row['found']['attack']}")


def show_network(summary: Mapping[str, Any]) -> None:
    """Print what became of a network of nodes."""
    print_table(network_table(summary))


def network_table(summary: Mapping[str, Any]) -> "Table":
    """Regret of every node beside its solo counterpart, and what the nodes found out about each other."""
    from byzmab.node.evidence import Lie

    regret = summary["regret"]
    title = f"regret after {summary['seconds']:.0f} s under the attack {summary['attack']}"
    if regret["regret"] is not None:
        title += f": {regret['regret']:.1f} per honest node, {regret['solo_regret']:.1f} solo"
    headings = ("decisions", "regret", "solo", "refused", "expelled")
    table = new_table(title, ("agent", "address", "state", "caught lying"), headings)
    for row in summary["agents"]:
        caught = sorted({piece["against"] for piece in row["evidence"] if Lie(piece["kind"]).proves})
        table.add_row(
            f"{row['agent']}{' lies' if row['lies'] else ''}",
            row["url"],
            row["state"],
            ", ".join(caught),
            str(row["decisions"]),
            *(f"{row[key]:.1f}" for key in ("regret", "solo_regret")),
            str(sum(row["refusals"].values())),
            str(len(row["expelled"])),
            style="dim" if row["lies"] else None,
        )
    return table


def regret_table(results: Sequence[tuple[str, "Result"]]) -> None:
    """Print regret at the horizon, one row for each result."""
    named = any(name for name, _ in results)
    table = new_table(
        "regret per normal agent at the horizon",
        [*(["name"] if named else []), "filter", "policy", "attack", "graph"],
        ["regret", "std", "stderr", "messages", "seconds", "M steps/s"],
    )
    for name, result in results:
        summary = result.summary()
        settings, regret = summary["experiment"], summary["regret"]
        table.add_row(
            *([name] if named else []),
            *result.experiment.algorithm_in_words(),
            *(str(settings[key]) for key in ("attack", "graph")),
            *(_number(regret[key]) for key in ("mean", "std", "stderr")),
            f"{summary['messages']:,}",
            f"{summary['seconds']:.2f}",
            f"{summary['agent_steps_per_second'] / 1e6:.2f}",
        )
    print_table(table)


def difference_table(results: Sequence[tuple[str, "Result"]], comparison: "Comparison") -> None:
    """Print two results, and what one differs from the other by."""
    regret_table(results)
    verdict = "the interval excludes zero" if comparison.differs else "the interval holds zero: no difference is shown"
    print(f"{results[0][0]} less {results[1][0]}: {comparison}, 95 % interval; {verdict}")
