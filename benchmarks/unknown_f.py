"""What it costs `guarded` not to know f: regret ± standard error at T = 10⁴, N = 10, complete graph, 100 runs, seed 7.

Minutes of processor time; `make bench` leaves it out.
"""

import warnings

from byzmab import Experiment, simulate
from byzmab.core.recommended import POLICY

RUNS = 100
ROWS = {  # liars: their attacks
    0: ("none",),
    1: ("none", "alie:careful=1", "extreme", "starve", "starve:careful=1"),
    2: ("none", "alie:careful=1", "extreme", "starve", "starve:careful=1"),
    3: ("none", "alie:careful=1", "extreme", "starve", "starve:careful=1"),
}


def regret(byzantine, attack, f):
    """Regret ± standard error, and how many runs have an agent that locked in: regret above 100."""
    experiment = Experiment(
        agents=10, byzantine=byzantine, attack=attack, f=f, filter="guarded", policy=POLICY, runs=RUNS, seed=7
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # f below B is part of the table
        result = simulate(experiment)
    found = result.summary()["regret"]
    locked = int((result.regret_values[..., -1] > 100.0).any(axis=1).sum())
    return f"{found['mean']:6.1f} ± {found['stderr']:.1f} ({locked} locked)"


def main():
    print(f"{'B':>2} {'attack':<16} {'f = B':>26} {'auto, f = 2':>26}")
    for byzantine, attacks in ROWS.items():
        for attack in attacks:
            known = regret(byzantine, attack, byzantine)
            unknown = known if byzantine == 2 else regret(byzantine, attack, "auto")
            print(f"{byzantine:2} {attack:<16} {known:>26} {unknown:>26}", flush=True)


if __name__ == "__main__":
    main()
