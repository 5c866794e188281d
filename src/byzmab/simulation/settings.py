"""The settings of an experiment and what they mean: for help texts and experiment files. Light to import."""

ABOUT = {
    "arms": "the arms' means, 0.5,0.45,…, or random:M for M means drawn in every run and sorted decreasingly",
    "agents": "number of agents; 10, or as many as the graph has, if not given",
    "byzantine": "how many of them lie: agents 1..B",
    "f": "the most Byzantine neighbours an agent reckons with; as many as lie if not given",
    "kappa": "consistency level in [1, 2): one for all, a list with one per normal agent, or random",
    "graph": "who hears whom: complete, erdos-renyi:q, two-case:4-5 or :binomial, firms, ring:4, star, or FILE.json",
    "time_varying": "draw a random graph anew in every round",
    "attack": "what Byzantine agents tell; see byzmab list",
    "filter": "how reports become a belief; see byzmab list",
    "memory": "for how many rounds a neighbour's newest report is remembered",
    "policy": "how a belief becomes a choice; see byzmab list",
    "rewards": "family of rewards: bernoulli, beta:c or uniform:h, or several, agent by agent in turn",
    "subset": "hear only so many neighbours in a round, drawn at random; all if not given",
    "epoch": "rounds between two decisions; the arm is kept, and nobody talks, in between",
    "delay": "rounds until a report is heard: 0 or 1",
    "algorithm": "resilient, the paper's own algorithm, or a baseline, without filter and policy; see byzmab list",
    "horizon": "rounds in a run",
    "runs": "independent repetitions",
    "seed": "where all randomness comes from",
    "record": "on how many rounds, evenly spread, regret is recorded",
}
