"""The lab with contexts: set-ups played as the simulator plays them, rounds looked into, and what the form offers."""

import json
import signal
import subprocess
import urllib.request

import numpy as np
import pytest

pytest.importorskip("litestar")

from command import BYZMAB
from litestar.testing import TestClient
from pages import open_page
from waiting import LONG

from byzmab import Experiment, Heard, simulate
from byzmab.attacks import ATTACKS, CONTEXT_ATTACKS
from byzmab.baselines.contexts import CONTEXT_BASELINES
from byzmab.core.contexts.comparing import WEIGHTS
from byzmab.core.contexts.statistics import inverse_of, theta_of
from byzmab.core.contexts.trial import LEAST_LEAD
from byzmab.core.filters.fates import Fate
from byzmab.dashboard.lab.context_round_view import heard_by, play_round_at
from byzmab.dashboard.lab.desk import menu
from byzmab.dashboard.lab.playing import Playing
from byzmab.dashboard.lab.round_view import step
from byzmab.dashboard.lab.routes import make_app
from byzmab.dashboard.lab.setup import command_of, read_setup
from byzmab.dashboard.lab.work import seconds_of
from byzmab.simulation.single_run import Run

SMALL = {
    "context": "3", "arms": "random:3", "agents": "7", "byzantine": "2", "filter": "pooled", "policy": "tuned",
    "attack": "flip", "horizon": "120", "runs": "2", "record": "40",
}  # fmt: skip
SHARES = ("equal", "information", "projection")
PATIENCE = 120_000  # ms: the first run compiles


@pytest.fixture(scope="module")
def client():
    with TestClient(make_app()) as client:
        yield client


@pytest.mark.parametrize("settings", [{}, {"algorithm": "lin-sum"}, {"contexts": "leaning:1", "shares": "information"}])
def test_what_is_played_is_what_the_simulator_plays(settings):
    """Beside the same agents alone, over the same contexts."""
    experiment = read_setup({**SMALL, **settings})
    *_, last = Playing(experiment).updates()
    assert last["regret"]["mean"][-1] == pytest.approx(simulate(experiment).network_regret[:, -1].mean(), abs=1e-3)
    alone = experiment.but(filter="solo", attack="none", algorithm="resilient", shares="equal")
    assert last["solo"]["mean"][-1] == pytest.approx(simulate(alone).network_regret[:, -1].mean(), abs=1e-3)
    assert sum(last["shares"]) == pytest.approx(1.0)


def test_liars_are_seen_to_be_left_out():
    *_, last = Playing(read_setup({**SMALL, "horizon": "600"})).updates()
    told = [sum(counts.values()) for counts in last["fates"]]
    out = [counts.get("implausible", 0) / total for counts, total in zip(last["fates"], told, strict=True)]
    assert min(out[:2]) > 0.2 > max(out[2:])


@pytest.mark.parametrize(
    ("filter", "shares", "vetting"),
    [
        *((filter, shares, True) for filter in ("pooled", "trimmed", "guarded") for shares in SHARES),
        *((filter, shares, False) for filter in ("pooled", "trimmed") for shares in SHARES),  # guarded stands alone
    ],
)
def test_the_belief_shown_follows_from_the_pairs_shown(filter, shares, vetting):
    """Of whoever trusts what it hears; whoever does not believes as LinUCB does."""
    experiment = Experiment(
        context=3, arms="random:3", agents=7, byzantine=2, filter=filter, shares=shares, vetting=vetting, attack="swap",
        runs=1,
    )  # fmt: skip
    run = Run(experiment, 0)
    run.advance(150)
    view, trusted = play_round_at(run), 0
    for agent in range(7):
        heard, x = heard_by(experiment, view, agent), view.contexts[agent]
        for arm, pairs in enumerate(heard.pairs):
            row = view.own[agent, arm]
            by_itself = 0.5 + float(x @ theta_of(row, 3)), 1.0 / float(x @ inverse_of(row, 3).reshape(3, 3) @ x)
            shown = float(view.belief.estimates[agent, arm]), float(view.belief.weights[agent, arm])
            if vetting and view.leads[agent] < LEAST_LEAD:
                assert shown == pytest.approx(by_itself)
                assert {*heard.fates[arm]} <= {Fate.UNUSED, Fate.IMPLAUSIBLE, Fate.SILENT}
                continue
            used = pairs.pulls > 0.0
            if experiment.parts.filter.consistency:
                used &= view.kappas[agent] * pairs.pulls >= pairs.own_pulls
            silent = max(0, int(view.expected[agent]) - (2 - heard.f) - int((pairs.pulls > 0.0).sum()))
            told = Heard(
                pairs.pulls[used], pairs.means[used], pairs.own_pulls, pairs.own_mean, heard.f,
                float(view.kappas[agent]), view.time, silent, np.array(experiment.parts.filter.params),
            )  # fmt: skip
            estimate, weight, doubt = experiment.parts.filter.believe(told)
            if (estimate, weight, doubt) == (pairs.own_mean, pairs.own_pulls, 0.0):
                assert shown == pytest.approx(by_itself)
                continue
            prior, prior_total = prior_of(experiment, view, agent, arm, heard)
            expected = (weight * estimate + prior_total) / (weight + prior), weight + prior
            assert shown == pytest.approx(expected, rel=1e-6)
            trusted += 1
    assert trusted > 0


def prior_of(experiment, view, agent, arm, heard):
    """Pulls of the ridge, which is added after the filter, and these times its mean; it is in the pairs of equal shares."""
    x, ridge, d = view.contexts[agent], experiment.ridge, experiment.context
    if experiment.shares == "equal":
        return 0.0, 0.0
    if experiment.shares == "projection":
        return ridge / (x @ x), 0.5 * ridge / (x @ x)
    told, centre = view.told[view.starts[agent] : view.starts[agent + 1], arm], view.factors[agent, arm, -d:]
    weights = np.where(heard.pairs[arm].pulls > 0.0, view.terms[agent, arm, WEIGHTS, : len(told)], 0.0)
    grams = [row[1 + 2 * d : 1 + 2 * d + d * d].reshape(d, d) for row in (view.own[agent, arm], *told)]
    v = np.linalg.solve(ridge * np.eye(d) + np.tensordot([1.0, *weights], grams, 1), x)
    total = 1.0 / (x @ v)
    prior = total**2 * ridge * (v @ v)
    return prior, prior * (0.5 + x @ centre) - total * ridge * (v @ centre)


def test_one_round_is_told_with_its_context_and_what_believing_everyone_makes_of_it():
    experiment = read_setup({**SMALL, "attack": "large"})
    told = step(experiment, 1, 100, 5)
    run = Run(experiment, 0)
    run.advance(100)
    assert told["context"] == pytest.approx(run.state.contexts[4].tolist())
    assert told["choice"] == run.state.choices[4] + 1
    assert told["true_means"] == pytest.approx(run.state.context_means[4].tolist())
    assert told["estimates"] == pytest.approx(run.state.estimates[4].tolist())
    assert [report["agent"] for report in told["heard"]] == [1, 2, 3, 4, 6, 7]
    off = np.abs(np.array(told["everyone"]["estimates"]) - told["true_means"])
    assert off.max() > 5.0 > np.abs(np.array(told["estimates"]) - told["true_means"]).max()
    json.dumps(told)


@pytest.mark.parametrize(
    ("settings", "setting", "says"),
    [
        ({"context": "x"}, "context", "a whole number"),
        ({"context": "-1"}, "context", "not allowed"),
        ({"context": "21"}, "context", "allowed: a whole number from 1 to 20; byzmab simulate has no such limit"),
        ({"context": "3", "arms": "data.npz"}, "arms", "not what the lab shows"),
        ({"context": "3", "arms": "data.json"}, "arms", "not what the lab shows"),
        ({"context": "3", "attack": "extreme", "arms": "random:3"}, "attack", "does not go with context"),
        ({"attack": "flip"}, "attack", "needs a context"),
        ({"algorithm": "lin-sum"}, "algorithm", "needs a context"),
        ({"context": "3", "arms": "random:3", "epoch": "2"}, "epoch", "does not go with context"),
        ({"context": "3", "arms": "random:3", "ridge": "0"}, "ridge", "allowed: a number from 1e-15 to 1e+12"),
        ({"context": "3", "arms": "random:3", "shares": "most"}, "shares", "allowed: equal"),
        ({"context": "3", "arms": "random:3", "contexts": "up"}, "contexts", "allowed: alike"),
        ({"context": "3", "arms": "random:3", "audit": "true"}, "audit", "does not go with context 3"),
        ({"vetting": "false"}, "vetting", "needs a context"),
        ({"ridge": "2"}, "ridge", "ridge 2.0 needs a context"),
        ({"context": "20", "arms": "random:50", "runs": "100"}, "horizon", "of work"),
        (
            {"context": "20", "arms": "random:50", "agents": "60", "horizon": "300000", "runs": "7", "filter": "solo"},
            "horizon",
            "hours of work",
        ),
        (
            {"context": "20", "arms": "random:50", "agents": "60", "horizon": "10", "runs": "60", "filter": "solo"},
            "context",
            "context 20 with 50 arms takes",
        ),
    ],
)
def test_bad_input_is_told_with_the_setting_that_is_wrong(client, settings, setting, says):
    problem = client.post("/lab/check", json={"settings": settings}).json()["problem"]
    assert problem["setting"] == setting and says in problem["detail"]
    assert client.post("/lab/run", json={"settings": settings}).status_code == 400


def test_agents_alone_are_counted_as_work_at_a_context():
    """Beside whoever hears others too: each looks at all its statistics before a choice."""
    with_contexts, without = (
        seconds_of(read_setup({"filter": "solo", "arms": "random:20", "horizon": "2000", "runs": "1", **context}))
        for context in ({"context": "20"}, {})
    )
    assert with_contexts > 5 * without


def test_the_menu_says_what_goes_with_contexts():
    kinds = json.loads(menu())["kinds"]
    offered = {goes: {name for name, entry in kinds["attack"].items() if entry[goes]} for goes in ("with", "without")}
    assert offered == {"with": {*CONTEXT_ATTACKS.entries}, "without": {*ATTACKS.entries}}
    algorithms = {name for name, entry in kinds["algorithm"].items() if entry["with"]}
    assert algorithms == {"resilient", *CONTEXT_BASELINES.entries}


def test_the_command_plays_the_same():
    text = command_of(read_setup({**SMALL, "vetting": "false", "contexts": "leaning:1"}))
    assert "--context 3" in text and "--no-vetting" in text and "--contexts leaning:1" in text


@pytest.fixture(scope="module")
def lab():
    process = subprocess.Popen([*BYZMAB, "lab", "--port", "0", "--no-open"], stderr=subprocess.PIPE, text=True)
    line = next(line for line in process.stderr if line.startswith("the lab is at "))
    address = line.split()[4].rstrip(";")
    urllib.request.urlopen(f"{address}lab/menu", timeout=300).close()
    yield address
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LONG)


def test_contexts_are_switched_on_played_shared_and_looked_into(browser, lab):
    """A person writes 3 into one field; what does not go with contexts is gone, and what they press works."""
    page = open_page(browser, f"{lab}#f=auto&filter=guarded&policy=moss", 1200, "#graph-note:not(:empty)")
    page.set_default_timeout(PATIENCE)
    page.evaluate("() => document.getElementById('cancel').click()")
    assert page.locator("#set-shares").is_hidden() and page.locator("#set-epoch").count() == 1
    page.fill("#set-context", "3")
    page.wait_for_function("() => location.hash.includes('context=3')")
    shown = {name: page.input_value(f"#set-{name}") for name in ("filter", "policy", "arms", "attack")}
    assert shown == {"filter": "pooled", "policy": "tuned", "arms": "random:5", "attack": "constant"}
    assert page.locator("#set-shares").is_visible() and page.locator("#set-vetting").is_checked()
    page.locator("details.more summary").click()
    assert page.locator("#set-epoch").is_hidden() and page.locator("#set-memory").is_visible()
    enabled = page.eval_on_selector_all(
        "#set-attack option", "(all) => all.filter((option) => !option.disabled).map((option) => option.value)"
    )
    assert enabled == [*dict.fromkeys(name for name in enabled if name in CONTEXT_ATTACKS.entries)]
    assert {"flip", "stealth-at"} <= {*enabled} and "extreme" not in enabled
    page.select_option("#set-attack", "flip")
    page.fill("#set-horizon", "300")
    page.fill("#set-runs", "2")
    page.click("#run")
    page.wait_for_function("() => document.getElementById('status').textContent === 'Played.'", timeout=3 * PATIENCE)
    curve = "() => document.getElementById('plot-regret').data.map((trace) => trace.x.length)"
    assert max(page.evaluate(curve)) > 50
    page.click("#open-step")
    page.locator("#stages button").first.click()
    page.wait_for_selector("#stage-caption:has-text('At the context')")
    shared = page.evaluate("() => location.hash")
    assert "context=3" in shared and "attack=flip" in shared and "epoch" not in shared
    page.fill("#set-context", "0")
    page.wait_for_function("() => !location.hash.includes('context')")
    assert page.locator("#set-shares").is_hidden() and page.input_value("#set-attack") == "constant"
    assert page.complaints == [] and page.foreign == []


@pytest.mark.parametrize(
    ("link", "setting", "says"),
    [
        ("context=3&epoch=2", "epoch", "epoch 2 does not go with context"),
        ("vetting=false", "vetting", "vetting False needs a context"),
    ],
)
def test_a_link_that_is_wrong_in_a_hidden_field_shows_the_field_and_says_so(browser, lab, link, setting, says):
    page = open_page(browser, f"{lab}#{link}", 1200, f"#error-{setting}:has-text('{says}')", charts=False)
    assert page.locator(f"#set-{setting}").is_visible()
    assert page.complaints == []


def test_correcting_the_number_of_dimensions_keeps_the_set_up(browser, lab):
    """Until the empty field is left: then contexts are off."""
    settings = "context=5&arms=random%3A4&attack=flip&filter=pooled&policy=tuned&ridge=2&horizon=100&runs=1"
    page = open_page(browser, f"{lab}#{settings}", 1200, "#graph-note:not(:empty)", charts=False)
    page.evaluate("() => document.getElementById('cancel').click()")
    page.focus("#set-context")
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    page.wait_for_function("() => !location.hash.includes('context=')")
    page.keyboard.press("8")
    page.wait_for_function("() => location.hash.includes('context=8')")
    kept = {name: page.input_value(f"#set-{name}") for name in ("attack", "filter", "policy", "arms", "ridge")}
    assert kept == {"attack": "flip", "filter": "pooled", "policy": "tuned", "arms": "random:4", "ridge": "2"}
    page.keyboard.press("Backspace")
    page.keyboard.press("Tab")
    page.wait_for_function("() => !location.hash.includes('context=') && !location.hash.includes('ridge')")
    assert page.locator("#set-shares").is_hidden() and page.input_value("#set-attack") == "constant"
    assert page.complaints == []
