"""Reproducing the paper: figures from files, claims decided by tests that can go either way."""

import json
from pathlib import Path

import numpy as np
import pytest
from command import byzmab

from byzmab import BadInput
from byzmab.paper import claims
from byzmab.paper.claims import FAILS, HOLDS, INCONCLUSIVE
from byzmab.paper.figures import IDS, SOLO, make_figure, read_figure
from byzmab.paper.reproduction import FigureData, differences_of, reproduce
from byzmab.toml import parse_toml

SMALL = {"runs": 3, "horizon": 200}


def made(id, curves):
    """A figure with made-up curves."""
    figure = read_figure(id)
    whole = {*figure.counterparts().values()} <= curves.keys()
    return FigureData(figure.about(), curves, differences_of(figure, curves) if whole else {}, np.array([50, 100]))


def curve(final, spread=1.0, half=0.5, runs=30, seed=0):
    """Runs that end around `final`, at `half` of it after half the time."""
    ends = final + spread * np.random.default_rng(seed).normal(size=runs)
    return np.stack([half * ends, ends], axis=1)


def decide(id, **figures):
    return claims.decide_all({name: made(name, curves) for name, curves in figures.items()})[id].verdict


def along(*finals, solo=100.0):
    labels = list(read_figure("F3").experiments)
    return {
        **{label: curve(final, seed=place) for place, (label, final) in enumerate(zip(labels, finals, strict=True))},
        SOLO: curve(solo, seed=99),
    }


def test_a_claim_holds_fails_or_stays_open_by_its_data():
    assert decide("C4", F3=along(99, 90, 80, 70, 60)) == HOLDS
    assert decide("C4", F3=along(99, 90, 95, 70, 60)) == FAILS
    assert decide("C4", F3=along(99, 90, 89.95, 70, 60)) == INCONCLUSIVE
    assert decide("C5", F3=along(99, 90, 80, 70, 60)) == HOLDS
    assert decide("C5", F3=along(99, 105, 80, 70, 60)) == FAILS
    assert decide("C6", F4=along(101, 110, 115, 90, 60)) == HOLDS
    assert decide("C6", F4=along(99, 90, 80, 70, 60)) == FAILS


def kappas(*finals):
    labels = list(read_figure("F2").experiments)
    return {
        **{label: curve(final, seed=place) for place, (label, final) in enumerate(zip(labels, finals, strict=True))},
        SOLO: curve(100, seed=99),
    }


def test_claims_on_kappa_look_at_every_value():
    assert decide("C2", F2=kappas(90, 80, 85, 95)) == HOLDS
    assert decide("C2", F2=kappas(90, 80, 85, 104)) == FAILS
    assert decide("C2", F2=kappas(90, 80, 85, 100)) == INCONCLUSIVE
    assert decide("C3", F2=kappas(90, 80, 85, 95)) == HOLDS
    assert decide("C3", F2=kappas(90, 85, 80, 75)) == FAILS
    assert decide("C3", F2=kappas(90, 85, 84.95, 84.9)) == INCONCLUSIVE


def test_linear_growth_is_told_from_flattening():
    linear, flat = curve(500, half=0.5), curve(150, half=0.7)
    assert decide("C8", F6={"resilient": flat, "Algorithm 3": linear, "Algorithm 4": linear, SOLO: flat}) == HOLDS
    assert decide("C8", F6={"resilient": linear, "Algorithm 3": linear, "Algorithm 4": linear, SOLO: flat}) == FAILS
    assert decide("C8", F6={"resilient": flat, "Algorithm 3": flat, "Algorithm 4": linear, SOLO: flat}) == FAILS


def test_negligible_has_a_margin():
    solo = curve(700, seed=9)
    assert decide("C9", F8={"gaussian": curve(500), "adaptive": curve(502, seed=1), SOLO: solo}) == HOLDS
    assert decide("C9", F8={"gaussian": curve(550), "adaptive": curve(500, seed=1), SOLO: solo}) == FAILS
    assert decide("C9", F8={"gaussian": curve(520, 50), "adaptive": curve(500, 50, seed=1), SOLO: solo}) == INCONCLUSIVE


def policies(ucb, tuned, greedy, softmax_half=0.5):
    finals = {"ucb": ucb, "tuned": tuned, "greedy": greedy}
    curves = {name: curve(final, seed=place) for place, (name, final) in enumerate(finals.items())}
    return {**curves, "softmax": curve(700, half=softmax_half, seed=7), SOLO: curve(230, seed=8)}


def test_claims_on_policies_need_both_numbers_of_arms():
    assert decide("C10", F9=policies(480, 90, 50), F10=policies(180, 40, 400)) == HOLDS
    assert decide("C10", F9=policies(480, 90, 500), F10=policies(180, 40, 400)) == FAILS
    assert decide("C10", F9=policies(480, 90, 50), F10=policies(180, 40, 400, softmax_half=0.9)) == FAILS
    assert decide("C11", F9=policies(480, 90, 150), F10=policies(180, 40, 400)) == HOLDS
    assert decide("C11", F9=policies(480, 90, 50), F10=policies(180, 40, 400)) == FAILS
    assert decide("C11", F9=policies(480, 300, 350), F10=policies(180, 40, 400)) == FAILS
    assert "C10" not in claims.decide_all({"F9": made("F9", policies(480, 90, 50))})


def test_the_formula_for_enough_neighbours_is_tested_on_drawn_graphs(monkeypatch):
    some = {"F2": kappas(90, 80, 85, 95)}
    assert decide("C12", **some) == HOLDS
    monkeypatch.setattr(claims, "chance_of_enough", lambda q, agents, f: q**10)
    assert decide("C12", **some) == FAILS


@pytest.mark.parametrize("id", IDS)
def test_every_figure_of_the_paper_is_a_file_that_can_be_run(id):
    figure = read_figure(id, **SMALL)
    assert figure.caption()
    assert all(experiment.runs == 3 for experiment in figure.experiments.values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind = ", "not TOML"),
        ('kind = "regret"\ntitel = "x"', "did you mean 'title'"),
        ('kind = "pie"', "kind 'pie'"),
        ('kind = "regret"\n[experiment]\nagent = 5', "did you mean 'agents'"),
        ('kind = "regret"\n[[curve]]\nf = 1', "label"),
        ('kind = "frequency"\n[[curve]]\nlabel = "a"\n[[curve]]\nlabel = "b"', "2 curves"),
        ('kind = "graph"\n[experiment]\ngraph = "complete"', "cannot be drawn"),
    ],
)
def test_a_broken_figure_file_is_refused(text, words):
    with pytest.raises(BadInput, match=words):
        make_figure(parse_toml(text, "figure 'mine'"), Path("mine.toml"))


def test_an_edited_figure_runs_leaves_its_files_and_is_never_computed_twice(tmp_path):
    text = read_figure("F2").source.replace("kappa=1.0", "kappa=1.1").replace("kappa = 1.0", "kappa = 1.1")
    (tmp_path / "mine.toml").write_text(text)
    figure = read_figure(str(tmp_path / "mine.toml"), **SMALL)
    first = reproduce([figure], tmp_path / "out")
    assert list(first.figures["mine"].curves) == ["kappa=1.1", "kappa=1.3", "kappa=1.6", "kappa=1.9", SOLO]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "mine.png",
        "mine.pdf",
        "mine.csv",
        "mine.nc",
        "mine.txt",
        "mine.toml",
        "report.html",
        "summary.json",
    } <= names
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "out/results").rglob("*.npz")}
    damaged = next(iter(stored))
    damaged.write_bytes(damaged.read_bytes()[:100])
    again = reproduce([figure], tmp_path / "out")
    assert again.summary()["figures"] == first.summary()["figures"]
    changed = [path for path in stored if path.stat().st_mtime_ns != stored[path]]
    assert changed == [damaged]


def test_the_command_prints_the_contract_and_resumes(tmp_path):
    small = ["--runs", 2, "--horizon", 150, "--json", "--out", tmp_path]
    first, second = (json.loads(byzmab("reproduce", "F1", "F7", "F12", *small).stdout) for _ in range(2))
    assert set(first) == {"figures", "claims", "seconds"}
    assert set(first["figures"]) == {"F1", "F7", "F12"}
    assert set(first["figures"]["F1"]["curves"][SOLO]) >= {"mean", "stderr"}
    assert set(first["claims"]) == {"C1", "C12"}
    assert first["claims"]["C1"]["verdict"] in (HOLDS, FAILS, INCONCLUSIVE)
    assert first["figures"] == second["figures"]


@pytest.mark.parametrize(
    "arguments", [["F13"], ["F1", "--runs", "0"], ["F1", "--workers", "0"], ["none.toml"], ["F1", "--out", "/proc/x"]]
)
def test_bad_input_ends_with_one_sentence_and_code_2(arguments):
    done = byzmab("reproduce", *arguments, code=2)
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_the_published_code_leaves_the_regret_of_its_port(tmp_path):
    """132.6 ± 1.6 with the liar's means 0, 142.2 ± 1.3 with those of the text; within four standard errors."""
    from byzmab.paper.as_published import OURS, play_as_published
    from byzmab.sweep.store import ResultStore

    published = play_as_published(10, 0, 10_000, ResultStore(tmp_path))
    silent, as_told, ours = published.summary()["curves"].values()
    for found, (mean, stderr) in ((silent, (132.6, 1.6)), (as_told, (142.2, 1.3)), (ours, (144.6, 2.5))):
        assert abs(found["mean"] - mean) < 4 * (found["stderr"] ** 2 + stderr**2) ** 0.5
    assert silent["mean"] < as_told["mean"]
    assert list(published.curves)[-1] == OURS
    assert {path.name for path in published.write(tmp_path)} >= {"as-published.png", "as-published.json"}
