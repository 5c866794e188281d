"""How long a person waits: help, the first simulation with its compilation, and every later one."""

import os
import subprocess
import sys
import tempfile
import time

BYZMAB = [sys.executable, "-m", "byzmab.cli.main"]


def seconds(*arguments, **environment):
    began = time.perf_counter()
    subprocess.run([*BYZMAB, *arguments], check=True, capture_output=True, env={**os.environ, **environment})
    return time.perf_counter() - began


def main():
    small = ["simulate", "--runs", "4", "--horizon", "1000"]
    with tempfile.TemporaryDirectory() as cache:
        print(f"byzmab --help                  {seconds('--help'):6.2f} s (at most 0.5)")
        print(f"first simulate, compiling      {seconds(*small, BYZMAB_CACHE_DIR=cache):6.2f} s (at most 20)")
        other = [*small, "--filter", "pooled"]
        print(f"another filter, compiling      {seconds(*other, BYZMAB_CACHE_DIR=cache):6.2f} s")
        print(f"small simulate afterwards      {seconds(*small, BYZMAB_CACHE_DIR=cache):6.2f} s (at most 2)")


if __name__ == "__main__":
    main()
