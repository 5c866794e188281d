"""How long a person waits: help, the first simulation with its compilation, what is new after it, every later one."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

BYZMAB = [sys.executable, "-m", "byzmab.cli.main"]
SMALL = ("simulate", "--runs", "4", "--horizon", "1000")
NEW = {  # parts that the first simulation did not play
    "filter": ("pooled", "median", "guarded"),
    "policy": ("moss", "thompson"),
    "attack": ("extreme", "crafted"),
    "graph": ("ring",),
    "rewards": ("beta",),
    "drift": ("walk:0.01",),
    "algorithm": ("mp-ucb", "dducb"),
}


def processor_seconds():
    """Of all processes started so far that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(cache, *arguments):
    """Seconds that a command takes, and processor seconds."""
    began, used = time.perf_counter(), processor_seconds()
    environment = {**os.environ, "BYZMAB_CACHE_DIR": cache}
    subprocess.run([*BYZMAB, *arguments], check=True, capture_output=True, env=environment)
    return time.perf_counter() - began, processor_seconds() - used


def measure_new(cache, *arguments):
    """The same with a copy of a cache, which stays as it is."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(cache, copy, dirs_exist_ok=True)
        return measure(copy, *arguments)


def show(what, found, most=""):
    print(f"{what:<34} {found[0]:6.2f} s, of a processor {found[1]:6.2f} s {most}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as cache:
        show("byzmab --help", measure(cache, "--help"), "(at most 0.5 s)")
        show("first simulate, compiling", measure(cache, *SMALL), "(at most 20 s)")
        again = measure(cache, *SMALL)
        show("the same afterwards", again, "(at most 2 s)")
        print("a new part, beyond that:")
        for kind, names in NEW.items():
            for name in names:
                found = measure_new(cache, *SMALL, f"--{kind}", name)
                show(f"  {kind} {name}", [new - old for new, old in zip(found, again, strict=True)])


if __name__ == "__main__":
    main()
