"""Run all benchmarks."""

from benchmarks import agent, dense, engine, growth, node, reproduce, startup, sweep

for benchmark in (startup, engine, growth, dense, agent, reproduce, sweep, node):
    benchmark.main()
    print()
