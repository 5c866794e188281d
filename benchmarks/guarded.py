"""What `guarded` costs beside the paper's `trimmed`: seconds per agent-step, N = 10, complete graph, one worker."""

import time

from byzmab import Experiment
from byzmab.core.recommended import POLICY
from byzmab.simulation.single_run import Run

ROUNDS = 7
ATTACKS = ("none", "extreme", "alie", "constant", "alie:careful=1", "constant:careful=1")


def seconds(experiment, run):
    """Processor seconds of one run."""
    played = Run(experiment, run)
    began = time.process_time()
    played.advance(experiment.horizon)
    return time.process_time() - began


def ratios(attack):
    """Both filters play the same runs in turn: the time of `guarded` over that of `trimmed`, sorted."""
    trimmed = Experiment(policy=POLICY, attack=attack, horizon=20_000)
    guarded = trimmed.but(filter="guarded")
    for experiment in (trimmed, guarded):
        Run(experiment, 0).advance(2)
    return sorted(seconds(guarded, run) / seconds(trimmed, run) for run in range(ROUNDS))


def main():
    print(f"N=10, B=f=2, complete, 4 arms, {POLICY}: the time of guarded over that of trimmed (at most 2)")
    for attack in ATTACKS:
        found = ratios(attack)
        print(f"  {attack:<18} {found[ROUNDS // 2]:5.2f}  ({found[0]:.2f} to {found[-1]:.2f})", flush=True)


if __name__ == "__main__":
    main()
