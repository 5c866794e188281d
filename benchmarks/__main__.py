"""Run all benchmarks."""

from benchmarks import agent, engine, growth, reproduce, startup

for benchmark in (startup, engine, growth, agent, reproduce):
    benchmark.main()
    print()
