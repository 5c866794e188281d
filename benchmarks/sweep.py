"""What a sweep costs beside playing: planning, handing out, checking and keeping blocks."""

import json
import tempfile
import time
from pathlib import Path

from byzmab import Experiment, ResultStore, run_sweep
from byzmab.sweep.executors import open_executor

BASE = Experiment(horizon=2_000, runs=20, record=20)
POINTS = [
    BASE.but(kappa=1 + place / 20, filter=filter, attack="adaptive")
    for place in range(10)
    for filter in ("trimmed", "pooled", "screened", "median")
]


def overhead(points, executor=None, workers=1):
    """Seconds in all, seconds of playing, and blocks kept."""
    with tempfile.TemporaryDirectory() as directory:
        store = ResultStore(directory)
        began = time.perf_counter()
        run_sweep(points, store, executor, workers)
        wall = time.perf_counter() - began
        origins = [json.loads(path.read_text()) for path in Path(directory).rglob("*-*-*.json")]
    return wall, sum(origin["seconds"] for origin in origins), store.computed


def main():
    run_sweep(POINTS[:4], ResultStore(tempfile.mkdtemp()))  # compiled
    print(f"{'':<34} {'wall s':>8} {'playing s':>10} {'blocks':>7} {'beside, ms a block':>19} {'share':>7}  below 5 %")
    show("one thread", *overhead(POINTS))
    with open_executor("dask", workers=1) as (executor, workers):
        overhead(POINTS[:4], executor, workers)  # compiled there too
        show("Dask, one worker process", *overhead(POINTS, executor, workers))


def show(name, wall, playing, blocks):
    beside = wall - playing
    print(f"{name:<34} {wall:8.2f} {playing:10.2f} {blocks:7} {1e3 * beside / blocks:19.2f} {beside / wall:7.1%}")


if __name__ == "__main__":
    main()
