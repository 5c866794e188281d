"""Contexts, as docs/concepts/contexts.md describes them, transcribed literally: plain Python, numpy's own solve.

Luck, graphs, filters, policies and what is told are those of `naive`; nothing is shared with the package but the
settings of an experiment. Of every arm an agent tells (n, (G, b)).
"""

import math

import numpy as np
from naive import (
    ARMS,
    ATTACK,
    COUNT_SILENCE,
    FILTERS,
    GRAPH,
    IGNORE_F,
    POLICY,
    REWARD,
    SUBSET,
    Stream,
    choose,
    fold,
    hear,
    key_of,
    liars_among,
    listens,
    reward,
    unit,
)

CONTEXTS, LEANS = 22, 23
Z0 = 0.5


# --- what the world is like -----------------------------------------------------------------------------------


def directions(key, count, size):
    rng, rows = Stream(key), []
    for _ in range(count):
        row = np.array([rng.normal() for _ in range(size)])
        rows.append(row / np.linalg.norm(row))
    return rows


def parameters_of(experiment, run):
    d, key = experiment.context, key_of(experiment, run, ARMS)
    if not isinstance(experiment.arms, str):
        constant = np.array([math.sqrt(2) if d > 1 else 1.0] + [0.0] * (d - 1))
        return [(arm - Z0) * constant if np.ndim(arm) == 0 else np.array(arm) for arm in experiment.arms]
    arms = int(experiment.arms.partition(":")[2])
    if d == 1:
        return [np.array([mu - Z0]) for mu in sorted((unit(fold(key, k)) for k in range(arms)), reverse=True)]
    return [np.array([0.0, *(v / math.sqrt(2))]) for v in directions(key, arms, d - 1)]


def context(experiment, run, agent, number, lean):
    d = experiment.context
    if d == 1:
        return np.ones(1)
    rng = Stream(fold(fold(key_of(experiment, run, CONTEXTS), agent), number))
    u = np.array([rng.normal() for _ in range(d - 1)]) + lean
    return np.array([1.0, *(u / np.linalg.norm(u))]) / math.sqrt(2)


# --- one agent ------------------------------------------------------------------------------------------------


class Arm:
    """n, G, b of an arm, and what follows from them."""

    def __init__(self, n, told, ridge, d):
        self.n, (G, b) = n, told if n > 0 else (np.zeros((d, d)), np.zeros(d))
        self.G, self.b = np.array(G), np.array(b)
        self.A = ridge * np.eye(len(self.b)) + self.G
        self.inverse = np.linalg.inv(self.A)
        self.theta = self.inverse @ self.b


def vetted(own, heard, f, t):
    """Whom to leave out: at most f with the largest scores above 1."""
    d, K, L = len(own[0].b), len(own), math.log(max(t, 1))

    def score(arms):
        D, E = [], []
        for mine, theirs in zip(own, arms, strict=True):
            if theirs.n > 0:
                off = theirs.theta - mine.theta
                D.append(off @ mine.G @ off)
                E.append(np.trace(mine.G @ (mine.inverse + theirs.inverse)) / 4)
        one = max((D[k] / (E[k] * (1 + 2 * math.sqrt(L / d) + 2 * L / d)) for k in range(len(D))), default=0.0)
        return max(one, sum(D) / (sum(E) * (1 + 2 * math.sqrt(L / (d * K)) + 2 * L / (d * K))) if D else 0.0)

    scores = {j: score(arms) for j, arms in heard.items()}
    return sorted((j for j in scores if scores[j] > 1), key=lambda j: -scores[j])[:f]


def projected(arm, x, ridge):
    s, prior = x @ arm.inverse @ x, ridge / (x @ x)
    n = round((1 / s - prior) * 2**20) / 2**20
    if n <= 1e-9:
        return 0.0, Z0
    return n, round(min(max(Z0 + x @ arm.theta / (s * n), 0.0), 1.0) * 2**44) / 2**44


def centre(own, heard, rho, f):
    """The centre of an arm, how much every report counts there, and the matrix of all together."""
    theta, omega = own.theta, rho
    for _ in range(2):
        if f > 0:
            r = [arm.b - arm.G @ theta for arm in heard]
            errors = [rj @ arm.inverse @ rj for rj, arm in zip(r, heard, strict=True)]
            expected = [np.trace(arm.G @ arm.inverse) / 4 for arm in heard]
            omega = [
                cap * (1.0 if error <= usual else math.sqrt(usual / error))
                for cap, error, usual in zip(rho, errors, expected, strict=True)
            ]
        A = own.A + sum((w * arm.G for w, arm in zip(omega, heard, strict=True)), 0 * own.A)
        b = own.b + sum((w * arm.b for w, arm in zip(omega, heard, strict=True)), 0 * own.b)
        theta = np.linalg.solve(A, b)
    return theta, omega, A


def capped(limit, told, f):
    """How much of each amount may count: at most a limit, or the (f+1)-th largest of those told."""
    limit = max(limit, sorted(told)[-1 - f] if len(told) > f else 0.0)
    return [min(1.0, limit / max(amount, 1e-300)) for amount in told]


def caps(own, told, f):
    """ρ of every report on an arm: at most twice one's own information."""
    return capped(2 * np.trace(own.G @ own.inverse), [np.trace(arm.G @ own.inverse) for arm in told], f)


def caps_at(x, own, told, f):
    """The same at a context: at most what one knows there oneself; with f = 0 nobody is cut down."""
    u = own.inverse @ x
    return capped(u @ own.G @ u, [u @ arm.G @ u for arm in told], f) if f > 0 else [1.0] * len(told)


def pairs(shares, own, heard, rho, x, ridge, f):
    """One's own pair, those of the others, and the prior (pulls, pulls · mean)."""
    if shares == "projection":
        prior = ridge / (x @ x)
        n, y = projected(own, x, ridge)
        others = [pair for pair in (projected(arm, x, ridge) for arm in heard) if pair[0] > 0]
        return (max(n, 1e-9), y), others, (prior, prior * Z0)
    rho = [cap * at_x for cap, at_x in zip(rho, caps_at(x, own, heard, f), strict=True)]
    theta, omega, A = centre(own, heard, rho, f)
    base = Z0 + x @ theta
    v = np.linalg.solve(A, x)
    W, q = 1 / (x @ v), len(heard)
    g = [w * (v @ (arm.b - arm.G @ theta)) for w, arm in zip(omega, heard, strict=True)]
    if shares == "equal":
        share = v @ (own.b - own.A @ theta)
        return (W / (q + 1), base + (q + 1) * share), [(W / (q + 1), base + (q + 1) * gj) for gj in g], (0.0, 0.0)
    n = [W**2 * w * (v @ arm.G @ v) for w, arm in zip(omega, heard, strict=True)]
    mine = W**2 * (v @ own.G @ v)
    others = [(nj, base + gj * W / nj) for nj, gj in zip(n, g, strict=True) if nj > 1e-9]
    ridge_pull = W * ridge * (v @ theta)
    y = base + v @ (own.b - own.G @ theta) * W / mine if mine > 1e-9 else base
    prior = W**2 * ridge * (v @ v)
    return (max(mine, 1e-9), y), others, (prior, prior * base - ridge_pull)


def belief(experiment, own, heard, x, f, kappa, t, expected):
    """(z, w, d) of every arm; `heard` are the arms of every neighbour."""
    out = vetted(own, heard, f, t) if experiment.vetting else []
    beliefs = []
    for k, mine in enumerate(own):
        rho = dict(zip(heard, caps(mine, [arms[k] for arms in heard.values()], f), strict=True))  # all, vetted or not
        kept = [j for j, arms in heard.items() if j not in out and arms[k].n > 0]
        told, rho = [heard[j][k] for j in kept], [rho[j] for j in kept]
        (n, y), others, (prior, prior_total) = pairs(
            experiment.shares, mine, told, rho, x, experiment.ridge, f - len(out)
        )
        left = f - len(out)
        if experiment.filter in COUNT_SILENCE and expected:
            silent = len(heard) - len(out) - len(others)
            left -= silent if silent <= left else 0
        z, w, doubt = FILTERS[experiment.filter](n, y, others, left, kappa, t)
        if math.isclose(z, y, rel_tol=1e-13) and math.isclose(w, n, rel_tol=1e-13) and doubt == 0:  # it stands alone
            z, w = Z0 + x @ mine.theta, 1 / (x @ mine.inverse @ x)
        elif prior > 0:
            z, w = (w * z + prior_total) / (w + prior), w + prior
        beliefs.append((z, w, doubt))
    return beliefs


def alone(own, x):
    """(z, w, 0) of every arm by one's own statistics: LinUCB."""
    return [(Z0 + x @ mine.theta, 1 / (x @ mine.inverse @ x), 0.0) for mine in own]


def squared_error(forecast, r):
    return (min(max(forecast, 0.0), 1.0) - r) ** 2


# --- baselines: θ and how many agents it is worth ---------------------------------------------------------------


def trimmed_mean(thetas, f):
    columns = np.sort(np.array(thetas), axis=0)
    return columns[f : len(thetas) - f].mean(axis=0) if len(thetas) > 2 * f else thetas[0]


def geometric_median(thetas):
    centre = thetas[0]
    for _ in range(32):
        weights = [1 / max(1e-9, np.linalg.norm(theta - centre)) for theta in thetas]
        centre = sum(w * theta for w, theta in zip(weights, thetas, strict=True)) / sum(weights)
    return centre


def clipped(thetas, radius):
    centre = thetas[0]
    for _ in range(3):
        offs = [theta - centre for theta in thetas]
        centre = centre + sum(off * min(1.0, radius / max(np.linalg.norm(off), 1e-300)) for off in offs) / len(thetas)
    return centre


def mixed(thetas, count):
    nearest = [sorted(thetas, key=lambda other: np.sum((other - theta) ** 2))[:count] for theta in thetas]
    return [np.mean(group, axis=0) for group in nearest]


def theta_and_worth(algorithm, mine, thetas, f):
    n = len(thetas)
    if algorithm == "lin-ucb":
        return mine.theta, 1
    if algorithm == "lin-mean":
        return trimmed_mean(thetas, 0), n
    if algorithm == "lin-trimmed":
        return trimmed_mean(thetas, f), max(1, n - 2 * f)
    if algorithm == "lin-geometric-median":
        return geometric_median(thetas), n
    if algorithm == "lin-clipped":
        return clipped(thetas, 1.5 * 0.5 * math.sqrt(np.trace(mine.inverse))), n
    assert algorithm == "lin-mixing"
    return (trimmed_mean(mixed(thetas, n - f), f), n - f) if n > 2 * f else (mine.theta, 1)


def combined(algorithm, own, heard, x, f):
    """(z, w, 0) of every arm by a baseline."""
    beliefs = []
    for k, mine in enumerate(own):
        told = [arms[k] for arms in heard.values() if arms[k].n > 0]
        if algorithm == "lin-sum":
            A, b = mine.A + sum(arm.G for arm in told), mine.b + sum(arm.b for arm in told)
            beliefs.append((Z0 + x @ np.linalg.solve(A, b), 1 / (x @ np.linalg.solve(A, x)), 0.0))
        else:
            theta, worth = theta_and_worth(algorithm, mine, [mine.theta, *(arm.theta for arm in told)], f)
            beliefs.append((Z0 + x @ theta, worth / (x @ mine.inverse @ x), 0.0))
    return beliefs


# --- attacks ----------------------------------------------------------------------------------------------------


class ContextLiars:
    """The Byzantine agents; `see` shows them the world of a round, then `lie` asks for one lie."""

    def __init__(self, experiment, run, thetas):
        self.name, _, self.parameter = experiment.attack.partition(":")
        self.experiment, self.thetas, self.careful = experiment, thetas, False
        self.N, self.B, self.K = experiment.parts.agents, experiment.byzantine, len(thetas)
        self.key = key_of(experiment, run, ATTACK)

    def look(self, contexts, seen):
        """What everyone sees now, and the mean of what it has seen before."""
        self.contexts, self.mean_contexts = contexts, seen

    def see(self, t, n, told, n_before, in_neighbours, inbox, kappas, mu):
        self.t = t
        ridge, d = self.experiment.ridge, self.experiment.context
        self.arms = [[Arm(n[i][k], told[i][k], ridge, d) for k in range(self.K)] for i in range(self.N)]
        normal = range(self.B, self.N)
        self.honest = [np.mean([self.arms[j][k].theta for j in normal], axis=0) for k in range(self.K)]

    def lie(self, liar, i):
        if self.name == "none":
            return [self.told(arm, arm.G, arm.theta) for arm in self.arms[liar]]
        if self.name == "flip":
            return [self.told(arm, arm.G, -arm.theta) for arm in self.arms[liar]]
        if self.name == "starve":
            return [(0, told[1]) for told in (self.told(arm, arm.G, arm.theta) for arm in self.arms[liar])]
        if self.name.startswith(("stealth", "inflate")):
            return self.stealth(i)
        if self.name == "crafted-at":
            return self.crafted(i)
        return [self.told(self.arms[i][k], self.arms[i][k].G, self.theta(liar, i, k)) for k in range(self.K)]

    def told(self, arm, G, theta):
        """θ as a report of so many pulls with this G."""
        b = (self.experiment.ridge * np.eye(len(theta)) + G) @ theta
        return arm.n, (tuple(map(tuple, G.tolist())), tuple(b.tolist()))

    def crafted(self, i):
        p = {"best": 1.5, "others": 1.5, "size": 1, "share": 1, "spared": 0, "switch": 0}
        p |= {"knows": 0, "centre": 1, "inflates": 0}
        p |= {name: float(value) for name, value in (part.split("=") for part in self.parameter.split(",") if part)}
        x, best = self.aim(i, p["knows"])
        met = math.floor((i + 1) * p["share"] + 1e-9) - math.floor(i * p["share"] + 1e-9)
        lies = []
        for k, arm in enumerate(self.arms[i]):
            errors = -p["best"] if k == best else p["others"]
            if self.t < p["switch"] and not met:
                errors = p["spared"] if k == best else -p["spared"]
            theta = [arm.theta, self.honest[k], self.thetas[k], self.joint(k)][int(p["centre"])]
            theta = theta + errors * 0.5 * arm.inverse @ x / math.sqrt(x @ arm.inverse @ x)
            made_up = arm.n * np.outer(x, x) if p["knows"] else arm.n / len(x) * np.eye(len(x))
            n, (G, b) = self.told(arm, made_up if p["inflates"] else arm.G, theta)
            G, b = (np.array(numbers) * p["size"] for numbers in (G, b))
            lies.append((n * p["size"], (tuple(map(tuple, G.tolist())), tuple(b.tolist()))))
        return lies

    def joint(self, k):
        """θ of an arm, of all that normal agents saw."""
        normal = [self.arms[j][k] for j in range(self.B, self.N)]
        A = self.experiment.ridge * np.eye(len(normal[0].b)) + sum(arm.G for arm in normal)
        return np.linalg.solve(A, sum(arm.b for arm in normal))

    def aim(self, i, knows=None):
        knows = self.name.endswith("-at") if knows is None else knows
        x = self.contexts[i] if knows else self.mean_contexts[i]
        return x, max(range(self.K), key=lambda k: x @ self.thetas[k])

    def theta(self, liar, i, k):
        x, best = self.aim(i)
        down = -1 if k == best else 1
        if self.name == "constant":
            constant = np.array([math.sqrt(2) if len(x) > 1 else 1.0] + [0.0] * (len(x) - 1))
            return ([0.4, 0.5, 0.4, 0.3][k % 4] - Z0) * constant
        if self.name == "large":
            return -100 * self.honest[k]
        if self.name == "swap":
            return self.honest[k - 1]
        if self.name == "extreme-at":
            return x * ((0.0 if k == best else 1.0) - Z0) / (x @ x)
        inverse = self.arms[i][k].inverse
        spread = 0.5 * math.sqrt(x @ inverse @ x)
        if self.name == "alie-at":
            spread = np.std([x @ self.arms[j][k].theta for j in range(self.B, self.N)])
        else:
            assert self.name == "blind-alie"
        return self.honest[k] + down * 1.5 * spread * (inverse @ x) / (x @ inverse @ x)

    def stealth(self, i):
        x, best = self.aim(i)
        own, d, ridge = self.arms[i], len(x), self.experiment.ridge
        G = [arm.G for arm in own]
        if self.name == "inflate":
            G = [arm.n / d * np.eye(d) for arm in own]
        if self.name == "inflate-at":
            G = [arm.n * np.outer(x, x) for arm in own]
        shifts = [
            (-1 if k == best else 1) * own[k].inverse @ x / math.sqrt(x @ own[k].inverse @ x) for k in range(self.K)
        ]
        L, D, E = math.log(max(self.t, 1)), [], []
        for arm, gram, shift in zip(own, G, shifts, strict=True):
            D.append(shift @ arm.G @ shift)
            E.append(np.trace(arm.G @ (arm.inverse + np.linalg.inv(ridge * np.eye(d) + gram))) / 4)
        all_of_it = d * self.K
        score = max(
            *(D[k] / (E[k] * (1 + 2 * math.sqrt(L / d) + 2 * L / d)) for k in range(self.K)),
            sum(D) / (sum(E) * (1 + 2 * math.sqrt(L / all_of_it) + 2 * L / all_of_it)),
        )
        size = math.sqrt(0.95 / score)
        return [self.told(own[k], G[k], own[k].theta + size * shifts[k]) for k in range(self.K)]


# --- the loop -----------------------------------------------------------------------------------------------


def play(experiment, run):
    """Play one run; each agent's arm in each round, each normal agent's regret, messages and arms told, and leads."""
    parts, d, ridge = experiment.parts, experiment.context, experiment.ridge
    N, K, B, f = parts.agents, parts.arms, experiment.byzantine, experiment.settings()["f"]
    kappas = [float(experiment.kappa)] * N
    thetas = parameters_of(experiment, run)
    lean = float(experiment.contexts.partition(":")[2] or 2) if experiment.contexts != "alike" else 0.0
    leans = [np.zeros(d - 1)] * N
    if lean and d > 1:
        leans = [lean * row for row in directions(key_of(experiment, run, LEANS), N, d - 1)]
    keys = {purpose: key_of(experiment, run, purpose) for purpose in (REWARD, POLICY, GRAPH, SUBSET)}
    redrawn = experiment.time_varying and parts.graph.random
    expected = experiment.reliable_links and not redrawn and experiment.subset is None
    known = [[] for _ in range(N)]
    n = [[0] * K for _ in range(N)]
    G = [[np.zeros((d, d)) for _ in range(K)] for _ in range(N)]
    b = [[np.zeros(d) for _ in range(K)] for _ in range(N)]
    seen = [np.zeros(d) for _ in range(N)]

    def pull(i, k, x):
        word = fold(fold(fold(keys[REWARD], i), k), n[i][k])
        r = reward(experiment, i, min(max(Z0 + x @ thetas[k], 0.0), 1.0), word)
        n[i][k] += 1
        G[i][k] = G[i][k] + np.outer(x, x)
        b[i][k] = b[i][k] + x * (r - Z0)
        seen[i] = seen[i] + x
        return r

    for k in range(K):
        for i in range(N):
            pull(i, k, context(experiment, run, i, k, leans[i]))
    liars, remembered, kept, past = ContextLiars(experiment, run, thetas), [{} for _ in range(N)], {}, []
    hears = listens(experiment) if experiment.algorithm == "resilient" else experiment.algorithm != "lin-ucb"
    choices, counts, regret, leads = [], [0, 0], [0.0] * N, [0.0] * N
    for t in range(experiment.horizon):
        told = [[(tuple(map(tuple, G[i][k].tolist())), tuple(b[i][k].tolist())) for k in range(K)] for i in range(N)]
        past.append(([row[:] for row in n], told, None))
        now = [context(experiment, run, i, K + t, leans[i]) for i in range(N)]
        sent = t - experiment.delay
        if sent >= 0 and hears:
            liars.look(now, [seen[i] / sum(n[i]) for i in range(N)])
            told_now = hear(
                experiment, run, t, sent, past[sent], remembered, kept, {}, liars, kappas, keys, None, False, known
            )
            counts = [before + more for before, more in zip(counts, told_now, strict=True)]
        arms, forecasts = [], []
        for i in range(N):
            own = [Arm(n[i][k], told[i][k], ridge, d) for k in range(K)]
            heard = {
                j: [Arm(nj, told_by_j, ridge, d) for nj, told_by_j in report]
                for j, (_, report) in remembered[i].items()
            }
            may_hear = N - 1 if redrawn else len(known[i])
            liars_of_i = liars_among(f, may_hear)
            if f == "auto" and may_hear < 4 and experiment.filter not in IGNORE_F:
                heard = {}
            if experiment.algorithm == "resilient":
                told_to_i = belief(experiment, own, heard, now[i], liars_of_i, kappas[i], t, expected)
                by_itself = alone(own, now[i])
                beliefs = by_itself if experiment.vetting and leads[i] < -1 else told_to_i
                forecasts.append((by_itself, told_to_i))
            else:
                beliefs = combined(experiment.algorithm, own, heard, now[i], liars_of_i)
                forecasts.append((beliefs, beliefs))
            own_data = [(z, w) for z, w, _ in alone(own, now[i])]
            arms.append(choose(experiment.policy, beliefs, own_data, t, Stream(fold(fold(keys[POLICY], i), t))))
        for i in range(N):
            values = [now[i] @ theta for theta in thetas]
            regret[i] += max(values) - values[arms[i]]
            r = pull(i, arms[i], now[i])
            by_itself, told_to_i = (forecast[arms[i]][0] for forecast in forecasts[i])
            leads[i] += squared_error(by_itself, r) - squared_error(told_to_i, r)
        choices.append(arms)
    return choices, regret[B:], counts, leads
