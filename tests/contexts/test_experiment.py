"""Experiments with contexts: settings, files, what does not go together, and what comes out."""

import json

import numpy as np
import pytest
from command import byzmab

from byzmab import Agent, BadInput, Experiment, Result, Sweep, compare, simulate
from byzmab.experiment.assumptions import FilterWithoutContexts, settings_unused
from byzmab.simulation.context_world import draw_parameters
from byzmab.simulation.single_run import Run
from byzmab.tournament.field import CONTEXT_ATTACKS, read_field

SMALL = Experiment(
    context=3, arms="random:3", filter="pooled", policy="tuned", attack="flip", agents=8, horizon=60, runs=2
)


def contexts_of(experiment, rounds, agent):
    run, seen = Run(experiment, 0), []
    for time in range(rounds):
        run.advance(time + 1)
        seen.append(run.state.contexts[agent].copy())
    return np.array(seen)


def test_contexts_are_of_length_one_and_lean_only_where_asked():
    alike, leaning = (contexts_of(SMALL.but(contexts=name), 60, 4) for name in ("alike", "leaning:3"))
    for seen in (alike, leaning):
        assert np.square(seen).sum(axis=1) == pytest.approx(1.0)
        assert seen[:, 0] == pytest.approx(np.sqrt(0.5))
    assert np.linalg.norm(alike[:, 1:].mean(axis=0)) < 0.3 < 0.5 < np.linalg.norm(leaning[:, 1:].mean(axis=0))


def test_regret_is_against_the_best_arm_at_each_context():
    experiment = SMALL.but(arms=[[0.0, 0.5, 0.0], [0.0, -0.5, 0.0], 0.6])
    run, parameters, expected = Run(experiment, 0), draw_parameters(experiment, 0), 0.0
    for time in range(60):
        run.advance(time + 1)
        means = 0.5 + parameters @ run.state.contexts[5]
        expected += means.max() - means[run.state.choices[5]]
    assert run.state.regret[5 - experiment.byzantine, -1] == pytest.approx(expected)
    assert run.state.true_means == pytest.approx([0.5, 0.5, 0.6])


def test_a_result_is_saved_with_all_its_settings_and_read_again(tmp_path):
    (tmp_path / "arms.json").write_text(json.dumps([[0.1, 0.3, -0.2], [0.0, -0.2, 0.45]]))
    printed = json.loads(
        byzmab(
            *("simulate", "--context", "3", "--arms", "arms.json", "--attack", "extreme-at", "--filter", "pooled"),
            *("--no-vetting", "--ridge", "0.5", "--horizon", "40", "--runs", "2", "--json", "--out", "out"),
            cwd=tmp_path,
        ).stdout
    )
    settings = printed["experiment"]
    assert settings["arms"] == [[0.1, 0.3, -0.2], [0.0, -0.2, 0.45]]
    assert (settings["vetting"], settings["ridge"], settings["shares"]) == (False, 0.5, "equal")
    assert printed["bytes"] == 8 * (1 + 3 + 6) * printed["arms_told"]
    assert Result.load(tmp_path / "out" / "result.nc").summary()["regret"] == printed["regret"]
    again = json.loads(byzmab("simulate", "out/experiment.toml", "--json", cwd=tmp_path).stdout)
    assert again["regret"] == printed["regret"]


def test_contexts_and_means_come_from_a_file_of_data(tmp_path):
    """Two kinds of context, each with an arm of its own: soon everyone knows which."""
    contexts, means = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    np.savez(tmp_path / "two.npz", contexts=contexts, means=means)
    experiment = SMALL.but(context=2, arms=str(tmp_path / "two.npz"), attack="none", horizon=150)
    result = simulate(experiment)
    last_third = result.regret_values[:, :, -1] - result.regret_values[:, :, 2 * result.rounds.size // 3]
    assert last_third.mean() < 0.05 * 0.8 * 50
    named = experiment.settings()["arms"]
    assert Experiment(**experiment.settings()).settings()["arms"] == named
    np.savez(tmp_path / "two.npz", contexts=contexts, means=means[::-1])
    with pytest.raises(BadInput, match="holds other data"):
        experiment.but(arms=named)


SEEN, MEANS = np.eye(3), np.full((3, 2), 0.5)


def test_contexts_of_data_lean_to_nobody(tmp_path):
    """They are its rows, whatever `contexts` says: so it may not say anything else."""
    np.savez(tmp_path / "data.npz", contexts=SEEN, means=MEANS)
    with pytest.raises(BadInput, match=r"^contexts 'leaning:1' does not go with data, .*; allowed: alike$"):
        SMALL.but(arms=str(tmp_path / "data.npz"), contexts="leaning:1")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"contexts": SEEN}, "is no whole file of numpy.savez with both arrays"),
        ({"contexts": SEEN * np.nan, "means": MEANS}, "has contexts of 3×3 float64, or not finite"),
        ({"contexts": SEEN + 0j, "means": MEANS}, "has contexts of 3×3 complex128"),
        ({"contexts": SEEN.astype(str), "means": MEANS}, "has contexts of 3×3 <U32"),
        ({"contexts": SEEN[0], "means": MEANS}, "has contexts of 3 float64"),
        ({"contexts": SEEN, "means": MEANS[:2]}, "has 3 contexts and means of 2 rows and 2 arms"),
        ({"contexts": SEEN, "means": MEANS[:, :1]}, "has 3 contexts and means of 3 rows and 1 arms"),
        ({"contexts": SEEN * [[1.0], [0.0], [1.0]], "means": MEANS}, "a context that is longer than 1, or 0, in row 2"),
        ({"contexts": SEEN * 1.1, "means": MEANS}, "a context that is longer than 1, or 0, in row 1"),
        ({"contexts": SEEN, "means": MEANS * [[1.0], [1.0], [3.0]]}, r"a mean that is not in \[0, 1\] in row 3"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_data_that_cannot_be_are_told_by_what_is_wrong(tmp_path, arrays, sentence):
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(BadInput, match=f"^arms '.*data.npz' .*{sentence}.*; allowed: arrays `contexts`"):
        SMALL.but(arms=str(tmp_path / "data.npz"))


def test_a_broken_file_of_data_gets_one_sentence(tmp_path):
    np.savez(tmp_path / "whole.npz", contexts=SEEN, means=MEANS)
    whole = (tmp_path / "whole.npz").read_bytes()
    for content in (b"", b"words", whole[:300], whole.replace(SEEN.tobytes()[:16], bytes(16), 1)):
        (tmp_path / "data.npz").write_bytes(content)
        with pytest.raises(BadInput, match=r"is no whole file of numpy\.savez"):
            SMALL.but(arms=str(tmp_path / "data.npz"))


def test_data_in_single_precision_are_taken(tmp_path):
    contexts = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    np.savez(tmp_path / "data.npz", contexts=contexts, means=np.full((50, 2), 0.5, np.float32))
    taken = SMALL.but(arms=str(tmp_path / "data.npz")).parts.contexts.data.contexts
    assert np.linalg.norm(taken, axis=1).max() <= 1.0 + 1e-12 and taken == pytest.approx(contexts, abs=1e-6)


def test_sweeps_and_tournaments_take_contexts(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text('[experiment]\ncontext = 3\narms = "random:3"\n[grid]\nshares = ["equal", "projection"]\n')
    assert [point.shares for point in Sweep.read(file).points] == ["equal", "projection"]
    assert read_field(None, {"context": 3, "arms": "random:3"}).attacks == CONTEXT_ATTACKS


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"epoch": 2}, "epoch 2 does not go with context; allowed: 1"),
        ({"attack": "gaussian"}, "attack 'gaussian' does not go with context; allowed: none, constant"),
        ({"algorithm": "consensus"}, "algorithm 'consensus' does not go with context; allowed: resilient, lin-ucb"),
        ({"rewards": "gaussian"}, "rewards 'gaussian' do not go with context; allowed: bernoulli"),
        ({"arms": "many"}, "arms 'many' is not allowed; allowed with context: random:K"),
        ({"arms": "none.json"}, "arms 'none.json' cannot be read"),
        ({"arms": [[0.1, 0.2], [0.0, 0.1, 0.2]]}, r"arms have parameters \[0.1, 0.2\]; allowed: 3 numbers"),
        ({"arms": [[0.6, 0.2, 0.0], 0.5]}, r"keep all means in \[0, 1\]"),
        ({"context": 513}, "context 513 is not allowed; allowed: 0 to 512 dimensions$"),
        ({"context": -1}, "context -1 is not allowed; allowed: 0 to 512 dimensions$"),
        ({"contexts": "leaning:x"}, "contexts 'leaning:x' is not allowed; allowed: alike, leaning"),
        ({"ridge": 0}, "ridge 0 is not allowed"),
        ({"shares": "half"}, "shares 'half' is not allowed; allowed: equal, information, projection"),
        ({"vetting": "yes"}, "vetting 'yes' is not allowed; allowed: true or false"),
    ],
    ids=str,
)
def test_what_does_not_go_with_contexts_is_said_in_one_sentence(settings, sentence):
    with pytest.raises(BadInput, match=sentence):
        SMALL.but(**settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"attack": "flip"}, "attack 'flip' needs a context"),
        ({"algorithm": "lin-sum"}, "algorithm 'lin-sum' needs a context"),
        ({"shares": "projection"}, "shares 'projection' needs a context; allowed without: 'equal'"),
        ({"ridge": 2.0}, "ridge 2.0 needs a context"),
    ],
    ids=str,
)
def test_what_needs_a_context_is_refused_without_one(settings, sentence):
    with pytest.raises(BadInput, match=sentence):
        Experiment(**settings)


@pytest.mark.parametrize("ridge", [1e-15, 1e12])
def test_agents_and_experiments_allow_the_same_ridges(ridge):
    assert json.loads(Agent(3, context=3, ridge=ridge).to_json())["ridge"] == ridge
    assert np.isfinite(simulate(SMALL.but(ridge=ridge)).network_regret).all()
    for beyond in (ridge / 10.0, ridge * 10.0):
        refusals = set()
        for make in (lambda ridge: Agent(3, context=3, ridge=ridge), lambda ridge: SMALL.but(ridge=ridge)):
            try:
                make(beyond)
            except BadInput as error:
                refusals.add(str(error).partition(";")[2].replace(" above 0,", ""))
            else:
                refusals.add("allowed")
        assert len(refusals) == 1


@pytest.mark.parametrize("algorithm", ["resilient", "lin-sum"])
def test_where_contexts_leave_out_a_direction_a_ridge_less_than_rounding_does_no_harm(tmp_path, algorithm):
    """Two features that are always the same, and one context alone: all that is heard is singular but for λ."""
    drawn = np.random.default_rng(0).normal(size=(50, 2))
    twice = np.column_stack([drawn[:, 0], drawn[:, 0], drawn[:, 1]])
    twice /= np.linalg.norm(twice, axis=1, keepdims=True)
    np.savez(tmp_path / "twice.npz", contexts=twice, means=0.5 + 0.4 * twice[:, [0, 2]] * [1, -1])
    np.savez(tmp_path / "one.npz", contexts=[[0.6, 0.8], [0.6, 0.8]], means=[[0.9, 0.1], [0.8, 0.2]])
    base = SMALL.but(
        algorithm=algorithm, filter="pooled" if algorithm == "resilient" else "trimmed", horizon=1500, agents=10
    )
    regret = {
        ridge: simulate(base.but(arms=str(tmp_path / "twice.npz"), byzantine=0, ridge=ridge)).network_regret[:, -1]
        for ridge in (1e-13, 1e-6)
    }
    assert regret[1e-13].mean() < 2.0 * regret[1e-6].mean() + 1.0
    alone = simulate(base.but(context=2, arms=str(tmp_path / "one.npz"), filter="solo", algorithm="resilient"))
    result = simulate(base.but(context=2, arms=str(tmp_path / "one.npz"), ridge=1e-13))
    assert algorithm == "lin-sum" or result.network_regret[:, -1].mean() < 2.0 * alone.network_regret[:, -1].mean()


def test_other_contexts_are_other_luck():
    """In one dimension the context is 1: that is the luck without contexts."""
    with pytest.raises(BadInput, match=r"^context differs, 3 and 0; allowed: experiments with the same context$"):
        compare(SMALL, SMALL.but(context=0, attack="none"))
    with pytest.raises(BadInput, match=r"^context differs, 3 and 2;"):
        compare(SMALL, SMALL.but(context=2))
    with pytest.raises(BadInput, match=r"^contexts differs, 'alike' and 'leaning';"):
        compare(SMALL, SMALL.but(contexts="leaning"))
    one = SMALL.but(context=1, attack="none", ridge=1e-13, shares="projection", vetting=False)
    assert compare(one, SMALL.but(context=0, attack="none")).difference == 0.0


def test_what_a_baseline_makes_no_use_of_is_said():
    unused = settings_unused(SMALL.but(filter="trimmed", algorithm="lin-sum", shares="projection", vetting=False))
    assert unused == "shares projection and vetting False do not matter to algorithm lin-sum"
    assert settings_unused(SMALL.but(filter="trimmed", algorithm="lin-sum", ridge=2.0)) is None


def test_bounds_are_refused_with_contexts(tmp_path):
    refused = byzmab("bounds", "--context", "3", "--arms", "random:3", cwd=tmp_path, code=2)
    assert "context 3 has no bound here; allowed: 0" in refused.stderr


@pytest.mark.parametrize("filter", ["trimmed", "guarded"])
def test_filters_that_were_not_made_for_contexts_are_warned_of(filter):
    """The paper's, which is the default, and what we recommend without contexts."""
    with pytest.warns(FilterWithoutContexts, match="filter pooled with policy tuned was measured to be best"):
        simulate(SMALL.but(filter=filter, horizon=2))


def test_the_list_names_what_contexts_bring():
    listed = json.loads(byzmab("list", "--json").stdout)
    assert {"flip", "extreme-at", "stealth-at", "inflate"} <= set(listed["attack"])
    assert {"lin-ucb", "lin-sum", "lin-mixing"} <= set(listed["algorithm"])
    assert "thompson-normal" in listed["policy"]
