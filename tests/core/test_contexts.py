"""One agent with contexts: statistics, reports and what no honest agent tells, and reports that become pairs at x."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byzmab import BadInput, compiled
from byzmab.core.contexts.believe import PAIRS, Inbox, Reading, compare_new, scratch_shapes
from byzmab.core.contexts.centre import write_centre
from byzmab.core.contexts.comparing import CAPS, CAPS_AT, DISTANCES, TERMS, WEIGHTS, write_caps_at
from byzmab.core.contexts.decide import ROWS as BELIEF_ROWS
from byzmab.core.contexts.decide import context_decision
from byzmab.core.contexts.linear import solve
from byzmab.core.contexts.reports import (
    ContextReport,
    check_all,
    check_growth,
    check_statistics,
    checked_context,
    checked_context_report,
    matrix_of,
    report_of,
    row_of,
    triangle_of,
)
from byzmab.core.contexts.shares import (
    SHARES,
    ArmReports,
    equal_shares,
    factorize_jointly,
    information_shares,
    projections,
)
from byzmab.core.contexts.statistics import (
    empty_statistics,
    gram_of,
    hear,
    hear_as,
    moment_of,
    observe,
    row_size,
    theta_of,
)
from byzmab.core.contexts.trial import LEAD, LEAST_LEAD
from byzmab.core.filters import FILTERS
from byzmab.core.policies import POLICIES

D, ARMS, RIDGE = 4, 2, 0.7


def context(rng, d=D):
    x = rng.normal(size=d)
    return x / np.linalg.norm(x)


def statistics(rng, pulls, d=D, arms=ARMS):
    """The statistics of an honest agent, and its contexts and rewards arm by arm."""
    own, pulled = empty_statistics(arms, d, RIDGE), []
    for row in own:
        seen = [(context(rng, d), float(rng.random())) for _ in range(pulls)]
        for x, reward in seen:
            observe(row, x, reward, RIDGE)
        pulled.append(seen)
    return own, pulled


def decided(own, others, x, shares, f=0, filter="pooled", vetting=False, time=50, lead=LEAST_LEAD):
    """The belief of one agent, 3 × arms."""
    told, arms, d = np.array(others), own.shape[0], x.size
    capacity = max(1, len(others))
    told = told if len(others) else np.zeros((1, arms, row_size(d)))
    shapes = scratch_shapes(arms, d, capacity)
    scratch = [np.zeros(shape, np.uint64 if name == "stamps" else float) for name, shape in shapes.items()]
    scratch[-1][LEAD] = lead
    beliefs, rows = np.zeros((BELIEF_ROWS, arms)), np.arange(len(others), dtype=np.uint64)
    plugin = FILTERS.resolve(filter)
    decide = context_decision(plugin, POLICIES.resolve("tuned"))
    params = np.array(plugin.params, float), np.array([0.25])
    versions = np.ones(arms, np.uint64), np.ones((capacity, arms), np.uint64)
    rng = np.zeros(2, np.uint64)
    inbox, reading = (told, versions[1], rows), (RIDGE, SHARES[shares], vetting, plugin.consistency, f, 1.5, time, 0)
    arm = decide(own, versions[0], beliefs, inbox, x, reading, params, tuple(scratch), rng, True)
    return arm, beliefs[:3]


def test_rank_one_updates_give_the_ridge_estimate():
    own, pulled = statistics(np.random.default_rng(0), pulls=300)
    for row, seen in zip(own, pulled, strict=True):
        X, r = np.array([x for x, _ in seen]), np.array([reward for _, reward in seen])
        A = RIDGE * np.eye(D) + X.T @ X
        assert row[0] == 300
        assert theta_of(row, D) == pytest.approx(np.linalg.solve(A, X.T @ (r - 0.5)), abs=1e-12)
        assert row[-D * D :].reshape(D, D) == pytest.approx(np.linalg.inv(A), abs=1e-12)


def test_a_report_is_heard_as_it_was_meant():
    own, _ = statistics(np.random.default_rng(1), pulls=37)
    report = ContextReport.from_json(report_of(own, D, ("a", "b")).to_json())
    assert len(json.loads(report.to_json())["grams"][0]) == D * (D + 1) // 2
    report = checked_context_report(report, ("a", "b"), D)
    for arm, row in enumerate(own):
        assert row_of(report.pulls[arm], report.moments[arm], report.grams[arm], RIDGE) == pytest.approx(row, abs=1e-9)
        assert matrix_of(triangle_of(report.grams[arm])) == pytest.approx(report.grams[arm])


@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(0, 40), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_honest_reports_pass_every_check(seed, before, more, d):
    """Check 4: from any number of pulls to any larger one."""
    rng = np.random.default_rng(seed)
    own, _ = statistics(rng, before, d)
    first = checked_context_report(report_of(own, d, ("a", "b")), ("a", "b"), d)
    for row in own:
        for _ in range(more):
            observe(row, rng.uniform(0, 1) * context(rng, d), float(rng.integers(2)), RIDGE)
    second = checked_context_report(report_of(own, d, ("a", "b")), ("a", "b"), d)
    check_growth(first, second)


def break_one(report, arm, **parts):
    changed = {name: getattr(report, name).copy() for name in ("pulls", "moments", "grams")}
    for name, value in parts.items():
        changed[name][arm] = value
    return report._replace(**changed)


def test_each_single_violation_is_refused():
    own, _ = statistics(np.random.default_rng(2), pulls=30)
    good = report_of(own, D, ("a", "b"))
    gram, moment = good.grams[1], good.moments[1]
    lopsided = gram.copy()
    lopsided[0, 1] += 1.0
    values, vectors = np.linalg.eigh(gram)
    indefinite = gram - (values[0] + 1.0) * np.outer(vectors[:, 0], vectors[:, 0])
    flat = np.zeros((D, D))
    flat[0, 0] = 30.0  # all pulls at one context, and yet b points elsewhere
    for sentence, broken in {
        "not finite": break_one(good, 1, moments=np.nan * moment),
        "less than no pulls": break_one(good, 1, pulls=-1.0),
        "not symmetric": break_one(good, 1, grams=lopsided),
        "tr G ≤ n": break_one(good, 1, grams=2.0 * gram),
        "eigenvalue": break_one(good, 1, grams=indefinite),
        "‖b‖ ≤ n/2": break_one(good, 1, moments=16.0 * moment / np.linalg.norm(moment)),
        "bᵀG⁺b ≤ n/4": break_one(good, 1, grams=flat, moments=np.array([0.0, 10.0, 0.0, 0.0])),
    }.items():
        with pytest.raises(BadInput, match=sentence.replace("(", r"\(").replace("⁺", ".")):
            checked_context_report(broken, ("a", "b"), D)
    with pytest.raises(BadInput, match="dimensions for every arm"):
        checked_context_report(good, ("a", "b"), D + 1)


def test_each_impossible_step_between_two_reports_is_refused():
    own, _ = statistics(np.random.default_rng(3), pulls=30)
    before = report_of(own, D, ("a", "b"))
    x = np.array([1.0, 0.0, 0.0, 0.0])
    after = break_one(before, 0, pulls=31.0, grams=before.grams[0] + np.outer(x, x), moments=before.moments[0] + x / 2)
    check_growth(before, after)
    for broken in (
        break_one(after, 0, pulls=29.0),
        break_one(after, 0, grams=before.grams[0] + 1.5 * np.outer(x, x)),
        break_one(after, 0, grams=before.grams[0] - np.outer(x, x)),
        break_one(after, 0, moments=before.moments[0] + 0.6 * x),
        break_one(after, 0, moments=before.moments[0] + np.array([0.0, 0.5, 0.0, 0.0])),
    ):
        with pytest.raises(BadInput, match="arm 'a' moved by what no pulls bring"):
            check_growth(before, broken)


def test_sums_over_very_many_pulls_are_no_lies_though_every_addition_rounds_to_one_side():
    """At one context, (1, 1, 1)/√3; so many pulls that 1 / 3 is 1.5 · 10⁻⁸ less or more when it is added."""
    x, before = np.full(3, 3.0**-0.5), None
    for pulls in (1e8, 2e8, 2.01e8):
        gram = np.full((3, 3), rounded_sum(x[0] * x[0], int(pulls)))
        moment = np.full(3, rounded_sum(0.5 * x[0], int(pulls)))
        check_statistics(pulls, gram, moment)
        after = ContextReport(np.array([pulls]), moment[None], gram[None], ("a",))
        if before is not None:
            check_growth(before, after)
        before = after


@compiled
def rounded_sum(value, count):
    total = 0.0
    for _ in range(count):
        total += value
    return total


@pytest.mark.parametrize(
    "x",
    [[1.0] * D, [0.5] * (D - 1), [np.nan] * D, "abcd", [[0.1] * D], None, [10**400] * D, [1e200] * D, ["0.1"] * D, 0.5],
    ids=lambda x: str(x)[:20],
)
@pytest.mark.filterwarnings("error")
def test_a_context_that_is_none_is_refused(x):
    with pytest.raises(
        BadInput,
        match=r"^context (.* is not allowed; allowed: 4 finite numbers|has norm .*; allowed: a norm above 0 and at most 1)",
    ):
        checked_context(x, D)


def test_a_number_is_no_list_of_one():
    with pytest.raises(BadInput, match=r"^context '0.5' is not allowed; allowed: 1 finite number in a list"):
        checked_context(0.5, 1)


def test_directions_in_single_precision_are_contexts_of_length_1():
    rng = np.random.default_rng(5)
    for x in rng.normal(size=(100, D)).astype(np.float32):
        x /= np.linalg.norm(x)
        seen = checked_context(x, D)
        assert np.linalg.norm(seen) <= 1.0 + 1e-12 and seen == pytest.approx(x, abs=1e-6)
        assert np.array_equal(checked_context(seen, D), seen)
    with pytest.raises(BadInput, match=r"^context has norm 1.00001; allowed: a norm above 0 and at most 1"):
        checked_context([1.00001, 0.0, 0.0, 0.0], D)


def test_reports_without_a_gram_matrix_are_silence():
    own, _ = statistics(np.random.default_rng(4), pulls=5)
    for index, value in ((0, -1.0), (1, np.inf), (1 + 2 * D, -3.0), (2 + 2 * D, 50.0)):
        row = own[0].copy()
        row[index] = value
        if index == 2 + 2 * D:
            row[1 + 3 * D] = value  # symmetric, but not positive semidefinite
        assert not hear(row, D, RIDGE)
        assert not row.any()
    for above in (50.0, np.nan, 1e200):  # in the upper triangle alone: not symmetric
        row = own[0].copy()
        row[2 + 2 * D] = above
        assert not hear(row, D, RIDGE)


def test_with_nobody_trimmed_equal_shares_are_the_joint_ridge_estimate():
    """Check 2: compared with a direct solve over all contexts and rewards, whatever contexts each agent saw."""
    rng = np.random.default_rng(5)
    agents = [statistics(rng, pulls=int(pulls)) for pulls in (20, 24, 18, 22)]
    x = context(rng)
    _, belief = decided(agents[0][0], [own for own, _ in agents[1:]], x, "equal")
    for arm in range(ARMS):
        seen = [pull for _, pulled in agents for pull in pulled[arm]]
        X, r = np.array([x for x, _ in seen]), np.array([reward for _, reward in seen])
        A = RIDGE * np.eye(D) + X.T @ X
        assert belief[0, arm] == pytest.approx(0.5 + x @ np.linalg.solve(A, X.T @ (r - 0.5)), abs=1e-9)
        assert belief[1, arm] == pytest.approx(1.0 / (x @ np.linalg.solve(A, x)))


@pytest.mark.parametrize("shares", ["equal", "information"])
def test_shares_add_up_to_the_joint_answer(shares):
    """Pairs and prior together weigh 1/(xᵀA⁻¹x), and their mean is the joint estimate, from whatever centre."""
    rng = np.random.default_rng(6)
    owns = [statistics(rng, pulls, arms=1)[0] for pulls in (10, 9, 400)]
    own, told, rows, x, v = owns[0][0], np.array(owns[1:]), np.arange(2, dtype=np.uint64), context(rng), np.empty(D)
    out, left_out, factor = np.zeros((3, 2)), np.zeros(2), np.empty(D * D)
    terms = compared(own, told, f=1)
    centre, weights = rng.normal(size=D), terms[CAPS]
    assert terms[CAPS, 0] == 1.0 > terms[CAPS, 1]  # the one with 400 pulls counts for twice oneself
    assert factorize_jointly(own, told, rows, 0, D, RIDGE, weights, left_out, factor, np.empty(D))
    solve(factor, x, v)
    at = ArmReports(own, told, rows, 0, left_out)
    if shares == "equal":
        pair = equal_shares(at, x, v, RIDGE, centre, weights, out)
    else:
        pair = information_shares(at, x, v, RIDGE, centre, weights, out)
    weight = pair.pulls + out[0].sum() + pair.prior
    total = pair.pulls * pair.mean + out[0] @ out[1] + pair.prior_total
    A, b = RIDGE * np.eye(D) + gram_of(own, D).reshape(D, D), moment_of(own, D).copy()
    for cap, (row,) in zip(terms[CAPS], told, strict=True):
        A += cap * gram_of(row, D).reshape(D, D)
        b += cap * moment_of(row, D)
    assert weight == pytest.approx(1.0 / (x @ np.linalg.solve(A, x)))
    assert total / weight == pytest.approx(0.5 + x @ np.linalg.solve(A, b))


def compared(own, told, f):
    """How reports on one arm compare with one's own row: the terms of each."""
    count = len(told)
    inbox = Inbox(told, np.ones((count, 1), np.uint64), np.arange(count, dtype=np.uint64))
    reading, terms = Reading(RIDGE, SHARES["equal"], True, False, f, 1.5, 50, count), np.zeros((TERMS, count))
    compare_new(own, np.uint64(1), inbox, 0, D, reading, np.zeros(PAIRS + count, np.uint64), terms)
    return terms


def test_only_reports_that_are_others_are_compared_again_and_with_the_same_result():
    rng = np.random.default_rng(12)
    own, *others = (statistics(rng, 20, arms=1)[0] for _ in range(5))
    told, count = np.array(others), 4
    inbox = Inbox(told, np.ones((count, 1), np.uint64), np.arange(count, dtype=np.uint64))
    reading, terms = Reading(RIDGE, SHARES["equal"], True, False, 1, 1.5, 50, count), np.zeros((TERMS, count))
    stamps, known = np.zeros(PAIRS + count, np.uint64), (own[0], np.uint64(1), inbox, 0, D, reading)
    compare_new(*known, stamps, terms)
    for report in (1, 2):
        observe(told[report, 0], context(rng), 1.0, RIDGE)
    inbox.versions[2] = 2
    compare_new(*known, stamps, terms)
    fresh = compared(own[0], told, f=1)
    assert (terms[DISTANCES] == fresh[DISTANCES]).tolist() == [True, False, True, True]  # 1 did not say so


def test_a_lie_told_with_a_known_matrix_is_heard_as_any_other():
    own, _ = statistics(np.random.default_rng(13), pulls=40)
    lie = own[0].copy()
    moment_of(lie, D)[:] *= -0.5
    lie[1 + D : 1 + 2 * D] = lie[-D * D :] = 7.0  # what follows from n, b and G is not told
    solved = lie.copy()
    assert hear_as(lie, own[0], D) and hear(solved, D, RIDGE)
    assert lie == pytest.approx(solved, abs=1e-12)
    assert not hear_as(lie, own[1], D)
    moment_of(lie, D)[0] = np.nan
    assert not hear_as(lie, own[0], D)


def caps_of(own, others, f):
    """ρ of some agents' reports on one arm."""
    return compared(own[0], np.array(others), f)[CAPS]


def test_neighbours_who_saw_other_contexts_count_in_full_unless_they_claim_more_than_honest_ones_do():
    """One's own contexts are all alike; of four others, who saw all kinds, the last multiplies what it tells."""
    rng = np.random.default_rng(9)
    own, x, lies = empty_statistics(1, D, RIDGE), context(rng), 1000.0
    for _ in range(40):
        observe(own[0], x, 0.5, RIDGE)
    others = [statistics(rng, 40, arms=1)[0] for _ in range(4)]
    assert (caps_of(own, others, f=1) > 0.9).all()
    others[-1] = lies * others[-1]
    hear(others[-1][0], D, RIDGE)
    caps = caps_of(own, others, f=1)
    assert sorted(caps)[1:] == [1.0, 1.0, 1.0]
    assert caps[-1] < 2.0 / lies
    assert (caps_of(own, others, f=0) == 1.0).all()  # where no liars are expected, nobody is cut down


def test_who_claims_to_have_seen_nothing_but_the_present_context_counts_there_for_no_more_than_honest_ones():
    """It is within ρ, as it knows one direction alone, and there it would be worth more than all others together."""
    rng = np.random.default_rng(14)
    own, *others = (statistics(rng, 40, arms=1)[0] for _ in range(6))
    x, lie = context(rng), empty_statistics(1, D, RIDGE)
    for _ in range(60):
        observe(lie[0], x, 0.0, RIDGE)
    told, rows = np.array([*others, lie]), np.arange(6, dtype=np.uint64)
    terms = compared(own[0], told, f=1)
    assert terms[CAPS, -1] == 1.0
    at, work = ArmReports(own[0], told, rows, 0, np.zeros(6)), (np.empty(D), np.empty(6))
    assert write_caps_at(at, x, 1, terms, *work)
    u = np.linalg.solve(RIDGE * np.eye(D) + gram_of(own[0], D).reshape(D, D), x)
    mine, *known = (u @ gram_of(row[0], D).reshape(D, D) @ u for row in (own, *others, lie))
    assert terms[CAPS_AT].tolist() == [1.0] * 5 + [pytest.approx(max(mine, *known[:-1]) / known[-1])]
    assert terms[CAPS_AT, -1] < 0.5
    assert not write_caps_at(at, x, 0, terms, *work)
    assert terms[CAPS_AT].tolist() == [1.0] * 6  # where no liars are expected, nobody is cut down


def centre_of(owns, f, lie=0.0):
    """The centre and the weights of the first of some agents; to b of the last one a lie is added."""
    own, told = owns[0][0], np.array(owns[1:])
    told[-1, 0, 1 : 1 + D] += lie
    hear(told[-1, 0], D, RIDGE)
    count = len(told)
    terms, left_out, rows = compared(own, told, f), np.zeros(count), np.arange(count, dtype=np.uint64)
    terms[CAPS_AT] = 1.0
    factor, centre = np.empty(D * D), np.empty(D)
    write_centre(ArmReports(own, told, rows, 0, left_out), RIDGE, f, terms, factor, centre, np.empty(D))
    return centre, terms[WEIGHTS]


def test_the_centre_is_the_joint_estimate_where_no_liars_are_expected():
    rng = np.random.default_rng(8)
    owns = [statistics(rng, 40, arms=1)[0] for _ in range(5)]
    centre, weights = centre_of(owns, f=0)
    A, b = RIDGE * np.eye(D) + gram_of(owns[0][0], D).reshape(D, D), moment_of(owns[0][0], D).copy()
    for weight, (row,) in zip(weights, owns[1:], strict=True):
        A, b = A + weight * gram_of(row, D).reshape(D, D), b + weight * moment_of(row, D)
    assert centre == pytest.approx(np.linalg.solve(A, b))


def test_a_report_pulls_the_centre_no_harder_the_more_it_lies():
    """Among five honest reports a lie in b is worth a bounded step, where the joint estimate follows it anywhere."""
    rng = np.random.default_rng(8)
    owns = [statistics(rng, 40, arms=1)[0] for _ in range(7)]
    honest, _ = centre_of(owns, f=1)
    for lie in (10.0, 1e3, 1e6):
        centre, weights = centre_of(owns, f=1, lie=lie)
        assert np.linalg.norm(centre - honest) < 0.2
        assert weights[-1] < weights[:-1].min()
    joint, _ = centre_of(owns, f=0, lie=1e3)
    assert np.linalg.norm(joint - honest) > 1.0


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("filter", ["pooled", "trimmed"])
def test_with_nobody_heard_it_is_linucb(shares, filter):
    """Check 3, of one decision: xᵀθ + √(ln t / 4 · xᵀA⁻¹x)."""
    rng = np.random.default_rng(7)
    own, _ = statistics(rng, pulls=12)
    for time in (1, 10, 100):
        x = context(rng)
        arm, belief = decided(own, [], x, shares, f=2, filter=filter, time=time)
        mean, spread = [], []
        for row in own:
            A = RIDGE * np.eye(D) + gram_of(row, D).reshape(D, D)
            mean.append(0.5 + x @ np.linalg.solve(A, moment_of(row, D)))
            spread.append(x @ np.linalg.solve(A, x))
        assert belief[0] == pytest.approx(mean)
        assert belief[1] == pytest.approx(1.0 / np.array(spread))
        assert arm == np.argmax(np.array(mean) + np.sqrt(np.log(time) / 4 * np.array(spread)))


@given(st.integers(0, 10**6), st.lists(st.floats(-1e6, 1e6), min_size=2 * D, max_size=2 * D))
@settings(max_examples=100, deadline=None)
def test_at_a_context_lies_cannot_drag_a_trimmed_projection_outside_the_honest_range(seed, lies):
    """The trimmed-mean lemma, pointwise in x: between the least and the largest of what honest agents know of x.

    It says nothing of how far these are from the truth: the ridge pulls all of them towards ½.
    """
    rng = np.random.default_rng(seed)
    honest = [statistics(rng, 10)[0] for _ in range(6)]
    liars = [honest[0].copy() for _ in range(2)]
    for number, liar in enumerate(liars):
        for row in liar:
            row[1 : 1 + D] = lies[number * D : (number + 1) * D]
            hear(row, D, RIDGE)
    x = context(rng)
    _, belief = decided(honest[0], [*honest[1:], *liars], x, "projection", f=2, filter="trimmed")
    told, rows, out = np.array(honest), np.arange(6, dtype=np.uint64), np.zeros((3, 6))
    for arm in range(ARMS):
        pair = projections(ArmReports(honest[0][arm], told, rows, arm, np.zeros(6)), x, RIDGE, out)
        prior = RIDGE / (x @ x)
        weight = belief[1, arm] - prior
        filtered = (belief[0, arm] * belief[1, arm] - prior * 0.5) / weight  # before the prior was added
        row = honest[0][arm]
        alone = 0.5 + x @ theta_of(row, D) / (1.0 - prior * (x @ row[-D * D :].reshape(D, D) @ x))
        assert pair.heard == 6
        assert min(out[1].min(), alone) - 1e-9 <= filtered <= max(out[1].max(), alone) + 1e-9


def test_vetting_leaves_out_parameters_that_contradict_ones_own_data():
    """Two who tell −θ of the others are left out, and f is lowered: nobody else is trimmed then."""
    rng, theta = np.random.default_rng(8), np.array([0.4, 0.0, 0.0, 0.0])
    owns = []
    for _ in range(6):
        own = empty_statistics(1, D, RIDGE)
        for _ in range(200):
            x = context(rng)
            observe(own[0], x, float(rng.random() < 0.5 + x @ theta), RIDGE)
        owns.append(own)
    liars = [owns[1].copy(), owns[2].copy()]
    for liar in liars:
        liar[0, 1 : 1 + D] *= -1.0
        hear(liar[0], D, RIDGE)
    x = np.array([1.0, 0.0, 0.0, 0.0])
    _, without_them = decided(owns[0], owns[1:], x, "equal", f=0)
    _, vetted = decided(owns[0], [*owns[1:], *liars], x, "equal", f=2, vetting=True)
    _, fooled = decided(owns[0], [*owns[1:], *liars], x, "equal", f=0, vetting=False)
    assert vetted == pytest.approx(without_them)
    _, alone = decided(owns[0], [], x, "equal")
    _, untried = decided(owns[0], [*owns[1:], *liars], x, "equal", f=2, vetting=True, lead=LEAST_LEAD - 0.01)
    assert untried == pytest.approx(alone)
    assert fooled[0, 0] < vetted[0, 0] - 0.1


@pytest.mark.parametrize("seed", range(60))
def test_all_arms_looked_at_together_are_refused_exactly_when_one_of_them_is(seed):
    """Statistics of real pulls, and such with one number changed by a little or a lot, NaN and negative counts included."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, 12, 4))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    pulls, grams = np.full(3, 12.0), np.einsum("kna,knb->kab", x, x)
    moments = np.einsum("kna,kn->ka", x, rng.integers(0, 2, (3, 12)) - 0.5)
    part = (pulls, grams, moments)[seed % 3]
    part[tuple(rng.integers(0, part.shape))] += rng.choice([0.0, 1e-12, 1e-3, 0.5, -0.5, -15.0, 40.0, np.nan, np.inf])

    def refused(check):
        try:
            check()
        except BadInput:
            return True
        return False

    alone = [refused(lambda arm=arm: check_statistics(pulls[arm], grams[arm], moments[arm])) for arm in range(3)]
    assert refused(lambda: check_all(pulls, grams, moments)) == any(alone)
    before = ContextReport(np.zeros(3), np.zeros((3, 4)), np.zeros((3, 4, 4)), ("a", "b", "c"))
    after = ContextReport(pulls, moments, grams, ("a", "b", "c"))
    assert refused(lambda: check_growth(before, after)) == any(alone)
