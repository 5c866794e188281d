"""The simulator's loop with contexts: what hearing costs, as ratios to being alone in the same run.

    python -m benchmarks.contexts_loop

Every rule and the lonely agents play the same network in turn, block by block, so that a busy machine slows both.
`make bench` leaves it out: every rule compiles anew for every number of dimensions.
"""

import argparse
import statistics
import time
import warnings

from benchmarks.contexts import ALONE, NETWORKS, RULES
from byzmab import Experiment
from byzmab.simulation.single_run import Run

ATTACKS = ("none", "flip", "inflate", "stealth-at")
BLOCKS = 5


def play(experiment, block):
    """Processor seconds of one block of a run after the other."""
    run = Run(experiment, 0)
    for number in range(BLOCKS + 1):
        began = time.process_time()
        run.advance((number + 1) * block)
        yield time.process_time() - began


def ratio(experiment, alone, block):
    """A run's time over that of being alone, the median of all blocks but the first; and agents' steps per second."""
    pairs = list(zip(play(experiment, block), play(alone, block), strict=True))[1:]
    rate = experiment.agents * block * len(pairs) / sum(mine for mine, _ in pairs)
    return statistics.median(mine / lonely for mine, lonely in pairs), rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=NETWORKS, default="usual")
    parser.add_argument("--block", type=int, default=400, help="rounds that are timed at once")
    parser.add_argument("--rule", action="append", choices=RULES)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    network = {"agents": 10, "byzantine": 2, "f": 2, **NETWORKS[chosen.network]}
    base = Experiment(**network, policy="tuned", runs=1, horizon=(BLOCKS + 1) * chosen.block)
    print(f"{chosen.network}: times being alone (steps of agents per second)\n")
    print(f"| | {' | '.join(ATTACKS)} |\n|---{'|---' * len(ATTACKS)}|", flush=True)
    for rule in chosen.rule or RULES:
        played = [base.but(**RULES[rule], attack=attack) for attack in ATTACKS]
        found = [ratio(experiment, base.but(**ALONE), chosen.block) for experiment in played]
        print(f"| {rule} | {' | '.join(f'{times:.1f} ({rate:,.0f})' for times, rate in found)} |", flush=True)


if __name__ == "__main__":
    main()
