"""The tables that commands print."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from byzmab.cli.layout import Table, new_console, numbers, print_table, words
from byzmab.results.statistics import saving_in_words

if TYPE_CHECKING:
    from byzmab.comparison.play import Leaderboard
    from byzmab.paper.as_published import AsPublished
    from byzmab.paper.bounds import Bounds
    from byzmab.paper.claims import Claim
    from byzmab.paper.reproduction import FigureData
    from byzmab.results.result import Result
    from byzmab.search.judge import Judgement
    from byzmab.search.search import Search
    from byzmab.search.worst_cases import WorstCase
    from byzmab.simulation.compare import Comparison
    from byzmab.sweep.data import SweepData
    from byzmab.tournament.standings import Score, Standings


REGRET = "regret per honest agent at the horizon"


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def figures_table(figures: Mapping[str, "FigureData"]) -> None:
    """Print every curve's regret at the horizon."""
    columns = [*words("figure", "curve"), *numbers("runs", rank=2), *numbers("mean"), *numbers("stderr", rank=1)]
    table = Table(REGRET, columns, grouped=True)
    for id, data in figures.items():
        for label, regret in data.summary()["curves"].items():
            table.add(id, label, str(data.about.runs), *(_number(regret[key]) for key in ("mean", "stderr")))
    print_table(table)


def as_published_table(published: "AsPublished") -> None:
    """Print the regret of the published variant and of our reading."""
    table = Table(REGRET, [*words("variant"), *numbers("mean"), *numbers("stderr", rank=1)])
    for label, regret in published.summary()["curves"].items():
        table.add(label, *(_number(regret[key]) for key in ("mean", "stderr")))
    print_table(table)


def leaderboard_table(comparison: "Leaderboard") -> None:
    """Print what every algorithm did on every network, the smallest regret under its worst attack first."""
    from byzmab.comparison.table import HEADINGS, cells_of, sorted_rows

    columns = [
        *words("algorithm"),
        *words("constants", rank=3),
        *numbers("no attack", rank=1),
        *numbers("worst named", "worst found"),
        *numbers("messages", rank=2),
        *numbers("s", rank=4),
    ]
    for network in comparison.preset.networks:
        table = Table(str(network), columns)
        for row in sorted_rows(comparison, network):
            cells = dict(zip(HEADINGS, cells_of(row), strict=True))
            table.add(*(cells[column.heading] for column in columns))
        print_table(table)


def claims_table(claims: Mapping[str, "Claim"]) -> None:
    """Print the verdict on every claim, with its evidence."""
    headings = ("claim", "the paper says, and the test", "verdict", "mean and 95 % interval")
    table = Table("what the paper claims, and what we find", words(*headings), sentences=True)
    colors = {"holds": "green", "fails": "red", "inconclusive": "yellow"}
    for id, item in claims.items():
        evidence = "\n".join(str(number).replace("[", "\\[") for number in item.evidence)
        figures = (
            "; ".join(f"{id}: {about.in_words()}" for id, about in item.made_from.items())
            or "4000 drawn graphs for each q"
        )
        said = f"{item.statement}\n[dim]{item.test}\ndecided from {figures}[/dim]"
        table.add(id, said, f"[{colors[item.verdict]}]{item.verdict}[/]", evidence)
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
    columns = [
        *numbers("agent"),
        *numbers("neighbours", rank=2),
        *words("has 3f+1", rank=2),
        *numbers("lower-bound rate", rank=1),
        *numbers("measured regret"),
        *numbers("upper bound", rank=1),
        *numbers("upper bound with min over τ", rank=1),
    ]
    table = Table("; ".join(parts), columns)
    for agent in summary["agents"]:
        table.add(
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
    columns = [
        *words(*(name.replace("_", " ") for name in data.varied)),
        *numbers("regret"),
        *numbers("95 % interval", rank=1),
        *numbers("stderr", rank=2),
        *numbers("runs", rank=3),
    ]
    table = Table(REGRET, columns)
    for row in data.table.to_dict("records"):
        several = row["runs"] > 1
        interval = f"{row['low']:.2f} … {row['high']:.2f}" if several else "-"
        stderr = _number(row["stderr"] if several else None)
        names = (str(row[name]) for name in data.varied)
        table.add(*names, _number(row["mean"]), interval, stderr, str(row["runs"]))
    print_table(table)
    if "byzantine" in data.varied and data.audits:
        from byzmab.experiment.assumptions import EXPULSION

        print_wrapped(EXPULSION)


def standings_table(standings: "Standings") -> None:
    """Print the maps of a tournament, a table for each graph, and every filter's worst case."""
    from byzmab.experiment.assumptions import EXPULSION
    from byzmab.experiment.parts import audits_with
    from byzmab.tournament.draw import short
    from byzmab.tournament.field import Cell

    field = standings.field
    print_wrapped("Regret over that of solo, ± standard error. ! (red): above 1 by more than two standard errors.")
    columns = [
        *words("filter", "policy"),
        *numbers("worst"),
        *words("under"),
        *numbers(*map(short, field.attacks), rank=1),
    ]
    for agents in field.agents:
        for graph in field.graphs:
            table = Table(f"{agents} agents on {graph}", columns, grouped=True)
            for filter in field.filters:
                for policy in field.policies:
                    cells = [Cell(filter, policy, attack, graph, agents) for attack in field.attacks]
                    scores = [standings.scores[cell] for cell in cells]
                    worst = max(cells, key=lambda cell: _rank(standings.scores[cell]))
                    table.add(
                        filter, policy, _ratio(standings.scores[worst]), short(worst.attack), *map(_ratio, scores)
                    )
            print_table(table)
    columns = [*words("filter"), *numbers("worst", "above 1"), *words("policy", "attack", "graph"), *numbers("agents")]
    table = Table("every filter's worst case, and in how many cells it is above 1 for sure", columns)
    above = standings.above_solo()
    for cell in sorted(standings.worst().values(), key=lambda cell: standings.scores[cell].ratio):
        verdict = f"{len(above[cell.filter])} of {standings.cells_of(cell.filter)}"
        where = (cell.policy, short(cell.attack), cell.graph, str(cell.agents))
        table.add(cell.filter, _ratio(standings.scores[cell]), verdict, *where)
    print_table(table)
    if any(audits_with(filter, field.base.audit) for filter in field.filters):
        print_wrapped(EXPULSION)


def _rank(score: "Score") -> float:
    """Return the ratio for comparisons; one that does not exist comes last."""
    return -1.0 if score.ratio != score.ratio else score.ratio


def _ratio(score: "Score") -> str:
    error = "" if score.stderr is None else f" ±{score.stderr:.2f}"
    text = f"{score.ratio:.2f}{error}"
    return f"[red]{text}![/]" if score.surely_hurts else text


def judgement_table(search: "Search", judgement: "Judgement") -> None:
    """Print what the found attack does, and its regret beside that of every other."""
    from byzmab.search.words import in_words

    for sentence in in_words(search.attack, search.experiment):
        print(sentence)
    fresh = judgement.summary()
    title = f"regret per normal agent at the horizon, {fresh['runs']} runs on fresh seeds"
    locked = f"above {fresh['lock_in']:.0f}"
    columns = [
        *words("attack"),
        *numbers("regret"),
        *numbers("stderr", rank=3),
        *numbers("found exceeds it by", rank=1),
        *numbers("95 % interval", rank=2),
        *numbers(locked),
    ]
    table = Table(title, columns)
    for name, row in fresh["attacks"].items():
        excess = row.get("excess")
        told = (
            ("", "")
            if excess is None
            else (f"{excess['difference']:+.2f}", "{low:+.2f} to {high:+.2f}".format(**excess))
        )
        runs = str(row["locked"]["runs"])
        table.add(name, _number(row["regret"]["mean"]), _number(row["regret"]["stderr"]), *told, runs)
    print_table(table)


def _with_error(regret: Mapping[str, float]) -> str:
    """A mean and its standard error, without decimals where these would say nothing."""
    digits = 0 if regret["mean"] >= 100.0 else 1
    error = "" if regret["stderr"] is None else f" ±{regret['stderr']:.{digits}f}"
    return f"{regret['mean']:.{digits}f}{error}"


def worst_cases_table(cases: "Sequence[WorstCase]") -> None:
    """Print the worst cases of all filters, and the found attacks in full."""
    rows = [case.summary() for case in cases]
    runs = cases[0].judgement.found.experiment.runs
    title = f"worst regret, {runs} runs on fresh seeds, and how many of them locked in"
    columns = [
        *words("filter", "policy"),
        *numbers("solo", "worst with a name", "worst found"),
        *numbers("locked", rank=1),
    ]
    table = Table(title, columns)
    for row in rows:
        told = {key: _with_error(row[key]["regret"]) for key in ("solo", "named", "found")}
        locked = f"{row['named']['locked']['runs']}, {row['found']['locked']['runs']}"
        hurts = row["found_above_solo"]["low"] > 0.0
        found = f"[red]{told['found']}[/]" if hurts else told["found"]
        named = f"{row['named']['attack'].replace(':careful=1', '*')} {told['named']}"
        table.add(row["filter"], row["policy"], told["solo"], named, found, locked)
    print_table(table)
    if any(row["named"]["attack"].endswith("careful=1") for row in rows):
        print("* careful: liars tell nothing that an audit notices.")
    for row in rows:
        print(f"{row['filter']} {row['policy']}: {row['found']['attack']}")


def show_network(summary: Mapping[str, Any]) -> None:
    """Print what became of a network of nodes."""
    print_table(network_table(summary))


def network_table(summary: Mapping[str, Any]) -> Table:
    """Regret of every node beside its solo counterpart, and what the nodes found out about each other."""
    from byzmab.node.evidence import Lie

    regret = summary["regret"]
    title = f"regret after {summary['seconds']:.0f} s under the attack {summary['attack']}"
    if regret["regret"] is not None:
        title += f": {regret['regret']:.1f} per honest node, {regret['solo_regret']:.1f} solo"
    columns = [
        *words("agent"),
        *words("address", rank=3),
        *words("state", rank=1),
        *words("caught lying"),
        *numbers("decisions", rank=2),
        *numbers("regret", "solo"),
        *numbers("refused", rank=4),
        *numbers("expelled", rank=1),
    ]
    table = Table(title, columns)
    for row in summary["agents"]:
        caught = sorted({piece["against"] for piece in row["evidence"] if Lie(piece["kind"]).proves})
        table.add(
            f"{row['agent']}{' lies' if row['lies'] else ''}",
            row["url"],
            row["state"],
            ", ".join(caught),
            str(row["decisions"]),
            *(f"{row[key]:.1f}" for key in ("regret", "solo_regret")),
            str(sum(row["refusals"].values())),
            str(len(row["expelled"])),
            dim=row["lies"],
        )
    return table


def show_answer(result: "Result", solo: "Result | None") -> None:
    """Print regret, solo regret and the saving; then what was played; then, in a weaker colour, what it took."""
    console, experiment = new_console(), result.experiment
    summary = result.summary(solo)
    settings, parts = summary["experiment"], experiment.parts
    answer = [f"regret {_with_error(summary['regret'])} per honest agent"]
    if experiment.is_alone:
        answer.append("every agent is solo")
    if solo is not None:
        answer.append(f"solo {_with_error(summary['solo'])}")
    if summary["saving"] is not None:
        answer.append(saving_in_words(summary["saving"]))
    console.print("; ".join(answer), style="bold")
    filter, policy = experiment.algorithm_in_words()
    algorithm = filter if policy == "-" else f"{filter} with {policy}"
    liars = f"{parts.byzantine} of {parts.agents} agents Byzantine"
    about = f"{algorithm} against {settings['attack']} on {settings['graph']}: {liars}, {experiment.horizon:,} rounds"
    print_wrapped(f"{about}, {experiment.runs} run{'s' * (experiment.runs > 1)}")
    speed = summary["agent_steps_per_second"]
    took = f"{summary['messages']:,} messages of {_bytes(summary['bytes'])} in {summary['seconds']:.2f} s"
    console.print(took + ("" if speed is None else f", {speed / 1e6:.2g} million decisions a second"), style="dim")


def _bytes(count: int) -> str:
    """Return a number of bytes in the largest unit of which there is one."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def print_wrapped(text: str) -> None:
    """Print a sentence, wrapped at the width of the terminal."""
    console = new_console()
    for line in textwrap.wrap(text, console.width, break_on_hyphens=False):
        console.print(line)


def difference_table(results: Sequence[tuple[str, "Result"]], comparison: "Comparison") -> None:
    """Print two results, and what one differs from the other by."""
    columns = [
        *words("name"),
        *words("filter", "policy", "attack", "graph", rank=1),
        *numbers("regret"),
        *numbers("stderr", rank=1),
        *numbers("std", rank=3),
        *numbers("messages", rank=2),
    ]
    table = Table(REGRET, columns)
    for name, result in results:
        summary = result.summary()
        settings, regret = summary["experiment"], summary["regret"]
        table.add(
            name,
            *result.experiment.algorithm_in_words(),
            *(str(settings[key]) for key in ("attack", "graph")),
            *(_number(regret[key]) for key in ("mean", "stderr", "std")),
            f"{summary['messages']:,}",
        )
    print_table(table)
    verdict = "the interval excludes zero" if comparison.differs else "the interval holds zero: no difference is shown"
    print_wrapped(f"{results[0][0]} less {results[1][0]}: {comparison}, 95 % interval; {verdict}")
