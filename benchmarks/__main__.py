"""Run all benchmarks."""

from benchmarks import agent, engine, growth, startup

for benchmark in (startup, engine, growth, agent):
    benchmark.main()
    print()
