"""Run all benchmarks."""

from benchmarks import agent, dense, engine, growth, guarded, node, reproduce, startup, sweep

for benchmark in (startup, engine, guarded, growth, dense, agent, reproduce, sweep, node):
    benchmark.main()
    print()
