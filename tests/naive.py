"""The paper, as docs/reading.md reads it, transcribed literally: plain Python and sorted(), slow and obvious.

Nothing here is shared with the package but the settings of an experiment. Draws are the same hashes
(SplitMix64) written out again, so that both meet the same luck. Agents and arms count from 0; agents below B lie:
where others are chosen, agents change places first (`order_of`), and only luck and graphs still go by their numbers.
"""

import functools
import math
import statistics
from pathlib import Path

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
REWARD, POLICY, GRAPH, SUBSET, ATTACK, ARMS, KAPPA = range(7)
SPREAD, DRIFT = 20, 21
FIRMS = {  # the ten firms: who is connected with whom, numbered from 1
    1: [3, 4, 5, 6], 2: [7, 8, 9, 10], 3: [1, 4, 5, 6, 7], 4: [1, 3, 5, 6, 8], 5: [1, 3, 4, 6, 9],
    6: [1, 3, 4, 5, 10], 7: [2, 3, 8, 9, 10], 8: [2, 4, 7, 9, 10], 9: [2, 5, 7, 8, 10], 10: [2, 6, 7, 8, 9],
}  # fmt: skip


# --- luck ---------------------------------------------------------------------------------------------------


def mix(word):
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def fold(key, number):
    return mix((key + GOLDEN * (number + 1)) & MASK)


def unit(word):
    return (word >> 11) * 2.0**-53


def key_of(experiment, run, purpose):
    return int(np.random.SeedSequence(experiment.seed, spawn_key=(run, purpose)).generate_state(1, np.uint64)[0])


class Stream:
    """A sequence of random numbers."""

    def __init__(self, state):
        self.state = state

    def uniform(self):
        self.state = (self.state + GOLDEN) & MASK
        return unit(mix(self.state))

    def below(self, bound):
        return int(self.uniform() * bound)

    def normal(self):
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return radius * math.cos(2.0 * math.pi * self.uniform())

    def gamma(self, shape):
        boost = 1.0
        if shape < 1.0:
            boost = (1.0 - self.uniform()) ** (1.0 / shape)
            shape += 1.0
        d = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.normal()
            v = (1.0 + c * x) ** 3
            if v > 0.0 and math.log(1.0 - self.uniform()) < 0.5 * x * x + d - d * v + d * math.log(v):
                return boost * d * v

    def beta(self, a, b):
        x, y = self.gamma(a), self.gamma(b)
        return x / (x + y) if x + y > 0 else float(self.uniform() < a / (a + b))

    def some(self, items, count):
        """`count` of the items without replacement, in their order."""
        kept = []
        for place, item in enumerate(items):
            if self.uniform() * (len(items) - place) < count - len(kept):
                kept.append(item)
        return kept


# --- graphs: the in-neighbours of an agent ------------------------------------------------------------------


def neighbours(graph, agent, N, B, rng):
    others = [j for j in range(N) if j != agent]
    name, _, parameter = graph.partition(":")
    if name == "complete":
        return others
    if name == "ring":
        reach = int(parameter) // 2
        return [j for j in others if min((j - agent) % N, (agent - j) % N) <= reach]
    if name == "star":
        hub = int(parameter) - 1 if parameter else N - 1
        return others if agent == hub else [hub]
    if name == "firms":
        return [j - 1 for j in FIRMS[agent + 1]]
    if name == "erdos-renyi":
        q = float(parameter)
        if q >= 0.15:
            return [j for j in others if unit(fold(rng.state, j)) < q]
        found, place = [], -1
        while True:  # the gap to the next edge is geometric
            place += 1 + int(math.log(1.0 - rng.uniform()) / math.log1p(-q))
            if place >= N - 1:
                return found
            found.append(others[place])
    assert name == "two-case"
    if parameter == "binomial":
        degree = sum(rng.uniform() < 0.5 for _ in range(N - 1))
    else:
        low, high = map(int, parameter.split("-"))
        degree = low + rng.below(high - low + 1)
    liars = [j for j in others if j < B]
    honest = [j for j in others if j >= B]
    degree = min(degree, len(honest) + (1 if liars else 0))
    with_none = math.comb(len(honest), degree)
    with_one = len(liars) * math.comb(len(honest), degree - 1) if degree else 0
    if rng.uniform() < with_one / (with_none + with_one):
        liar = liars[rng.below(len(liars))]
        return [liar, *rng.some(honest, degree - 1)]
    return rng.some(honest, degree)


# --- filters: (estimate, weight, doubt) from own n, x̄ and the reports [(n_j, x̄_j)] ---------------------------


def step_a(n, reports, kappa):
    return [(nj, xj) for nj, xj in reports if kappa * nj >= n]


def trimmed(n, x, reports, f, kappa, t):
    A = sorted(xj for _, xj in step_a(n, reports, kappa))
    B = A[f : len(A) - f] if len(A) > 2 * f else []
    if not B:
        return x, n, 0.0
    z = (x + sum(B)) / (len(B) + 1)
    g = kappa / 4 + kappa / (4 * (len(B) + 1)) + 1 / (len(B) + 1) ** 2
    return z, n / g, 0.0


def mean(n, x, reports, f, kappa, t):
    return trimmed(n, x, reports, 0, kappa, t)


def median(n, x, reports, f, kappa, t):
    return statistics.median([x, *(xj for _, xj in step_a(n, reports, kappa))]), n, 0.0


def pool(n, x, carried, f):
    carried = sorted(carried, key=lambda report: (report[1], report[0]))
    kept = carried[f : len(carried) - f] if len(carried) > 2 * f else []
    w = n + sum(c for c, _ in kept)
    return (n * x + sum(c * xj for c, xj in kept)) / w, w


def pooled(n, x, reports, f, kappa, t):
    carried = [(min(nj, n), xj) for nj, xj in reports if nj > 0]
    return *pool(n, x, carried, f), 0.0


def screened(n, x, reports, f, kappa, t):
    carried = sorted(((min(nj, n), xj) for nj, xj in reports if nj > 0), key=lambda report: (report[1], report[0]))
    centre = statistics.median([x, *(xj for _, xj in carried)])
    for _ in range(f):
        far = []
        for place, (c, xj) in enumerate(carried):
            window = math.sqrt(math.log(max(t, 1)) / c)
            if 0 < window < 1 and abs(xj - centre) > window:
                far.append((abs(xj - centre) / window, -place))
        if not far:
            break
        carried.pop(-max(far)[1])
        f -= 1
    z, w = pool(n, x, carried, f)
    a, b = len(carried), len(carried) - 2 * f
    d = 0.3 * f / (b + 1) * math.sqrt(2 * math.log(a / f) / n) if f > 0 and b > 0 else 0.0
    return z, w, d


def guarded_kept(n, x, reports, f, proven):
    """What `guarded` keeps of the reports: (kept, used, C, centre, f), counts capped; nothing kept: alone."""
    reports = sorted((report for report in reports if report[0] > 0), key=lambda report: (report[1], report[0]))

    def cap(some):
        return max(1, math.floor(min(n, sorted((nj for nj, _ in some), reverse=True)[f])))

    alone = [], [], n, x, f
    if len(reports) <= (2 if proven else 3) * f:
        return alone
    if proven:
        reports = [(nj, xj) for nj, xj in reports if nj >= cap(reports) / 2]
    centre = statistics.median([x, *(xj for _, xj in reports)])
    for _ in range(0 if proven else f):
        far = [(min(abs(xj - centre), abs(xj - x)) ** 2 * min(nj, n), place) for place, (nj, xj) in enumerate(reports)]
        far = [(d, -place) for d, place in far if d > 4 + math.log(min(reports[place][0], n)) / 2 and d > 4]
        if not far:
            break
        reports.pop(-max(far)[1])
        f -= 1
    if len(reports) <= 2 * f:
        return alone
    C = cap(reports)
    used = sorted(((min(nj, C), xj) for nj, xj in reports), key=lambda r: (r[0] * (r[1] - centre), r[0]))
    return used[f : len(used) - f], used, C, centre, f


def guarded(n, x, reports, f, kappa, t):
    kept, used, C, centre, f = guarded_kept(n, x, reports, f, proven=False)
    if not kept:
        return x, n, 0.0
    W = n + sum(c for c, _ in kept)
    z = centre + (n * (x - centre) + sum(c * (xj - centre) for c, xj in kept)) / W
    w = max(W, n + 0.9 * (sum(c for c, _ in used) - f * C))
    upper = [(n, x), *used[f:]]  # the f that pull down hardest left out, and nobody else
    counts = sum(c for c, _ in upper)
    lift = centre + sum(c * (xj - centre) for c, xj in upper) / counts - z
    step = math.sqrt(max(0, z * (1 - z)) / w) + 1 / w  # one standard error towards 1/2, and a little
    mean = min(z + step, 0.5) if z < 0.5 else max(z - step, 0.5)
    deviation = math.sqrt(max(0.0, mean * (1 - mean)))  # at a context an estimate may lie outside [0, 1]
    lift = min(max(lift, 0.0), f * 2 * deviation * math.sqrt(C) / counts)
    young = 40 / (40 + w)
    return z, w, 2.5 * deviation * math.sqrt(young / w) + 2 * young * lift


def guarded_proven(n, x, reports, f, kappa, t):
    kept, used, C, centre, f = guarded_kept(n, x, reports, f, proven=True)
    if not kept:
        return x, n, 0.0
    b, W, c = len(kept), n + sum(c for c, _ in kept), min(c for c, _ in used)
    z = centre + (n * (x - centre) + sum(c * (xj - centre) for c, xj in kept)) / W
    D = sum(nj > 0 for nj, _ in reports)
    sets = math.log(D * math.comb(D, b))
    d = (b * math.sqrt(C) + math.sqrt(sets * (n + b * C) / 2) + f * (C - c) * abs(centre - x)) / W
    return z, (W / (math.sqrt(n + b * C) + f * (C - c) / math.sqrt(n))) ** 2, d


def spread_of(filter):
    """How far means may differ, says a filter: "auto", a bound, or 0."""
    if not filter.startswith("guarded") or "proven" in filter:
        return 0.0
    _, _, spread = filter.partition("spread=")
    return "auto" if spread in ("", "auto") else float(spread)


def variance(n, x):
    p = (n * x + 0.5) / (n + 1)
    return p * (1 - p)


def difference(own, others):
    """τ² between one's own (n, x̄) and others' (W, mean) on every arm, less two standard errors."""
    weights, total = 0.0, 0.0
    for (n, x), (W, y) in zip(own, others, strict=True):
        if n >= 8 and W >= 8:
            noise = variance(n, x) * (1 / n + 1 / W)
            weights += 1 / (2 * noise**2)
            total += ((x - y) ** 2 - noise) / (2 * noise**2)
    return max(0.0, total / weights - 2 / math.sqrt(weights)) if weights else 0.0


def as_worth(n, x, report, apart):
    """A report as one of more or less alike arms: its pulls as they count, and its mean; unlike ones say nothing."""
    nj, xj = report
    c = min(n, nj)
    if nj <= 0 or apart == 0:
        return report
    worth = 1 / (1 / c + apart / variance(n, x))
    return (worth, xj) if worth >= 0.1 * c else (5e-324, x)


def of_others(belief, n, x):
    """The weight and the mean of what others add to a belief."""
    z, w, _ = belief
    return (w - n, (w * z - n * x) / (w - n)) if w > n else (0.0, x)


def limited(belief, n, x, apart):
    """A belief of an agent whose own means are so far from those of the others."""
    z, w, d = belief
    W, y = of_others(belief, n, x)
    if W == 0:
        return belief
    if apart > 0:
        left = 1 / (1 / W + apart / variance(n, x))
        d *= left / (n + left) * w / W
        z, w = (n * x + left * y) / (n + left), n + left
    return z, w, max(d, x + 0.3 * math.sqrt(variance(n, x) / n) - z)


def liars_among(f, neighbours):
    """f, or with auto the most of so many neighbours for whom 3f + 1 ≤ a, but at least 1."""
    return max(g for g in range(neighbours + 2) if g <= 1 or 3 * g + 1 <= neighbours) if f == "auto" else f


def solo(n, x, reports, f, kappa, t):
    return x, n, 0.0


FILTERS = {  # one with step A is in HAVE_STEP_A, too, as some attacks look at that
    "trimmed": trimmed,
    "mean": mean,
    "median": median,
    "pooled": pooled,
    "screened": screened,
    "guarded": guarded,
    "guarded:spread=0": guarded,
    "guarded:spread=0.1": guarded,
    "guarded:proven=1": guarded_proven,
    "solo": solo,
}
COUNT_SILENCE = {
    "guarded",
    "guarded:spread=0",
    "guarded:spread=0.1",
    "guarded:proven=1",
}  # against f, where links are reliable and neighbours always the same
IGNORE_F = {"mean", "median", "solo"}
HAVE_STEP_A = {"trimmed", "mean", "median"}


# --- policies: an arm from beliefs [(z, w, d)] --------------------------------------------------------------


def argmax(index, rng):
    tied = [k for k in range(len(index)) if index[k] >= max(index) - 1e-12]
    return tied[0] if len(tied) == 1 else tied[rng.below(len(tied))]


def bound(policy, z, w, log_t, total, rng):
    """The policy's bound on an arm, or its sample, without doubt."""
    if policy in ("ucb", "tuned"):
        return z + math.sqrt((2 if policy == "ucb" else 0.25) * log_t / w)
    if policy == "thompson":
        return rng.beta(1 + w * z, 1 + w * (1 - z))
    if policy == "thompson-normal":
        return z + math.sqrt(0.25 / w) * rng.normal()
    if policy == "kl-moss":
        return largest_mean(z, w, math.log(1 + total / w) / 2)
    if policy == "moss":
        return z + math.sqrt(math.log(1 + total / w) / (4 * w))
    assert policy == "kl-ucb"
    return largest_mean(z, w, log_t)


def choose(policy, beliefs, own, t, rng):
    """An arm from (z, w, d) and the agent's own (x̄, n) of every arm."""
    if policy == "greedy":
        return argmax([z for z, _, _ in beliefs], rng)
    if policy != "softmax":
        log_t, index = math.log(max(t, 1)), []
        total, own_total = sum(w for _, w, _ in beliefs), sum(n for _, n in own)
        for (z, w, d), (x, n) in zip(beliefs, own, strict=True):
            again = Stream(rng.state)  # a sample from own data is made of the same random numbers
            i, u = bound(policy, z, w, log_t, total, rng), bound(policy, x, n, log_t, own_total, again)
            index.append(i + min(d, max(0.0, u - i)))
        return argmax(index, rng)
    left, places = list(range(len(beliefs))), []
    while left and len(places) < 3:
        best = max(beliefs[k][0] for k in left)
        chosen = None
        for seen, k in enumerate((k for k in left if beliefs[k][0] >= best - 1e-12), 1):
            if seen == 1 or rng.uniform() * seen < 1:
                chosen = k
        places.append(chosen)
        left.remove(chosen)
    odds = [math.exp(beliefs[k][0]) for k in places]
    point = rng.uniform() * sum(odds)
    for k, weight in zip(places, odds, strict=True):
        if point < weight:
            return k
        point -= weight
    return places[-1]


def average(values):
    return sum(values) / len(values)


def std(values):
    return math.sqrt(average([(value - average(values)) ** 2 for value in values]))


def kl(p, q):
    def term(a, b):
        return 0.0 if a == 0 else math.inf if b == 0 else a * math.log(a / b)

    return term(p, q) + term(1 - p, 1 - q)


def largest_mean(z, w, log_t):
    low, high = z, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if w * kl(z, middle) <= log_t else (low, middle)
    return low


def nearest(n, x, n_past, total_past, expected):
    """The count and mean nearest to a lie that can follow what was told before."""
    if not (n > 0 and math.isfinite(x)):
        return (0, 0.0) if not expected else (n_past, total_past / n_past) if n_past > 0 else (1, 0.5)
    m = max(n, n_past)
    return m, min(max(m * x, total_past), total_past + (m - n_past)) / m


# --- attacks: a report (n, x̄) per arm from a liar to a receiver ----------------------------------------------


class Liars:
    """The Byzantine agents; `see` shows them the world of a round, then `lie` asks for one lie."""

    def __init__(self, experiment, run):
        self.name, _, parameters = experiment.attack.partition(":")
        self.careful = "careful=1" in parameters
        self.parameter = ",".join(part for part in parameters.split(",") if part != "careful=1")
        self.N, self.B, self.f = experiment.parts.agents, number_of_liars(experiment), experiment.settings()["f"]
        self.M = experiment.parts.arms
        self.step_a = experiment.filter in HAVE_STEP_A
        self.filter, self.policy = experiment.filter, experiment.policy
        self.taken = [[(0, 0.0)] * self.M for _ in range(self.B)]  # of liars whose rewards are shifted
        self.shifted = [[0.0] * self.M for _ in range(self.B)]
        self.plans, self.due, self.tracks = {}, {}, {}  # tracks: what was told before, by receiver and liar
        self.key = key_of(experiment, run, ATTACK)
        rng = Stream(self.key)
        self.beta = [[rng.uniform() for _ in range(self.M)] for _ in range(self.B)]

    def see(self, t, n, x, n_before, in_neighbours, inbox, kappas, mu):
        self.everyones = mu  # μ of each agent; the average of all for a lie to everyone
        self.t, self.n, self.x, self.n_before, self.inbox, self.kappas = t, n, x, n_before, inbox, kappas
        self.heard_now = in_neighbours
        rng = Stream(fold(self.key, t))
        if self.name in ("constant", "mimic"):
            self.copied = self.B + rng.below(self.N - self.B)
        if self.name == "shifted":
            common = [average(column) for column in zip(*mu, strict=True)]
            for liar in range(self.B):
                for k in range(self.M):
                    pulls, total = n[liar][k], n[liar][k] * x[liar][k]
                    pulls_before, total_before = self.taken[liar][k]
                    for _ in range(round(pulls - pulls_before)):
                        harmful = float(k != max(range(self.M), key=lambda arm: common[arm]))
                        rewards = (total - total_before) / (pulls - pulls_before)
                        self.shifted[liar][k] += harmful if rng.uniform() < float(self.parameter or 0.1) else rewards
                    self.taken[liar][k] = pulls, total
        if self.name == "gaussian":
            normal = range(self.B, self.N)
            self.drawn = list(range(self.B))
            seen = [0] * self.B
            candidates = [
                (liar, j)
                for liar in range(self.B)
                for j in in_neighbours[liar]
                if j in normal and liar not in in_neighbours[j]
            ] + [(liar, j) for j in normal for liar in in_neighbours[j] if liar < self.B]
            for liar, j in candidates:
                seen[liar] += 1
                if rng.uniform() * seen[liar] < 1:
                    self.drawn[liar] = j

    def lie(self, liar, i):
        """What `liar` tells agent i, arm by arm."""
        to_all = self.name == "crafted" and "common=1" in self.parameter
        self.mu = [average(column) for column in zip(*self.everyones, strict=True)] if to_all else self.everyones[i]
        self.best = max(range(self.M), key=lambda k: self.mu[k])
        rng = Stream(fold(fold(self.key, self.t), 1 + liar * self.N + i))
        return [self.on_arm(liar, i, k, rng) for k in range(self.M)]

    def careful_lie(self, liar, i, past, expected):
        """The lie nearest to what `liar` would like to tell that can follow what it told agent i before."""
        past, used = past
        lies = [nearest(n, x, *past[k], expected) for k, (n, x) in enumerate(self.lie(liar, i))]
        grown = [max(n - past[k][0], 0) for k, (n, _) in enumerate(lies)]
        room = self.M + self.t - used
        if sum(grown) <= room:
            return lies
        less = [0] * self.M
        for k in range(self.M):
            if past[k][0] == 0 and room >= 1:
                less[k] = min(grown[k], 1)
                room -= less[k]
        while room >= 1:
            lacking = [grown[k] - less[k] for k in range(self.M)]
            most = lacking.index(max(lacking))
            if lacking[most] <= 0:
                break
            room -= min(lacking[most], 1)
            less[most] += min(lacking[most], 1)
        return [
            nearest(past[k][0] + less[k], x, *past[k], expected) if n > 0 else (n, x) for k, (n, x) in enumerate(lies)
        ]

    def on_arm(self, liar, i, k, rng):
        n, x, honest = self.n, self.x, [x[k] for x in self.x[self.B :]]
        if self.name == "none":
            return n[liar][k], x[liar][k]
        if self.name == "starve":
            return 0, 0.0
        if self.name == "constant":
            means = [float(m) for m in self.parameter.split(",")] if self.parameter else [0.4, 0.5, 0.4, 0.3]
            return n[self.copied][k], means[k % len(means)]
        if self.name == "mimic":
            return n[self.copied][k], x[self.copied][k]
        if self.name == "extreme":
            return n[i][k] + 1, 0.0 if k == self.best else 1.0
        if self.name == "gaussian":
            noisy = x[liar][k] + self.beta[liar][k] + 0.1 * rng.normal()
            return self.n_before[self.drawn[liar]][k], min(max(noisy, 0.0), 1.0)
        if self.name == "alie":
            c = float(self.parameter or 1.5) * (1 if k != self.best else -1)
            return n[i][k] + 1, min(max(average(honest) + c * std(honest), 0.0), 1.0)
        if self.name == "beside":
            error = float(self.parameter or 0.5) * 0.5 / math.sqrt(max(n[i][k], 1))
            return n[i][k] + 1, min(max(x[i][k] + (error if k != self.best else -error), 0.0), 1.0)
        if self.name == "ends":
            return n[i][k] + 1, float(liar % 2)
        if self.name == "shifted":
            return n[liar][k], self.shifted[liar][k] / n[liar][k]
        if self.name == "smart":
            aside = any(x[i][arm] < 0 and self.mu[arm] < max(self.mu) for arm in range(self.M))
            counts = self.mu[k] < max(self.mu) and (x[i][k] < 0 or not aside)
            return n[i][k] + 1, max(0.0, 1 - n[i][k] / (self.t + 1)) if counts else 0.0
        if self.name in ("greedy", "victim", "phased"):
            return self.foreseen(liar, i, k, rng)
        A = self.consistent(i, k)
        if self.name == "crafted":
            return self.crafted(liar, i, k, A)
        assert self.name == "adaptive", f"attack {self.name!r} is not transcribed: add it to Liars.on_arm"
        if not A:
            return n[i][k] + 1, x[liar][k]
        place = min(max(liars_among(self.f, self.may_hear[i]), 1), len(A) - 1)
        return n[i][k] + 1, A[place] if k == self.best else A[-1 - place]

    def consistent(self, i, k):
        """The honest means on arm k that agent i hears and finds consistent, ascending."""
        heard = [report[k] for j, report in self.inbox[i].items() if j >= self.B]
        return sorted(xj for _, xj in (step_a(self.n[i][k], heard, self.kappas[i]) if self.step_a else heard))

    def foreseen(self, liar, i, k, rng):
        """What is worst for agent i of some lies, by its own filter and policy; one's own tally where it is spared."""
        first = {"victim": 1, "phased": 1000}.get(self.name)
        given = [float(part) for part in self.parameter.split(",") if part]
        number = int(given.pop(0)) if first and given else first
        reach, levels, pace = [*given, *(3, 4, 0.01)[len(given) :]]
        turn = {"victim": (number or 1) - 1, "phased": self.t // (number or 1)}.get(self.name, i - self.B)
        if i < self.B or (i - self.B) != turn % (self.N - self.B):
            return self.n[liar][k], self.x[liar][k]
        if self.t >= self.due.get(i, 0):
            self.plans[i] = self.plan(liar, i, reach, int(levels), rng)
            self.due[i] = self.t + 1 + math.floor(pace * self.t)
        return self.plans[i][k]

    def plan(self, liar, i, reach, levels, rng):
        past, _ = self.tracks.get((i, liar)) or ([(0, 0.0)] * self.M, 0)
        liars, n, x = [j for j in {*self.inbox[i], *self.heard_now[i]} if j < self.B], self.n[i], self.x[i]
        honest = [(j, report) for j, report in self.inbox[i].items() if j >= self.B]

        def allowed(k, count, mean):
            return nearest(count, mean, *past[k], True) if self.careful else (count, mean)

        def believed(k, lie):
            told = [(j, lie) for j in liars] + [(j, report[k]) for j, report in honest]
            reports = [as_worth(n[k], x[k], report, self.aparts[i].get(j, 0.0)) for j, report in told]
            f = liars_among(self.f, self.may_hear[i])
            belief = FILTERS[self.filter](n[k], x[k], reports, f, self.kappas[i], self.t)
            return limited(belief, n[k], x[k], self.apart[i]) if spread_of(self.filter) else belief

        centres = []
        for k in range(self.M):
            all_pulls = [(n[k], x[k]), *(report[k] for _, report in honest)]
            centres.append(sum(nj * xj for nj, xj in all_pulls) / sum(nj for nj, _ in all_pulls))
        lies = [allowed(k, 1, centres[k]) for k in range(self.M)]
        beliefs = [believed(k, lies[k]) for k in range(self.M)]
        best = max(range(self.M), key=lambda k: self.mu[k])
        for k in range(self.M):
            others = [j for j in range(self.M) if j != k]
            rest = (0.0, max(sum(beliefs[j][1] for j in others), 1), 0.0), (0.0, max(sum(n[j] for j in others), 1))
            for times in (0, 0.5, 1):
                for level in range(-levels - 1, levels + 2):
                    mean = centres[k] + reach * level / levels * 0.5 / math.sqrt(n[k])
                    mean = min(max(mean, 0.0), 1.0) if abs(level) <= levels else float(level > 0)
                    lie = allowed(k, max(times * (n[k] + 1), 1), mean)
                    tried = believed(k, lie)
                    own = [(x[k], n[k]), (x[k], n[k]), rest[1]]
                    if choose(self.policy, [tried, beliefs[k], rest[0]], own, self.t, rng) == (k == best):
                        lies[k], beliefs[k] = lie, tried
        return lies

    def crafted(self, liar, i, k, A):
        p = {"best": -1, "second": -1, "others": -1, "best_count": 1, "second_count": 1, "other_counts": 1}
        p |= {"share": 1, "spared": -1, "spared_count": 1, "isolate": 0, "switch": 0, "errors": 0, "common": 0}
        p |= {"best_share": 1, "pause": 0, "resume": 0, "target": 0}
        names = list(p)
        for position, part in enumerate(self.parameter.split(",") if self.parameter else []):
            name, equals, value = part.partition("=")
            p[name if equals else names[position]] = float(value if equals else name)
        second = max((j for j in range(self.M) if j != self.best), key=lambda j: self.mu[j])
        standing = {self.best: "best", second: "second"}.get(k, "others")
        if standing not in [("best", "second", "others"), ("best",), ("second",), ("best", "second")][int(p["target"])]:
            return self.n[liar][k], self.x[liar][k]
        n = self.n[i][k]
        if p["common"]:
            A, n = sorted(self.x[j][k] for j in range(self.B, self.N)), max(self.n[j][k] for j in range(self.B, self.N))
        share = p["best_share" if k == self.best else "share"]
        met = math.floor((i + k + 1) * share + 1e-9) - math.floor((i + k) * share + 1e-9)
        struck = (met or self.t >= p["switch"] or p["common"]) and not p["pause"] <= self.t < p["resume"]
        place = p[standing if struck else "spared"]
        count = p["spared_count" if not struck else "other_counts" if standing == "others" else standing + "_count"]
        from_above = (k != self.best) == bool(struck)
        if k != self.best and len(A) < p["isolate"]:
            count = 0
        count *= n + 1
        if p["errors"]:
            error = place * 0.5 / math.sqrt(max(count if p["errors"] == 2 else n, 1))
            centre = self.x[i][k] if p["errors"] == 3 and not p["common"] else self.mu[k]
            return count, min(max(centre + (error if from_above else -error), 0.0), 1.0)
        end = 1.0 if from_above else 0.0
        if place <= -1:
            return count, end
        if not A:
            return count, self.x[liar][k]
        line = [*(A[::-1] if from_above else A), None]
        if place < 0:
            return count, line[0] + -place * (end - line[0])
        place = min(place, len(A) - 1)
        before, after = line[int(place)], line[int(place) + 1]
        return count, before if place == int(place) else before + (place - int(place)) * (after - before)


# --- the loop -----------------------------------------------------------------------------------------------


def reward(experiment, agent, mu, word, k=None):
    families = [experiment.rewards] if isinstance(experiment.rewards, str) else experiment.rewards
    name, _, knob = families[agent % len(families)].partition(":")
    if name == "replay":
        log = [line.split(",") for line in Path(knob).read_text().split()[1:]]  # arm,reward
        rewards = [float(value) for arm, value in log if int(arm) == k + 1]
        return rewards[Stream(word).below(len(rewards))]
    if name == "bernoulli":
        return 1.0 if unit(word) < mu else 0.0
    if name == "poisoned":
        liked, level = map(float, knob.split(",")) if knob else (1, 0.1)
        return 1.0 if unit(word) < (mu if k == liked - 1 else min(mu, level)) else 0.0
    if name == "uniform":
        return mu + (2 * unit(word) - 1) * min(float(knob or 0.5), mu, 1 - mu)
    if name == "pareto":
        alpha = float(knob or 1.5)
        least = smallest_pareto(mu, alpha)
        return least * (1 - unit(word) * (1 - least**alpha)) ** (-1 / alpha)
    if name == "gaussian":
        return truncated(mu, float(knob or 0.1), Stream(word))
    assert name == "beta"
    c = float(knob or 4)
    return Stream(word).beta(c * mu, c * (1 - mu))


def rising(function, wanted, low, high):
    """Where a rising function takes a value."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < wanted else (low, middle)
    return low


@functools.cache
def smallest_pareto(mu, alpha):
    """L for which Pareto numbers on [L, 1], of density c x^(−α−1), have mean μ."""

    def mean_from(least):
        c = alpha / (least**-alpha - 1)
        return c * (-math.log(least) if alpha == 1 else (1 - least ** (1 - alpha)) / (1 - alpha))

    return rising(mean_from, mu, 1e-9, 1 - 1e-9)


@functools.cache
def truncated_location(mu, sigma):
    """m for which a bell around m, truncated to [0, 1], has mean μ."""

    def mean_at(m):  # by Simpson's rule
        points = [number / 2000 for number in range(2001)]
        highest = max(-((x - m) ** 2) for x in points)
        weights = [2 + 2 * (number % 2) - (number in (0, 2000)) for number in range(2001)]
        density = [math.exp((-((x - m) ** 2) - highest) / (2 * sigma**2)) for x in points]
        total = sum(w * d for w, d in zip(weights, density, strict=True))
        return sum(w * d * x for w, d, x in zip(weights, density, points, strict=True)) / total

    return rising(mean_at, mu, -100, 101)


def truncated(mu, sigma, rng):
    """A truncated Gaussian number: proposals that are kept with the chance that their density asks for."""
    m = truncated_location(mu, sigma)
    if m > 0.5:
        return 1 - below_half(1 - m, sigma, rng)
    return below_half(m, sigma, rng)


def below_half(m, sigma, rng):
    def density(x):
        return math.exp(-((x - m) ** 2) / (2 * sigma**2))

    while True:
        if (1 - 2 * min(m, 0)) / (2 * sigma**2) <= 2:  # nearly flat: so many nats, at most, from one end to the other
            x = rng.uniform()
            if rng.uniform() < density(x) / density(max(m, 0)):
                return x
        elif m < 0:
            rate = (-m / sigma + math.sqrt((m / sigma) ** 2 + 4)) / 2
            x = -math.log(1 - rng.uniform()) / rate
            if rng.uniform() < math.exp(-((x - m / sigma - rate) ** 2) / 2) and x * sigma <= 1:
                return x * sigma
        else:
            x = m + sigma * rng.normal()
            if 0 <= x <= 1:
                return x


def number_of_liars(experiment):
    return experiment.byzantine if isinstance(experiment.byzantine, int) else len(experiment.byzantine)


def order_of(experiment):
    """The agents' numbers, liars first."""
    chosen = experiment.byzantine
    liars = range(chosen) if isinstance(chosen, int) else sorted(number - 1 for number in chosen)
    return [*liars, *(number for number in range(experiment.parts.agents) if number not in liars)]


def left_of(experiment, pulls):
    """What is left of so many pulls where tallies forget."""
    name, _, parameter = experiment.tally.partition(":")
    return min(pulls, int(parameter)) if name == "window" else sum(float(parameter) ** age for age in range(pulls))


def tally(experiment, seen, arm):
    """n and x̄ of an arm from (arm, reward) in the order of pulls."""
    name, _, parameter = experiment.tally.partition(":")
    if name == "window":
        seen = seen[-int(parameter) :]
    factor = float(parameter) if name == "forget" else 1
    worth = [(factor**age, value) for age, (k, value) in enumerate(reversed(seen)) if k == arm]
    n = sum(weight for weight, _ in worth)
    return (n, sum(weight * value for weight, value in worth) / n) if worth else (1e-9, 0.5)


def true_means(experiment, run):
    """μ by round, agent's number and arm; round 0 is that of the first pulls."""
    N, M = experiment.parts.agents, experiment.parts.arms
    given = experiment.settings()["arms"]
    if isinstance(given, str):
        given = sorted((unit(fold(key_of(experiment, run, ARMS), k)) for k in range(M)), reverse=True)
    given = given if isinstance(given, dict) else {1: given}
    given = {int(r): table if isinstance(table[0], (list, tuple)) else [table] * N for r, table in given.items()}
    key, drift_key = key_of(experiment, run, SPREAD), key_of(experiment, run, DRIFT)
    offsets = [
        [experiment.spread * Stream(fold(fold(key, number), k)).normal() for k in range(M)] for number in range(N)
    ]
    shifts, means = [0.0] * M, []
    for t in range(experiment.horizon + 1):
        table = given[max(r for r in given if r <= max(t, 1))]
        common = [average(column) for column in zip(*table, strict=True)] if table[1:] != table[:-1] else table[0]
        if t > 0:
            shifts = drifted(experiment.drift, common, t, Stream(fold(drift_key, t)), shifts)
        means.append(
            [[min(max(table[i][k] + offsets[i][k] + shifts[k], 0.0), 1.0) for k in range(M)] for i in range(N)]
        )
    return means


def drifted(drift, given, t, rng, shifts):
    """By how much means have moved in round t."""
    name, _, parameter = drift.partition(":")
    M = len(given)
    if name == "steps":
        return [given[(k - t // int(parameter)) % M] - given[k] for k in range(M)]
    if name == "walk":
        moved = [given[k] + shifts[k] + float(parameter) * rng.normal() for k in range(M)]
        return [(-m if m < 0 else 2 - m if m > 1 else m) - g for m, g in zip(moved, given, strict=True)]
    if name == "periodic":
        period, amplitude = map(float, parameter.split(","))
        return [amplitude * math.sin(2 * math.pi * (t / period + k / M)) for k in range(M)]
    assert name == "none"
    return shifts


def play(experiment, run):
    """Play one run; each agent's arm in each round, each normal agent's regret, and messages and arms told."""
    parts = experiment.parts
    N, M, B, f = parts.agents, parts.arms, number_of_liars(experiment), experiment.settings()["f"]
    order = order_of(experiment)
    means = true_means(experiment, run)
    if experiment.kappa == "random":
        kappas = [1 + unit(fold(key_of(experiment, run, KAPPA), number)) for number in order]
    elif isinstance(experiment.kappa, float):
        kappas = [experiment.kappa] * N
    else:
        kappas = [1.5] * B + list(experiment.kappa)
    keys = {purpose: key_of(experiment, run, purpose) for purpose in (REWARD, POLICY, GRAPH, SUBSET)}
    assert experiment.filter in FILTERS, f"filter {experiment.filter!r} is not transcribed: add it to FILTERS"
    believe = FILTERS[experiment.filter]
    redrawn = experiment.time_varying and parts.graph.random
    expected = experiment.reliable_links and not redrawn and experiment.subset is None
    known = [[] for _ in range(N)]  # the neighbours, drawn last

    def pull(i, k, number, t):
        luck = fold(fold(fold(keys[REWARD], order[i]), k), number)
        return reward(experiment, order[i], means[t][order[i]][k], luck, k)

    seen = [[(k, pull(i, k, 0, 0)) for k in range(M)] for i in range(N)]  # (arm, reward), in the order of pulls
    past = []  # of each time: counts, means, counts one round before
    liars = Liars(experiment, run)
    remembered = [{} for _ in range(N)]  # per agent: sender → (when heard, report)
    kept = {}  # (receiver, sender) → (when told, report), for ever
    tracks = {}  # (receiver, liar) → the count and the sum of rewards that were told last, by arm; None: expelled
    spread = spread_of(experiment.filter)
    apart = [0.0 if spread == "auto" else spread**2] * N  # τ² of each agent
    aparts = [{} for _ in range(N)]  # of each agent: sender → τ²
    liars.apart, liars.aparts = apart, aparts
    choices, arms, told_so_far = [], None, [0, 0]  # messages, and arms told in them
    for t in range(experiment.horizon):
        clock, tallies = t if experiment.tally == "all" else left_of(experiment, M + t), []
        for i in range(N):
            tallies.append([tally(experiment, seen[i], k) for k in range(M)])
        n, x = ([[report[part] for report in row] for row in tallies] for part in (0, 1))
        past.append(([row[:] for row in n], x, past[-1][0] if past else [row[:] for row in n]))
        if t % experiment.epoch == 0:
            sent = t - experiment.delay
            if sent >= 0 and listens(experiment):
                counts = hear(
                    experiment,
                    run,
                    t,
                    sent,
                    past[sent],
                    remembered,
                    kept,
                    tracks,
                    liars,
                    kappas,
                    keys,
                    [means[t + 1][number] for number in order],
                    expected,
                    known,
                )
                told_so_far = [before + now for before, now in zip(told_so_far, counts, strict=True)]
            arms = []
            for i in range(N):
                beliefs, expelled = [], sum(tracks.get((i, j), ()) is None for j in range(B))
                may_hear = N - 1 if redrawn else len(known[i])
                liars_of_i = max(0, liars_among(f, may_hear) - expelled)
                few = f == "auto" and experiment.filter not in IGNORE_F and (may_hear - 1) // 3 < max(1, expelled)
                mine, due = list(zip(n[i], x[i], strict=True)), spread == "auto" and t > 0 and t % 20 < experiment.epoch
                if due:
                    aparts[i] |= {j: difference(mine, report) for j, (_, report) in remembered[i].items()}
                for k in range(M):
                    heard = [] if few else remembered[i].items()
                    reports = [as_worth(*mine[k], report[k], aparts[i].get(j, 0.0)) for j, (_, report) in heard]
                    silent = (
                        sum(nj <= 0 for nj, _ in reports) - expelled
                        if experiment.filter in COUNT_SILENCE and expected
                        else 0
                    )
                    beliefs.append(
                        believe(
                            n[i][k],
                            x[i][k],
                            reports,
                            liars_of_i - (silent if silent <= liars_of_i else 0),
                            kappas[i],
                            int(clock),
                        )
                    )
                if due:
                    apart[i] = difference(mine, [of_others(beliefs[k], *mine[k]) for k in range(M)])
                if spread:
                    beliefs = [limited(beliefs[k], *mine[k], apart[i]) for k in range(M)]
                own, rng = list(zip(x[i], n[i], strict=True)), Stream(fold(fold(keys[POLICY], order[i]), t))
                arms.append(choose(experiment.policy, beliefs, own, clock, rng))
        for i in range(N):
            seen[i].append((arms[i], pull(i, arms[i], sum(k == arms[i] for k, _ in seen[i]), t + 1)))
        choices.append(list(arms))
    regret = [
        sum(max(means[t + 1][order[i]]) - means[t + 1][order[i]][choices[t][i]] for t in range(experiment.horizon))
        for i in range(B, N)
    ]
    return choices, regret, told_so_far


def told(tell, sent, report, before):
    """What a receiver goes by, (when told, report), once it is sent a report and has kept (when told, report)."""
    name, _, parameter = tell.partition(":")
    when, old = before
    if name == "every":
        return (sent, report) if old is None or sent - when >= int(parameter or 1) else before
    new = list(old or [(0, 0.0)] * len(report))
    for k, (n, x) in enumerate(report):
        if n > new[k][0] and n - new[k][0] >= float(parameter) * new[k][0]:
            new[k] = n, x
    return sent, new


def arms_told(tell, sent, before, after):
    """On how many arms something was told just now."""
    if tell.startswith("every"):
        return len(after[1]) if after is not before else 0
    return sum(new != old for new, old in zip(after[1], before[1] or [(0, 0.0)] * len(after[1]), strict=True))


def audit(report, past, whole, expected, sent):
    """Counts and sums of rewards after a report, and how many of M + t pulls are used up; None if it cannot follow."""
    after, slack, (known, used) = [], 1e-9, past
    for (n, x), (n_past, total) in zip(report, known, strict=True):
        if n > 0 and not (n >= n_past and -slack * n <= n * x - total <= n - n_past + slack * n):
            return None
        if n <= 0 and expected:
            return None
        after.append((n, n * x) if n > 0 else (n_past, total))
    grown, made = sum(n for n, _ in after) - sum(n for n, _ in known), len(after) + sent
    if grown > made - used + slack * made:
        return None
    return after, made if whole else used + grown


def listens(experiment):
    """Whether anybody is heard: `guarded` is alone where others are heard in every round, none is remembered, and two
    standard deviations below the number to be expected there are no more than 3f."""
    parts = experiment.parts
    redrawn = experiment.time_varying and parts.graph.random
    if experiment.filter == "solo":
        return False
    if not str(experiment.filter).startswith("guarded"):
        return True
    if not redrawn and not experiment.subset:
        return True
    for degree in parts.placed.degrees(parts.agents, parts.byzantine)[parts.byzantine :]:
        heard = min(degree, experiment.subset or degree)
        others = parts.agents - 1 if redrawn else degree
        f = liars_among(experiment.settings()["f"], int(others))
        if experiment.memory:
            heard = others * (1 - (1 - heard / max(others, 1)) ** (experiment.memory + 1))
        deviation = math.sqrt(heard * (1 - heard / max(others, 1))) if redrawn or experiment.memory else 0
        if heard - 2 * deviation <= 3 * max(f, 1):
            return False
    return True


def hear(experiment, run, t, sent, world, remembered, kept, tracks, liars, kappas, keys, mu, expected, known):
    """Everybody hears, in round t, what its neighbours sent at time `sent`; return messages and arms told in them."""
    n, x, n_before = world
    N, B, order = experiment.parts.agents, number_of_liars(experiment), order_of(experiment)
    counts = [0, 0]
    graph_key = fold(keys[GRAPH], sent if experiment.time_varying else 0)
    if experiment.graph.startswith(("complete", "erdos-renyi", "two-case")):  # agents are alike but for lying
        order = list(range(N))
    tellers = [neighbours(experiment.graph, order[i], N, B, Stream(fold(graph_key, i))) for i in range(N)]
    tellers = [sorted(order.index(j) for j in heard) for heard in tellers]
    known[:] = tellers
    if experiment.subset:
        subset_key = fold(keys[SUBSET], sent)
        tellers = [
            Stream(fold(subset_key, i)).some(tellers[i], experiment.subset)
            if len(tellers[i]) > experiment.subset
            else tellers[i]
            for i in range(N)
        ]

    def tell(i, j, report):
        before = kept.get((i, j), (None, None))
        kept[i, j] = told(experiment.tell, sent, report, before)
        remembered[i][j] = t, kept[i, j][1]
        arms = arms_told(experiment.tell, sent, before, kept[i, j])
        counts[0] += arms > 0
        counts[1] += arms

    for i in range(N):
        for j in [j for j, (at, _) in remembered[i].items() if t - at > experiment.memory]:
            del remembered[i][j]
        for j in tellers[i]:
            if j >= B:
                tell(i, j, list(zip(n[j], x[j], strict=True)))
    inbox = [{j: report for j, (_, report) in remembered[i].items()} for i in range(N)]
    redrawn = experiment.time_varying and experiment.parts.graph.random
    liars.tracks = tracks
    liars.may_hear = [N - 1 if redrawn else len(known[i]) for i in range(N)]
    liars.see(sent, n, x, n_before, tellers, inbox, kappas, mu)
    for i in range(N):
        for j in tellers[i]:
            if j >= B:
                continue
            past = tracks.get((i, j), ([(0, 0.0)] * experiment.parts.arms, 0))
            if past is not None:
                tell(i, j, liars.careful_lie(j, i, past, expected) if liars.careful else liars.lie(j, i))
                if experiment.parts.audits or liars.careful:
                    when, report = kept[i, j]
                    whole = when == sent and experiment.tell.startswith("every")
                    tracks[i, j] = audit(report, past, whole, expected, sent)
            if tracks.get((i, j), past) is None:
                remembered[i][j] = t, [(0, 0.0)] * experiment.parts.arms
    return counts
