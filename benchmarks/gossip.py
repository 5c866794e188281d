"""The set-up of Vial et al. 2022 for gossip about arms: a hundred arms, 25 honest agents, 10 liars, G(35, p).

    python -m benchmarks.gossip [--runs 8]

Means 0.95, 0.85 and 98 uniform in [0, 0.85], T = 10⁵, α = 4, four sticky arms, the attack `smart`; graph and means are
drawn anew in every run. Beside it what an independent prototype measured. Minutes of processor time; `make bench`
leaves it out.
"""

import argparse
import warnings

import networkx as nx
import numpy as np

from byzmab import Experiment, simulate
from byzmab.results.statistics import describe

AGENTS, LIARS, ARMS = 35, 10, 100
PROTOTYPE = {  # p, algorithm: regret and its standard error, where one was told
    (1.0, "gosine:alpha=4,beta=2,sticky=4"): (7_218, None),
    (1.0, "vial-2021:alpha=4,sticky=4"): (2_618, 297),
    (1.0, "vial-2022:alpha=4,sticky=4"): (5_184, 349),
    (0.25, "gosine:alpha=4,beta=2,sticky=4"): (6_788, None),
    (0.25, "vial-2021:alpha=4,sticky=4"): (7_927, 1_571),
    (0.25, "vial-2022:alpha=4,sticky=4"): (3_344, 281),
}
ALONE = 9_900


def network(p, run):
    """An undirected graph whose honest part is connected."""
    seed = 1_000 * run
    while True:
        graph = nx.gnp_random_graph(AGENTS, p, seed=seed)
        if nx.is_connected(graph.subgraph(range(LIARS, AGENTS))):
            return nx.relabel_nodes(graph, {node: node + 1 for node in graph})
        seed += 1


def means(run):
    rest = np.random.default_rng([4, run]).uniform(0.0, 0.85, ARMS - 2)
    return (0.95, 0.85, *rest.tolist())


def regret(runs, p, horizon, **settings):
    """Mean and standard error over runs, each with arms and graph of its own."""
    common = {"byzantine": LIARS, "attack": "smart", "horizon": horizon, "runs": 1, "record": 1}
    finals = []
    for run in range(runs):
        experiment = Experiment(graph=network(p, run), arms=means(run), seed=run, **common, **settings)
        finals.append(simulate(experiment).network_regret[0, -1])
    found = describe(np.array(finals))
    return f"{found['mean']:8.0f} ± {found['stderr']:5.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--horizon", type=int, default=100_000)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    alone = regret(chosen.runs, 1.0, chosen.horizon, filter="solo", policy="ucb:4")
    print(f"alone {alone}   prototype {ALONE}", flush=True)
    for (p, algorithm), (expected, error) in PROTOTYPE.items():
        found = regret(chosen.runs, p, chosen.horizon, algorithm=algorithm)
        print(f"p={p:<5} {algorithm:<32} {found}   prototype {expected} ± {error or '?'}", flush=True)


if __name__ == "__main__":
    main()
