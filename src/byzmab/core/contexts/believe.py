"""One agent believes at a context: the loop over its arms that a live agent and the simulator share.

`believe` below is the paper's filter; `specialize` puts the chosen filter's own function in its place.
"""

from typing import NamedTuple

import numpy as np

from byzmab.core.believe import is_sound
from byzmab.core.compiler import compiled_borrowing, compiled_borrowing_noinline
from byzmab.core.contexts.centre import weight_of, write_centre
from byzmab.core.contexts.comparing import (
    EXPECTED,
    FIRST,
    TERMS,
    WEIGHTS,
    compare,
    information_of,
    vet,
    write_caps,
    write_caps_at,
)
from byzmab.core.contexts.linear import dot, solve
from byzmab.core.contexts.shares import (
    EQUAL,
    PROJECTION,
    ArmReports,
    OwnPair,
    equal_shares,
    information_shares,
    projections,
)
from byzmab.core.contexts.statistics import NEUTRAL, spread_at, theta_of
from byzmab.core.contexts.trial import HEARD, LEAD, LEAST_LEAD
from byzmab.core.draws import fold
from byzmab.core.filters.trimmed import believe  # `specialize` puts the filter's own in its place
from byzmab.core.report import Belief, Floats, Heard, Words

ONLY_HERE = np.uint64(0)  # the stamp of a joint matrix that holds at one context
COMPARED, JOINED, PAIRS = range(3)  # stamps: of what `terms` were made from, what `factors` were, and report by report


class Inbox(NamedTuple):
    """The reports that an agent hears."""

    told: Floats  # rows × arms × numbers: see core/contexts/statistics.py
    versions: Words  # rows × arms: another number whenever a report on an arm is another
    rows: Words  # which rows


class Reading(NamedTuple):
    """How reports are read."""

    ridge: float  # λ
    shares: int  # EQUAL, INFORMATION or PROJECTION
    vetting: bool
    consistency: bool  # whether the filter has step A
    f: int
    kappa: float
    time: int
    expected: int  # how many neighbours should tell something


class Scratch(NamedTuple):
    """What is kept of an agent from decision to decision, so that nothing is solved twice; zeros at first."""

    stamps: Words  # arms × (2 + capacity)
    factors: Floats  # arms × (d² + 2d): the factor of the joint matrix, A⁻¹x, and the centre
    terms: Floats  # arms × TERMS × capacity: how reports compare with one's own, and how much they count
    work: Floats  # 3 × capacity: pairs, and who is left out; capacity is at least the arms and the reports
    trial: Floats  # 1 + arms: see core/contexts/trial.py


def scratch_shapes(arms: int, d: int, reports: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a `Scratch` for at most so many reports."""
    capacity = max(arms, reports, 1)
    return {
        "stamps": (arms, PAIRS + capacity),
        "factors": (arms, d * d + 2 * d),
        "terms": (arms, TERMS, capacity),
        "work": (3, capacity),
        "trial": (1 + arms,),
    }


@compiled_borrowing_noinline
def stamp_of(own_version: np.uint64, inbox: Inbox, arm: int, f: int) -> np.uint64:
    """A number that is another one whenever anything that was heard on an arm is another, or f is."""
    stamp = fold(fold(own_version, inbox.rows.size), f)
    for row in inbox.rows:
        stamp = fold(stamp ^ np.uint64(row), inbox.versions[row, arm])
    return stamp


@compiled_borrowing_noinline
def compare_new(
    own: Floats,
    own_version: np.uint64,
    inbox: Inbox,
    arm: int,
    d: int,
    reading: Reading,
    stamps: Words,
    terms: Floats,
) -> None:
    """Compare each report on an arm with one's own row where either is another one than before, and cap them all."""
    theta, information = theta_of(own, d), information_of(own, d)
    for entry in range(inbox.rows.size):
        number = inbox.rows[entry]
        stamp = fold(fold(own_version, number), inbox.versions[number, arm])
        if stamps[PAIRS + entry] != stamp:
            row = inbox.told[number, arm]
            compare(own, information, row, d, entry, terms)
            terms[FIRST, entry] = weight_of(row, theta, reading.ridge, terms[EXPECTED, entry])
            stamps[PAIRS + entry] = stamp
    write_caps(information, inbox.rows.size, reading.f, terms)


@compiled_borrowing_noinline
def look_through(
    own: Floats, own_versions: Words, inbox: Inbox, d: int, reading: Reading, scratch: Scratch
) -> tuple[int, np.uint64]:
    """Compare what is new with one's own, then vet; return how many are left out, and a stamp of who is."""
    count, left_out = inbox.rows.size, scratch.work[2]
    for arm in range(own.shape[0] if reading.vetting or reading.shares != PROJECTION else 0):
        stamp = stamp_of(own_versions[arm], inbox, arm, reading.f)
        if scratch.stamps[arm, COMPARED] != stamp:
            compare_new(own[arm], own_versions[arm], inbox, arm, d, reading, scratch.stamps[arm], scratch.terms[arm])
            scratch.stamps[arm, COMPARED] = stamp
    out, who = 0, np.uint64(0)
    for entry in range(count):
        left_out[entry] = 0.0
    if reading.vetting:
        work = scratch.work[0], scratch.work[1]
        out = vet(inbox.told, inbox.rows, scratch.terms, reading.time, d, reading.f, left_out, work)
        for entry in range(count if out > 0 else 0):
            who = fold(who, entry) if left_out[entry] > 0.0 else who
    return out, who


@compiled_borrowing_noinline
def pairs_at(
    own: Floats,
    inbox: Inbox,
    arm: int,
    x: Floats,
    reading: Reading,
    scratch: Scratch,
    f: int,
    who: np.uint64,
) -> OwnPair:
    """Turn the reports on an arm into pairs at x, written to `scratch.work`; a solve only if something changed."""
    ridge, out = reading.ridge, scratch.work
    at = ArmReports(own, inbox.told, inbox.rows, arm, scratch.work[2])
    if reading.shares == PROJECTION:
        return projections(at, x, ridge, out)
    terms, factors, d = scratch.terms[arm], scratch.factors[arm], x.size
    factor, v, centre, weights = factors[: d * d], factors[d * d : d * d + d], factors[d * d + d :], terms[WEIGHTS]
    stamp = fold(scratch.stamps[arm, COMPARED] ^ who, f)
    cuts = write_caps_at(at, x, f, terms, v, out[0])
    if cuts or scratch.stamps[arm, JOINED] != stamp:
        write_centre(at, ridge, f, terms, factor, centre, v)
        scratch.stamps[arm, JOINED] = ONLY_HERE if cuts else stamp
    solve(factor, x, v)
    if reading.shares == EQUAL:
        return equal_shares(at, x, v, ridge, centre, weights, out)
    return information_shares(at, x, v, ridge, centre, weights, out)


@compiled_borrowing
def keep_consistent(pulls: Floats, means: Floats, count: int, kappa: float, own_pulls: float) -> int:
    """Step A on pairs: move those with κ n_j ≥ n_i to the front; return how many."""
    kept = 0
    for pair in range(count):
        pulls[kept], means[kept] = pulls[pair], means[pair]
        kept += kappa * pulls[pair] >= own_pulls
    return kept


def believe_at(
    own: Floats,  # arms × numbers: one's own statistics
    own_versions: Words,  # arms: another number whenever they are others
    inbox: Inbox,
    x: Floats,  # the context
    reading: Reading,
    params: Floats,  # the filter's
    scratch: Scratch,
    belief: Belief,  # filled in
) -> bool:
    """Believe of every arm at a context; return whether these beliefs are numbers with positive weights.

    A filter that stands alone is worth what one knows oneself at x: LinUCB. So is an agent that does not trust what it
    hears: with vetting, while that has predicted its own rewards worse.
    """
    sound, d = True, x.size
    pulls, means = scratch.work[0], scratch.work[1]
    out, who = look_through(own, own_versions, inbox, d, reading, scratch)
    f = reading.f - out
    trusts = not reading.vetting or scratch.trial[LEAD] >= LEAST_LEAD
    for arm in range(own.shape[0]):
        pair = pairs_at(own[arm], inbox, arm, x, reading, scratch, f, who)
        count, silent = pair.heard, max(0, reading.expected - out - pair.heard)
        if reading.consistency:
            count = keep_consistent(pulls, means, count, reading.kappa, pair.pulls)
        heard = Heard(
            pulls[:count], means[:count], pair.pulls, pair.mean, f, reading.kappa, reading.time, silent, params, None
        )
        estimate, weight, doubt = believe(heard)
        alone = estimate == pair.mean and weight == pair.pulls and doubt == 0.0
        if pair.prior > 0.0 and not alone:
            estimate = (weight * estimate + pair.prior_total) / (weight + pair.prior)
            weight += pair.prior
        own_estimate, own_weight = NEUTRAL + dot(x, theta_of(own[arm], d)), 1.0 / spread_at(own[arm], x, reading.ridge)
        scratch.trial[HEARD + arm] = own_estimate if alone else estimate
        if alone or not trusts:
            estimate, doubt, weight = own_estimate, 0.0, own_weight
        belief.estimates[arm], belief.weights[arm], belief.doubts[arm] = estimate, weight, doubt
        belief.own_estimates[arm], belief.own_weights[arm] = own_estimate, own_weight
        sound &= is_sound(estimate, weight, doubt)
    return sound
