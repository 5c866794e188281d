"""The lab behind its page: set-ups, playing in frames, and rounds looked into."""

import asyncio
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl

import naive
import numpy as np
import pytest
from command import run_byzmab

pytest.importorskip("litestar")

from litestar.testing import TestClient

from byzmab import Experiment, Heard, simulate
from byzmab.cli import lab
from byzmab.core.differences import AUTO
from byzmab.core.draws import fold
from byzmab.core.filters import FILTERS
from byzmab.core.policies import POLICIES
from byzmab.core.policies.base import argmax_at_random
from byzmab.core.report import Belief
from byzmab.dashboard.lab.desk import Desk, menu
from byzmab.dashboard.lab.examples import examples
from byzmab.dashboard.lab.playing import Playing
from byzmab.dashboard.lab.round_view import fates_of, index_of, step, view_round
from byzmab.dashboard.lab.routes import make_app
from byzmab.dashboard.lab.sampled_run import SampledRun
from byzmab.dashboard.lab.seats import AT_ONCE, Busy
from byzmab.dashboard.lab.setup import command_of, edges_of, fragment_of, python_of, read_setup, texts_of
from byzmab.experiment.assumptions import why_no_bound
from byzmab.experiment.files import read_experiment
from byzmab.paper.bounds import measure
from byzmab.paper.figures import IDS, alone, read_figure
from byzmab.results.statistics import saved_interval
from byzmab.simulation.density import is_dense
from byzmab.simulation.single_run import Run
from byzmab.testbed.provision import FIRST_PORT

SMALL = {"agents": "6", "byzantine": "1", "horizon": "300", "runs": "4"}
ODD = {
    "arms": "0.9,0.5,0.45",
    "byzantine": "1",
    "kappa": "1.1,1.3,1.5",
    "graph": "edges:4:1-2,2-3,3>4,1-4,2-4",
    "attack": "alie:2.0",
    "rewards": "bernoulli,beta:4.0",
    "horizon": "50",
    "runs": "2",
    "time_varying": "true",
    "subset": "2",
    "memory": "3",
}


@pytest.fixture(scope="module")
def client():
    with TestClient(make_app()) as client:
        yield client


def events_of(text):
    """The server-sent events of a stream."""
    for block in text.replace("\r\n", "\n").strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        yield fields["event"], json.loads(fields["data"])


# --- set-ups -----------------------------------------------------------------------------------------------


def test_the_command_plays_the_very_set_up_in_a_shell(tmp_path):
    experiment = read_setup(ODD)
    command = f"{command_of(experiment)} --json"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PATH": path}, timeout=120
    )
    assert json.loads(done.stdout)["experiment"] == experiment.settings(), done.stderr


def test_the_experiment_file_is_the_set_up(client, tmp_path):
    answer = client.post("/lab/check", json={"settings": ODD}).json()
    (tmp_path / "experiment.toml").write_text(answer["toml"])
    assert read_experiment(tmp_path / "experiment.toml").settings() == read_setup(ODD).settings()


@pytest.mark.filterwarnings("ignore:f = ")
def test_the_program_plays_the_very_set_up():
    made = {}
    exec(python_of(read_setup(ODD)), made)
    assert made["result"].experiment.settings() == read_setup(ODD).settings()


def test_texts_are_read_as_they_are_written():
    assert read_setup(texts_of(read_setup(ODD))) == read_setup(ODD)


def test_a_set_up_is_described(client):
    answer = client.post("/lab/check", json={"settings": {"graph": "firms", "f": "3"}}).json()
    assert (answer["agents"], answer["byzantine"], answer["f"], len(answer["edges"])) == (10, 2, 3, 48)
    assert "needs 7 neighbours" in answer["warning"]
    assert answer["command"] == "byzmab simulate --f 3 --graph firms"


def test_after_an_upgrade_no_browser_shows_files_that_it_kept(client):
    for path in ("/", "/contexts", "/static/lab.js", "/static/style.css"):
        assert client.get(path).headers["cache-control"] == "no-cache"


def test_a_random_graph_is_shown_as_the_first_run_draws_it():
    experiment = read_setup({"graph": "erdos-renyi:0.4", "filter": "solo", "delay": "1"})
    played = Run(experiment.but(filter="trimmed", delay=0), 0)
    played.advance(1)
    starts, graph = played.state.graph_starts, played.state.graph
    assert [teller for teller, hearer in edges_of(experiment) if hearer == 4] == [
        name + 1 for name in graph[starts[3] : starts[4]]
    ]


@pytest.mark.parametrize(
    ("settings", "setting", "says"),
    [
        ({"arms": "0.5"}, "arms", "two or more means"),
        ({"arms": "0.5,x"}, "arms", "means in"),
        ({"arms": "means.csv"}, "arms", r"M from 2 to 50; byzmab simulate has no such limit$"),  # no file is offered
        ({"algorithm": "mine.py:Own"}, "algorithm", r"vial-2022$"),
        ({"agents": "ten"}, "agents", "whole number"),
        ({"byzantine": "10"}, "byzantine", "leaves no normal agent"),
        ({"byzantine": "3,5"}, "byzantine", "not what the lab shows; allowed: a number"),
        ({"f": "-1"}, "f", "at least 0|from 0"),
        ({"kappa": "2"}, "kappa", r"\[1, 2\)"),
        ({"graph": "complte"}, "graph", "did you mean 'complete'"),
        ({"graph": "erdos-renyi:2"}, "graph", "0 to 1"),
        ({"graph": "edges:4:1-9"}, "graph", "the number of agents"),
        ({"agents": "9", "graph": "firms"}, "agents", "does not fit"),
        ({"attack": "alie:x"}, "attack", "standard deviations"),
        ({"rewards": "coin"}, "rewards", "known"),
        ({"rewards": "beta,mine.py:Own"}, "rewards", "not known"),
        ({"time_varying": "maybe"}, "time_varying", "true or false"),
        ({"agents": "61"}, "agents", "up to 60"),
        ({"agents": "2000000000"}, "agents", "up to 60"),  # before anything of that size is made
        ({"graph": "edges:70:1-2"}, "agents", "up to 60"),
        ({"arms": "random:51"}, "arms", "from 2 to 50"),
        ({"runs": "501"}, "runs", "from 1 to 500"),
        ({"horizon": "100000000"}, "horizon", "hours of work; allowed in the lab: about 4 minutes, here up to"),
        ({"arms": "random:50", "agents": "60", "filter": "screened"}, "horizon", "of work"),  # few choices, much work
        ({"memory": "100000", "subset": "3", "horizon": "100000", "runs": "100"}, "memory", "MB"),
        ({"policy": "os:path"}, "policy", "not known"),  # nothing is imported
        ({"filter": "mine.py:Own"}, "filter", "not known"),
        ({"graph": "/etc/hostname.json"}, "graph", "not known"),  # nothing is read
        ({"colour": "red"}, None, "not known"),
    ],
)
def test_bad_input_is_told_with_the_setting_that_is_wrong(client, settings, setting, says):
    problem = client.post("/lab/check", json={"settings": settings}).json()["problem"]
    assert problem["setting"] == setting
    assert re.search(says, problem["detail"])
    for path, more in (("/lab/run", {}), ("/lab/step", {"run": 1, "round": 1, "agent": 3})):
        answer = client.post(path, json={"settings": settings, **more})
        assert (answer.status_code, answer.json()) == (400, problem)


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"settings": {"f": 1}}', b'{"settings": {}, "more": 1}'])
def test_a_body_that_is_no_set_up_is_refused(client, body):
    answer = client.post("/lab/check", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["detail"]


def test_examples_are_the_papers_figures_two_stories_and_contexts():
    found = {example["name"]: example["setups"] for example in examples()}
    assert [*found] == [*IDS, "ads", "relays", "contexts"]
    assert all(read_setup(setup["settings"]).context == 5 for setup in found["contexts"])
    for id in IDS:
        expected = list(read_figure(id).experiments.values())
        assert [read_setup(setup["settings"]) for setup in found[id]] == expected
    for story in ("ads", "relays"):
        experiment = read_experiment(Path(__file__).parents[2] / "examples" / f"{story}.toml")
        shown = [read_setup(setup["settings"]).settings() for setup in found[story]]
        assert shown == [experiment.but(filter=filter).settings() for filter in ("trimmed", "mean", "guarded")]
        assert shown[-1] == experiment.settings()


def test_a_page_may_run_scripts_of_its_own_server_alone(client):
    for path in ("/", "/static/lab.js", "/plotly.js", "/lab/menu"):
        answer = client.get(path)
        assert answer.status_code == 200
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["script-src"] == policy["connect-src"] == "'self'"
        assert policy["default-src"] == "'none'"
        assert "unsafe-inline" not in policy["style-src"]


def test_plotly_is_sent_compressed_to_whoever_takes_it_so(client):
    small = client.get("/plotly.js", headers={"accept-encoding": "gzip"})
    whole = client.get("/plotly.js", headers={"accept-encoding": "identity"})
    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in whole.headers
    assert small.content == whole.content
    assert 2 * int(small.headers["content-length"]) < len(whole.content)


def test_the_lab_has_a_port_that_no_network_takes():
    assert lab.PORT < FIRST_PORT


# --- playing -----------------------------------------------------------------------------------------------


def test_frames_add_up_to_what_simulate_gives(client):
    experiment = read_setup({**SMALL, "record": "40"})
    name, *events = events_of(client.post("/lab/run", json={"settings": {**SMALL, "record": "40"}}).text)
    assert name[0] == "begin"
    # with a cold cache it says first what it compiles
    assert [name for name, _ in events if name != "compiling"] == ["frame"] * 50 + ["end"]
    frames = [data for name, data in events if name == "frame"]
    result, solo = simulate(experiment), simulate(alone(experiment))
    assert [r for frame in frames for r in frame["rounds"]] == result.rounds.tolist()
    for key, whole in (("regret", result), ("solo", solo)):
        for statistic, value in (("mean", whole.network_regret.mean(0)), ("std", whole.network_regret.std(0, ddof=1))):
            assert [x for frame in frames for x in frame[key][statistic]] == pytest.approx(value, abs=6e-4)
    shares = result.pull_values.sum(axis=2).mean(axis=(0, 1)) / 300
    assert frames[-1]["shares"] == pytest.approx(shares)
    assert frames[-1]["messages"] == result.message_counts.mean()


@pytest.mark.parametrize("settings", [{}, {"graph": "firms", "agents": "10", "byzantine": "2", "f": "1"}])
def test_the_bound_is_that_of_byzmab_bounds(settings):
    experiment = read_setup({**SMALL, **settings, "kappa": "random", "runs": "1"})
    sampled = SampledRun(experiment)
    for until in (1, 7, 100, 101, 300):
        sampled.advance(until)
    assert sampled.bound == pytest.approx(measure(experiment).plain[0].mean(axis=0))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, ""),
        ({"filter": "solo"}, ""),
        ({"filter": "pooled"}, "filter trimmed"),
        ({"policy": "tuned"}, "policy ucb"),
        ({"algorithm": "consensus"}, "filter trimmed"),
        ({"delay": "1"}, "delay"),
        ({"f": "1"}, "smaller than the number of liars"),
        ({"f": "1", "graph": "firms"}, ""),  # nobody hears more than one
    ],
)
def test_no_bound_is_shown_where_none_is_proved(settings, reason):
    assert (reason in (found := why_no_bound(read_setup(settings)))) and bool(found) == bool(reason)


def test_trims_are_counted_over_every_report_of_the_sampled_rounds():
    experiment = read_setup({**SMALL, "attack": "extreme", "f": "1"})
    sampled = SampledRun(experiment)
    sampled.advance(300)
    assert sampled.looked == 40
    totals = [sum(counts.values()) for counts in sampled.counts()]
    assert totals == [40 * 4 * 5, *[40 * 4 * 4] * 5]  # rounds × arms × normal agents that hear it
    trimmed = [counts["trimmed"] / total for counts, total in zip(sampled.counts(), totals, strict=True)]
    assert trimmed[0] > 0.95  # always an extreme; in the first rounds honest agents say 0 or 1 as well
    assert np.mean(trimmed[1:]) == pytest.approx(1 / 4, abs=0.02)  # on the other side, one of four honest ones


@pytest.mark.parametrize("algorithm", ["consensus", "coop-ucb2"])
def test_baselines_are_played_without_fates(algorithm):
    *_, update = Playing(read_setup({**SMALL, "algorithm": algorithm})).updates()
    assert (update["done"], update["looked"], update["bound"]) == (300, 0, [])


def test_whoever_hangs_up_ends_the_game():
    async def hang_up():
        desk = Desk()
        game = desk.read({"horizon": "300000", "runs": "10"})
        stream = desk.play(game)
        names = [(await anext(stream))[0]]
        while names[-1] != "frame":
            name, frame = await anext(stream)
            names.append(name)
        await stream.aclose()
        return game, names, frame

    game, names, frame = asyncio.run(hang_up())
    assert names[0] == "begin"
    assert frame["done"] < 300_000
    assert list(game.updates()) == []


def test_the_limit_of_games_at_once_holds_before_the_first_event_and_a_lost_stream_frees_its_seat():
    desk = Desk()
    streams = [desk.play(desk.read(SMALL)) for _ in range(AT_ONCE)]  # nobody has read a word of them
    with pytest.raises(Busy, match="3 experiments are being played already"):
        desk.play(desk.read(SMALL))
    streams.pop()  # its reader hung up before it began
    streams.append(desk.play(desk.read(SMALL)))

    async def read(stream):
        return [name async for name, _ in stream][-1]

    assert asyncio.run(read(streams[0])) == "end"
    desk.play(desk.read(SMALL))  # in the seat of the one that ended


def test_a_quick_game_ends_where_the_whole_one_does():
    *_, quick = Playing(read_setup(SMALL), quick=True).updates()
    *_, whole = Playing(read_setup(SMALL)).updates()
    for name in ("done", "solo", "saved", "shares"):
        assert quick[name] == whole[name] if name != "solo" else quick[name]["mean"][-1] == whole[name]["mean"][-1]
    assert (quick["fates"], quick["bound"], quick["looked"]) == ([], [], 0)


def test_alone_is_the_same_policy_alone_and_what_is_saved_is_paired():
    texts = {**SMALL, "policy": "tuned", "runs": "8"}
    *_, last = Playing(read_setup(texts)).updates()
    together, solo = (
        simulate(read_setup({**texts, **more})).network_regret[:, -1] for more in ({}, {"filter": "solo"})
    )
    assert last["solo"]["mean"][-1] == pytest.approx(solo.mean(), abs=6e-4)
    found = saved_interval(together, solo)
    assert last["saved"] == pytest.approx({"mean": found.mean, "low": found.low, "high": found.high})


def test_one_run_has_no_interval_that_json_cannot_hold():
    *_, last = Playing(read_setup({**SMALL, "runs": "1"})).updates()
    assert (last["saved"]["low"], last["saved"]["high"]) == (None, None)


def test_names_come_with_parameters_that_are_allowed_and_crafted_with_none():
    kinds = json.loads(menu())["kinds"]
    shown = {name: entry["example"] for kind in ("graph", "attack") for name, entry in kinds[kind].items()}
    assert shown["erdos-renyi"] == "0.8" and shown["two-case"] == "4-5" and shown["ring"] == "4"
    assert shown["crafted"] == ""
    for kind in ("graph", "attack", "filter", "policy"):
        for name, entry in kinds[kind].items():
            at = {} if entry["without"] else {"context": "3", "arms": "random:3"}
            if kind != "graph" or name != "edges":
                read_setup({**at, kind: f"{name}:{entry['example']}".rstrip(":")})
            if entry["is_default"]:
                plain, full = (read_setup({**at, kind: text}).parts for text in (name, f"{name}:{entry['example']}"))
                assert getattr(plain, kind) == getattr(full, kind)


def test_the_page_is_served_before_the_simulator_is_imported():
    """In a process of its own: nothing of the engine is loaded when the first answer is there."""
    code = (
        "import sys\n"
        "from byzmab.dashboard.lab.routes import make_app\n"
        "app = make_app()\n"
        "assert not [name for name in sys.modules if name.startswith(('byzmab.engine', 'byzmab.experiment.experiment'))]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_menu_and_a_set_up_with_its_graph_are_told_before_the_loop_is_compiled():
    """In a process of its own: no module is loaded that compiles when it is imported."""
    code = (
        "import sys\n"
        "from byzmab.dashboard.lab.desk import Desk, menu\n"
        "menu()\n"
        "assert len(Desk().check({'graph': 'ring:4'})['edges']) == 40\n"
        "assert not [name for name in sys.modules if name.startswith(('byzmab.engine.round', 'byzmab.simulation.single_run'))]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dense_graphs_are_stepped_through_with_every_report():
    """From 48 agents on the engine orders reports once for all, and lists none of honest agents."""
    experiment = Experiment(agents=50, byzantine=2, f=2, attack="extreme", horizon=30, runs=1)
    assert is_dense(experiment)
    told = step(experiment, 1, 30, 10)
    assert [report["agent"] for report in told["heard"]] == [number for number in range(1, 51) if number != 10]
    assert told["choice"] == int(np.argmax(told["index"])) + 1
    sampled = SampledRun(experiment)
    sampled.advance(30)
    assert all(counts for counts in sampled.counts())


def test_believing_everyone_is_told_beside_what_was_believed():
    """The counterfactual is the filter mean over the very reports, and the policy's choice with the same luck."""
    told = step(Experiment(attack="extreme", horizon=300, runs=1), 1, 300, 3)
    everyone = told["everyone"]
    for arm in range(4):
        used = [r for r in told["heard"] if r["fates"][arm] not in ("silent", "inconsistent")]
        means = [told["means"][arm], *(report["means"][arm] for report in used)]
        assert everyone["estimates"][arm] == pytest.approx(np.mean(means))
    assert everyone["choice"] == int(np.argmax(everyone["index"])) + 1


# --- stepping through --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES.entries)
@pytest.mark.parametrize("filter", FILTERS.entries)
def test_the_choice_shown_is_the_engines_and_follows_from_what_is_shown(filter, policy):
    """For every filter and policy: the arm pulled, the belief from the reports, and the choice from the index."""
    experiment = Experiment(agents=7, byzantine=2, filter=filter, policy=policy, attack="gaussian", horizon=200, runs=1)
    parts = experiment.parts
    for round in (1, 2, 40, 173):
        view = view_round(experiment, 1, round)
        run = Run(experiment, 0)
        run.advance(round - 1)
        before = run.state.pulls.copy()
        run.advance(round)
        pulled = np.argmax(run.state.pulls - before, axis=1)
        assert view.choices.tolist() == pulled.tolist()
        assert np.array_equal(view.pulls, before)
        for agent in range(7):
            belief = Belief(*(numbers[agent] for numbers in view.belief))
            rng = np.array([fold(view.policy_keys[agent], view.time)], np.uint64)
            index = index_of(experiment, view, agent)
            if parts.policy.worth == "chance":
                assert index.sum() == pytest.approx(1.0)
                assert index[pulled[agent]] > 0.0
            else:
                # as far as the policy draws before it breaks ties
                parts.policy.explain(belief, view.time, np.array(parts.policy.params), rng)
                assert argmax_at_random(index, rng) == pulled[agent]


@pytest.mark.parametrize("filter", FILTERS.entries)
@pytest.mark.parametrize(
    "settings",
    [{}, {"delay": 1}, {"subset": 3, "memory": 4}, {"graph": "erdos-renyi:0.7", "time_varying": True}, {"epoch": 7}],
    ids=str,
)
def test_the_belief_shown_follows_from_the_reports_shown(filter, settings):
    experiment = Experiment(agents=7, byzantine=2, filter=filter, attack="alie", horizon=90, runs=1, **settings)
    believe = type(experiment.parts.filter).believe
    params = np.array(experiment.parts.filter.params)
    spread = experiment.parts.filter.spread_between_agents
    for round in (1, 2, 30, 85):
        view = view_round(experiment, 1, round)
        run = Run(experiment, 0, dense=False)
        run.advance(view.time + 1)  # how far an agent differs from the others is not shown
        for agent in range(7):
            reports = slice(view.starts[agent], view.starts[agent + 1])
            for arm, fates in enumerate(fates_of(experiment, view, agent)):
                assert len(fates) == reports.stop - reports.start
                used = [fate not in ("silent", "inconsistent", "expelled") for fate in fates]
                pulls, means = (told[reports, arm][used].copy() for told in (view.told_pulls, view.told_means))
                own, mean, kappa = view.pulls[agent, arm], view.means[agent, arm], view.kappas[agent]
                *shown, own_mean, own_pulls = (numbers[agent, arm] for numbers in view.belief)
                assert (own_mean, own_pulls) == (mean, own)
                if spread == AUTO:
                    told = zip(pulls, means, view.differences[agent, view.senders[reports]][used], strict=True)
                    alike = [naive.as_worth(own, mean, (n, x), apart) for n, x, apart in told]
                    pulls, means = np.array(alike).reshape(-1, 2).T.copy()
                f = int(view.fs[agent])
                belief = believe(Heard(pulls, means, own, mean, f, kappa, view.time, 0, params))
                if spread != 0.0:
                    belief = naive.limited(belief, own, mean, run.state.differences[agent])
                assert belief == pytest.approx(shown)


def test_a_round_within_an_epoch_shows_where_it_was_decided():
    experiment = Experiment(epoch=7, horizon=90, runs=1)
    assert [view_round(experiment, 1, round).time for round in (1, 7, 8, 14, 15)] == [0, 0, 7, 7, 14]


def test_a_step_is_told_as_plain_data():
    told = step(Experiment(horizon=50, runs=2), 2, 50, 3)
    assert json.loads(json.dumps(told)) == told
    assert [report["agent"] for report in told["heard"]] == [1, 2, *range(4, 11)]
    assert [report["lies"] for report in told["heard"]] == [True, True, *[False] * 7]
    assert told["index"][told["choice"] - 1] == max(told["index"])


def test_a_step_tells_the_formula_with_the_parameters_that_were_played():
    told = step(Experiment(horizon=20, runs=1, policy="ucb:0.2"), 1, 20, 3)
    assert told["formula"].endswith("; alpha = 0.2")
    width = (0.2 * math.log(told["time"]) / told["weights"][0]) ** 0.5
    assert told["index"][0] == pytest.approx(told["estimates"][0] + width + told["doubts"][0])


@pytest.mark.parametrize(
    ("settings", "wrong", "says"),
    [
        ({}, {"round": 301}, "round 301 does not exist; allowed: 1 to 300"),
        ({}, {"round": 0}, "round 0"),
        ({}, {"run": 5}, "run 5 does not exist; allowed: 1 to 4"),
        ({}, {"agent": 7}, "agent 7 does not exist; allowed: 1 to 6"),
        ({"algorithm": "consensus"}, {}, "algorithm 'consensus' has no filter to step through"),
    ],
)
def test_a_round_that_does_not_exist_is_refused(client, settings, wrong, says):
    question = {"settings": {**SMALL, **settings}, "run": 1, "round": 1, "agent": 1, **wrong}
    answer = client.post("/lab/step", json=question)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(says)


SHOWN = {
    (page.name, setups): setups
    for page in sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
    for setups in re.findall(r'`byzmab lab "([^"]*)"`', page.read_text())
}


@pytest.mark.parametrize("setups", SHOWN.values(), ids=[f"{page} {number}" for number, (page, _) in enumerate(SHOWN)])
def test_the_set_ups_that_pages_of_the_docs_show_are_opened(setups):
    fragment = fragment_of(setups)  # or BadInput, if one is wrong or too large
    opened = [dict(parse_qsl(part, strict_parsing=True)) for part in fragment[1:].split("|")]
    assert [read_setup(texts) for texts in opened]
    assert fragment.startswith("#") and len(opened) == setups.count("|") + 1


def test_a_set_up_that_is_wrong_is_refused_before_the_lab_is_served():
    done = run_byzmab(["lab", "filter=guardd"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: filter 'guardd' is not known; did you mean 'guarded'?")


def test_most_concepts_show_a_set_up_of_the_lab():
    assert len({page for page, _ in SHOWN}) >= 10
