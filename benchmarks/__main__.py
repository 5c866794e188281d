"""Run all benchmarks."""

from benchmarks import agent, engine, growth, reproduce, startup, sweep

for benchmark in (startup, engine, growth, agent, reproduce, sweep):
    benchmark.main()
    print()
