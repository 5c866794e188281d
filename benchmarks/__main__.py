"""Run all benchmarks."""

from benchmarks import agent, dense, engine, growth, reproduce, startup, sweep

for benchmark in (startup, engine, growth, dense, agent, reproduce, sweep):
    benchmark.main()
    print()
