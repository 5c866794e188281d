"""Every registered plug-in, and plug-ins of a user's own, keep the contract; those that break it are caught."""

import textwrap
from dataclasses import dataclass

import numpy as np
import pytest

from byzmab import Attack, BadInput, Baseline, Experiment, Filter, Graph, Policy, Rewards, compiled
from byzmab.attacks.contexts.base import ContextAttack
from byzmab.baselines.contexts import ContextBaseline
from byzmab.core.compiler import watching_compilation
from byzmab.core.draws import uniform
from byzmab.core.filters.base import CAPPED_COUNTS
from byzmab.core.filters.fates import KEPT, tell
from byzmab.core.filters.trimmed import Mean
from byzmab.experiment.parts import ALGORITHMS, PLUGINS
from byzmab.simulation.single_run import Run
from byzmab.testing import check

PARAMETERS = {
    "erdos-renyi": "erdos-renyi:0.5",
    "two-case": "two-case:2-3",
    "edges": "edges:6:1-2,2-3,4>1,5-6",
    "alie": "alie:2",
    "constant": "constant:0.1,0.9",
    "steps": "steps:20",
    "walk": "walk:0.01",
    "periodic": "periodic:30",
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in PLUGINS for name in PLUGINS[kind].entries])
def test_every_plugin_keeps_its_contract(kind, name):
    check(PLUGINS[kind].resolve(PARAMETERS.get(name, name)))


@pytest.mark.parametrize("algorithm", ALGORITHMS.entries.values(), ids=ALGORITHMS.entries)
def test_every_algorithm_keeps_its_contract(algorithm):
    check(algorithm)


@compiled
def shout(world, sender, receiver, params, scratch, rng, report):
    for arm in range(report.pulls.size):
        report.pulls[arm] = 1e6
        report.means[arm] = params[0]


@dataclass(frozen=True)
class Shout(Attack):
    """Claims a million pulls."""

    lie = staticmethod(shout)
    mean: float = 0.9


@compiled
def half(heard):
    total = heard.own_mean
    for mean in heard.means:
        total += mean
    return total / (heard.means.size + 1), heard.own_pulls, 0.0


@dataclass(frozen=True)
class Half(Filter):
    """The plain mean of everyone."""

    believe = staticmethod(half)


@compiled
def second(belief, time, params, rng):
    return time % belief.estimates.size


@dataclass(frozen=True)
class RoundRobin(Policy):
    """One arm after the other."""

    choose = staticmethod(second)


@compiled
def next_one(receiver, agents, byzantine, params, rng, out):
    out[0] = (receiver + 1) % agents
    return 1


@dataclass(frozen=True)
class Chain(Graph):
    """Everyone hears the next one."""

    neighbours = staticmethod(next_one)


@compiled
def halves(pull, params, rng):
    """0, ½ or 1, the last two with a chance that gives the mean."""
    first, second = uniform(rng) < pull.mean, uniform(rng) < pull.mean
    return 0.5 * first + 0.5 * second


@dataclass(frozen=True)
class Halves(Rewards):
    """The mean of two coins."""

    reward = staticmethod(halves)


@pytest.mark.parametrize("plugin", [Shout(), Half(), Chain(), Halves()])
def test_plugins_of_ones_own_keep_the_contract(plugin):
    check(plugin)


def fresh(kind):
    """A plug-in that nobody has compiled yet."""

    @compiled
    def lie(world, sender, receiver, params, scratch, rng, report):
        report.pulls[0] = 3.0

    @compiled
    def believe(heard):
        return heard.own_mean, heard.own_pulls, 0.0

    @compiled
    def choose(belief, time, params, rng):
        return 1

    @compiled
    def neighbours(receiver, agents, byzantine, params, rng, out):
        return 0

    @compiled
    def reward(pull, params, rng):
        return pull.mean

    base, function = {
        "attack": (Attack, lie),
        "filter": (Filter, believe),
        "policy": (Policy, choose),
        "graph": (Graph, neighbours),
        "rewards": (Rewards, reward),
    }[kind]
    return type("Fresh", (base,), {base.function: staticmethod(function)})()


@pytest.mark.parametrize(
    ("kind", "loop"),
    [
        ("attack", "lie_all"),
        ("filter", "believe_all"),
        ("policy", "choose_all"),
        ("graph", "draw_all"),
        ("rewards", "pull_all"),
    ],
)
@pytest.mark.usefixtures("nothing_kept")
def test_a_new_plugin_compiles_alone(kind, loop):
    """The round loop, and the loops of the other parts, are not compiled again."""
    plain = Experiment(agents=5, byzantine=1, f=1, horizon=20, runs=1)
    Run(plain, 0).advance(20)
    names = []
    with watching_compilation(names.append):
        Run(plain.but(**{kind: fresh(kind)}), 0).advance(20)
    loops = [
        name
        for name in names
        if name.startswith(("lie_all", "believe_all", "choose_all", "draw_all", "pull_all", "advance", "exchange"))
    ]
    assert len(loops) == 1
    assert loops[0].startswith(loop)


def test_an_attack_that_changes_the_world_is_caught():
    @compiled
    def lie(world, sender, receiver, params, scratch, rng, report):
        world.true_means[0] = 0.0

    class Vandal(Attack):
        """Breaks what is not its own."""

    Vandal.lie = staticmethod(lie)
    with pytest.raises(AssertionError, match="means"):
        check(Vandal())


BROKEN = {
    "attack": {
        "class Mine(Attack): pass": "no function 'lie'",
        "class Mine(Attack):\n    lie = staticmethod(lambda *a: None)": "not compiled",
        "@compiled\ndef lie(world): pass\nclass Mine(Attack):\n    lie = staticmethod(lie)": r"attack file .*mine.py, line 5: lie\(world\) is not allowed; allowed: lie\(world, sender,",
        "@compiled\ndef lie(world, sender, receiver, params, scratch, rng, report):\n    report.nothing = 1\nclass Mine(Attack):\n    lie = staticmethod(lie)": "attack file .*mine.py, line 7: .*nothing",
        "@compiled\ndef lie(world, sender, receiver, params, scratch, rng, report):\n    raise ValueError('no')\nclass Mine(Attack):\n    lie = staticmethod(lie)": "ValueError",
        "import sys; sys.exit(3)": "SystemExit",
        "class Mine(Attack):\n    lie = staticmethod(compiled(lambda *a: None))\n    def __init__(self): raise KeyError('x')": "KeyError",
    },
    "policy": {
        "@compiled\ndef choose(belief, time, params, rng): return 99999999\nclass Mine(Policy):\n    choose = staticmethod(choose)": "does not exist",
        "@compiled\ndef choose(belief, time, params, rng): return -1\nclass Mine(Policy):\n    choose = staticmethod(choose)": "does not exist",
        "@compiled\ndef choose(belief, time, params, rng): return None\nclass Mine(Policy):\n    choose = staticmethod(choose)": "line 5: choose returns none; allowed: an arm",
    },
    "filter": {
        "@compiled\ndef believe(heard): return math.nan, heard.own_pulls, 0.0\nclass Mine(Filter):\n    believe = staticmethod(believe)": "no number",
        "@compiled\ndef believe(heard): return heard.own_mean, heard.own_pulls\nclass Mine(Filter):\n    believe = staticmethod(believe)": "line 5: believe returns .*; allowed: three numbers",
    },
    "graph": {
        "@compiled\ndef neighbours(receiver, agents, byzantine, params, rng, out): out[0] = 77; return 1\nclass Mine(Graph):\n    neighbours = staticmethod(neighbours)": "named neighbours",
        "@compiled\ndef neighbours(receiver, agents, byzantine, params, rng, out): return 1000\nclass Mine(Graph):\n    neighbours = staticmethod(neighbours)\n    def degrees(self, agents, byzantine): return np.ones(agents)": "named neighbours",
    },
}


BROKEN["rewards"] = {
    "class Mine(Rewards): pass": "no function 'reward'",
    "@compiled\ndef reward(pull, params, rng): return 1.5\nclass Mine(Rewards):\n    reward = staticmethod(reward)": "no number from 0 to 1",
    "@compiled\ndef reward(pull, params, rng): return 0.5 if pull.number < 3 else math.nan\nclass Mine(Rewards):\n    reward = staticmethod(reward)": "no number from 0 to 1",
    "@compiled\ndef reward(pull, rng): return 0.5\nclass Mine(Rewards):\n    reward = staticmethod(reward)": r"reward\(pull, rng\) is not allowed; allowed: reward\(pull, params, rng\)",
    "@compiled\ndef reward(pull, params, rng): return pull\nclass Mine(Rewards):\n    reward = staticmethod(reward)": "line 5: reward returns .*; allowed: a number from 0 to 1",
    "@compiled\ndef reward(pull, params, rng): return 0.5\nclass Mine(Rewards):\n    reward = staticmethod(reward)\n    def prepare(self, means): return 1 / 0": "prepare failed: ZeroDivisionError",
    "@compiled\ndef reward(pull, params, rng): return 0.5\nclass Mine(Rewards):\n    reward = staticmethod(reward)\n    def prepare(self, means): return means[:1]": "prepare made",
}


BROKEN["algorithm"] = {
    "class Mine(Baseline): pass": "no function 'decide'",
    "class Mine(Baseline): decide = 3": "algorithm function decide 3 is not compiled",
    "def decide(state): state.nothing = 1\nclass Mine(Baseline): decide = staticmethod(decide)": "algorithm file .*mine.py, line 5: .*nothing",
    "def decide(state, rng): pass\nclass Mine(Baseline): decide = staticmethod(decide)": r"decide\(state, rng\) is not allowed; allowed: decide\(state\)",
    "def decide(state): return 1\nclass Mine(Baseline): decide = staticmethod(decide)": "line 5: decide returns .*; allowed: nothing",
    "@compiled\ndef decide(state): state.choices[3] = 10**12\nclass Mine(Baseline): decide = staticmethod(decide)": "algorithm chose an arm that does not exist",
}


@pytest.mark.parametrize(("kind", "number"), [(kind, number) for kind in BROKEN for number in range(len(BROKEN[kind]))])
def test_a_plugin_that_is_wrong_gets_one_sentence(kind, number, tmp_path):
    source, words = list(BROKEN[kind].items())[number]
    (tmp_path / "mine.py").write_text(
        "import math\nimport numpy as np\nfrom byzmab import *\nfrom byzmab import compiled\n" + source
    )
    with pytest.raises(BadInput, match=words) as caught:
        Run(Experiment(**{kind: f"{tmp_path}/mine.py:Mine"}, horizon=20), 0).advance(20)
    assert "\n" not in str(caught.value)


def test_a_plugin_file_called_like_a_module_of_pythons_takes_nobodys_place(tmp_path, monkeypatch):
    import json

    (tmp_path / "json.py").write_text(
        "from byzmab import Policy, compiled\n@compiled\ndef choose(belief, time, params, rng): return 0\nclass First(Policy):\n    choose = staticmethod(choose)\n"
    )
    monkeypatch.chdir(tmp_path)
    for wanted in ("json.py:First", "json:First"):
        assert type(PLUGINS["policy"].resolve(wanted)).__name__ == "First"
    import json as again

    assert again is json


def algorithm_of(decide, **attributes):
    return type("Mine", (Baseline,), {"decide": staticmethod(decide), **attributes})


def test_an_algorithm_of_ones_own_that_knows_what_nobody_told_it_is_caught():
    def decide(state):
        """Everyone pulls the arm of which anyone was told most, or of f where f is not 0."""
        means, choices, best = state.told_means, state.choices, 0
        for row in range(means.shape[0]):
            for arm in range(state.arms):
                best = arm if means[row, arm] > means[0, best] else best
        for agent in range(state.agents):
            choices[agent] = best

    def decide_by_f(state):
        for agent in range(state.agents):
            state.choices[agent] = state.f

    with pytest.raises(AssertionError, match="an agent that hears nobody chooses by what others heard"):
        check(algorithm_of(decide))
    with pytest.raises(AssertionError, match="f changes its choices, which `trims` denies"):
        check(algorithm_of(decide_by_f, trims=False))
    check(algorithm_of(decide_by_f, trims=True))


def test_an_algorithm_that_tells_what_is_no_number_is_caught():
    def decide(state):
        """Stay with the first arm."""

    def update(state):
        state.told_means[0, 0] = np.inf

    with pytest.raises(AssertionError, match="it tells numbers that are not finite"):
        check(algorithm_of(decide, update=staticmethod(update)))


def test_a_policy_that_never_tries_an_arm_is_caught():
    with pytest.raises(AssertionError, match="alike"):
        check(RoundRobin())


def test_a_filter_that_depends_on_more_than_it_declares_is_caught():
    @compiled
    def believe(heard):
        return heard.own_mean, heard.own_pulls + (heard.time if heard.means.size else 0), 0.0

    class Forgetful(Filter):
        """Uses the time, but declares that only means matter."""

        depends_on = 2

    Forgetful.believe = staticmethod(believe)
    with pytest.raises(AssertionError, match="depends_on"):
        check(Forgetful())


def test_a_filter_that_looks_at_counts_beyond_its_own_but_declares_them_capped_is_caught():
    @compiled
    def believe(heard):
        total = 0.0
        for pulls in heard.pulls:
            total += pulls
        return heard.own_mean, heard.own_pulls + total, 0.0

    class Impressed(Filter):
        """Counts what others claim, beyond its own pulls."""

        depends_on = CAPPED_COUNTS

    Impressed.believe = staticmethod(believe)
    with pytest.raises(AssertionError, match="depends_on"):
        check(Impressed())


def test_a_digest_that_looks_at_ones_own_tally_is_caught():
    @compiled
    def digest(heard):
        return heard.means.sum() + heard.own_mean, heard.means.size

    class Vain(Mean):
        """Counts itself twice, the first time as it was when it heard the others."""

    Vain.digest = staticmethod(digest)
    with pytest.raises(AssertionError, match="believe_digest"):
        check(Vain())


def test_an_attack_that_equivocates_though_it_denies_it_is_caught():
    @compiled
    def lie(world, sender, receiver, params, scratch, rng, report):
        for arm in range(report.pulls.size):
            report.pulls[arm], report.means[arm] = 10.0, 0.0 if receiver % 2 else 1.0

    class TwoFaced(Attack):
        """Tells every other receiver the contrary."""

        equivocates = False

    TwoFaced.lie = staticmethod(lie)
    with pytest.raises(AssertionError, match="equivocates"):
        check(TwoFaced())


def test_a_filter_without_its_function_is_told_so():
    class Empty(Filter):
        """Nothing."""

    for use in (check, lambda filter: Experiment(filter=filter)):
        with pytest.raises(BadInput, match=r"^filter Empty has no function 'believe'$"):
            use(Empty)


def test_a_filter_that_does_not_believe_itself_alone_is_caught():
    @compiled
    def believe(heard):
        return 0.5, heard.own_pulls, 0.0

    class Agnostic(Filter):
        """Believes nothing."""

    Agnostic.believe = staticmethod(believe)
    with pytest.raises(AssertionError, match="alone"):
        check(Agnostic())


def test_a_filter_for_which_the_first_of_two_equally_near_reports_counts_is_caught():
    @compiled
    def first(heard):
        nearest = heard.own_mean
        for number, mean in enumerate(heard.means):
            if number == 0 or abs(mean - heard.own_mean) < abs(nearest - heard.own_mean):
                nearest = mean
        return nearest, heard.own_pulls, 0.0

    @dataclass(frozen=True)
    class First(Filter):
        believe = staticmethod(first)

    with pytest.raises(AssertionError, match=r"^the order of the reports changes the belief"):
        check(First)


def test_a_filter_that_explains_only_some_reports_is_caught():
    @compiled
    def first_only(heard):
        if heard.means.size > 0:
            tell(heard.fates, 0, KEPT)
        return heard.own_mean, heard.own_pulls, 0.0

    @dataclass(frozen=True)
    class Sloppy(Filter):
        believe = staticmethod(first_only)

    with pytest.raises(AssertionError, match="one fate for each"):
        check(Sloppy)


def test_a_filter_that_believes_otherwise_when_it_explains_itself_is_caught():
    @compiled
    def twofold(heard):
        return heard.own_mean, heard.own_pulls, 0.0 if heard.fates is None or heard.means.size == 0 else 1.0

    @dataclass(frozen=True)
    class Twofold(Filter):
        believe = staticmethod(twofold)

    with pytest.raises(AssertionError, match="something else where somebody asks"):
        check(Twofold)


def test_a_graph_in_which_agents_hear_themselves_is_caught():
    @compiled
    def neighbours(receiver, agents, byzantine, params, rng, out):
        out[0] = receiver
        return 1

    class Mirror(Graph):
        """Everyone hears itself."""

    Mirror.neighbours = staticmethod(neighbours)
    with pytest.raises(AssertionError, match="itself"):
        check(Mirror())


@pytest.mark.parametrize(
    ("value", "words"), [(lambda mean: mean**2, "was asked for"), (lambda mean: mean + 2.0, "0 to 1")]
)
def test_rewards_of_another_mean_or_range_are_caught(value, words):
    value = compiled(value)

    @compiled
    def reward(pull, params, rng):
        return value(pull.mean)

    class Off(Rewards):
        """Not what was asked for."""

    Off.reward = staticmethod(reward)
    with pytest.raises(AssertionError, match=words):
        check(Off())


def test_lies_that_are_no_numbers_are_silence():
    @compiled
    def lie(world, sender, receiver, params, scratch, rng, report):
        for arm in range(report.pulls.size):
            report.pulls[arm], report.means[arm] = (np.nan, 0.5) if arm else (5.0, np.inf)

    class Noise(Attack):
        """Not a number."""

    Noise.lie = staticmethod(lie)
    settings = {"agents": 6, "byzantine": 1, "horizon": 50, "runs": 1}
    noisy, silent = (Run(Experiment(attack=attack, **settings), 0) for attack in (Noise(), "starve"))
    for played in (noisy, silent):
        played.advance(50)
    assert np.array_equal(noisy.state.regret, silent.state.regret)


def at_contexts(kind, **functions):
    """A plug-in of a kind for contexts with these functions."""
    return type("Mine", (kind,), {name: staticmethod(function) for name, function in functions.items()})()


def test_statistics_that_are_none_are_silence_and_so_is_what_is_not_filled_in():
    @compiled
    def lopsided(world, sender, receiver, params, scratch, rng, report):
        for arm in range(report.shape[0]):
            for index in range(report.shape[1]):
                report[arm, index] = world.statistics[sender, arm, index]
            report[arm, 1 + 2 * 3 + 1] -= 1e6  # of d = 3: above the diagonal of G alone

    @compiled
    def to_one_alone(world, sender, receiver, params, scratch, rng, report):
        if receiver == world.byzantine:
            for arm in range(report.shape[0]):
                report[arm, 0] = 1e200  # too large to count with

    settings = {"context": 3, "arms": "random:3", "filter": "pooled", "agents": 6, "byzantine": 1, "runs": 1}
    attacks = at_contexts(ContextAttack, lie_at=lopsided), at_contexts(ContextAttack, lie_at=to_one_alone), "starve"
    results = []
    for attack in attacks:
        run = Run(Experiment(attack=attack, horizon=50, **settings), 0)
        run.advance(50)
        results.append(run.state.regret.tolist())
    assert results[0] == results[1] == results[2]


def test_an_arm_that_is_not_filled_in_is_not_told_as_to_another():
    @compiled
    def to_one_alone(world, sender, receiver, params, scratch, rng, report):
        if receiver == world.byzantine:
            for arm in range(report.shape[0]):
                for index in range(report.shape[1]):
                    report[arm, index] = world.statistics[sender, arm, index]

    settings = {"context": 3, "arms": "random:3", "filter": "pooled", "agents": 4, "byzantine": 1, "runs": 1}
    run = Run(Experiment(attack=at_contexts(ContextAttack, lie_at=to_one_alone), horizon=5, **settings), 0)
    run.advance(5)
    state = run.state
    rows = state.inbox_rows[: int(state.inbox_starts[-1])][state.inbox_senders[: int(state.inbox_starts[-1])] == 0]
    assert [bool(state.told_statistics[row].any()) for row in rows] == [True, False, False]


def broken_at_contexts():
    @compiled
    def infinite(world, sender, receiver, params, scratch, rng, report):
        report[0, 0], report[0, 1] = 5.0, np.inf

    @compiled
    def vandal(world, sender, receiver, params, scratch, rng, report):
        world.statistics[receiver, 0, 1] += 0.1

    @compiled
    def writes_own(own, told, rows, arm, x, f, ridge, params, belief):
        belief[0], belief[1] = 0.5, 1.0
        own[8] += 0.1

    @compiled
    def writes_context(own, told, rows, arm, x, f, ridge, params, belief):
        belief[0], belief[1] = 0.5, 1.0
        x[0] = 0.0

    @compiled
    def half(own, told, rows, arm, x, f, ridge, params, belief):
        belief[0] = 0.5

    nothing = type("Mine", (ContextBaseline,), {})()
    return [
        (at_contexts(ContextAttack, lie_at=infinite), "of arm 1 it tells numbers that are not finite"),
        (at_contexts(ContextAttack, lie_at=vandal), "it changed statistics"),
        (type("Mine", (ContextAttack,), {})(), "neither `lie` nor `lie_at`"),
        (at_contexts(ContextBaseline, combine=writes_own), "it changed statistics"),
        (at_contexts(ContextBaseline, combine=writes_context), "it changed contexts"),
        (at_contexts(ContextBaseline, combine=half), "^algorithm made a belief that is no number"),
        (nothing, "^algorithm function combine None is not compiled"),
    ]


def test_plugins_for_contexts_that_are_wrong_are_caught():
    for plugin, sentence in broken_at_contexts():
        with pytest.raises((AssertionError, BadInput), match=sentence):
            check(plugin)


def test_a_plugin_is_found_in_the_users_own_file(tmp_path, monkeypatch):
    source = """
        from dataclasses import dataclass
        from typing import Self
        from byzmab import Attack, compiled

        @compiled
        def lie(world, sender, receiver, params, scratch, rng, report):
            for arm in range(report.pulls.size):
                report.pulls[arm], report.means[arm] = 9.0, params[0]

        @dataclass(frozen=True)
        class Flat(Attack):
            level: float = 0.5

            lie = staticmethod(lie)

            @classmethod
            def from_text(cls, text: str) -> Self:
                return cls(float(text or 0.5))
    """
    (tmp_path / "flat_attack.py").write_text(textwrap.dedent(source))
    monkeypatch.chdir(tmp_path)
    by_file = PLUGINS["attack"].resolve("flat_attack.py:Flat")
    by_module = PLUGINS["attack"].resolve("flat_attack:Flat:0.25")
    assert (by_file.level, by_module.level) == (0.5, 0.25)
    check(by_file)
    for wanted in ("flat_attack.py:Flit", "flat_attack:lie", "nowhere.py:Flat", "nowhere:Flat"):
        with pytest.raises(BadInput, match="attack"):
            PLUGINS["attack"].resolve(wanted)
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(BadInput, match="ZeroDivisionError"):
        PLUGINS["attack"].resolve("broken.py:Flat")
