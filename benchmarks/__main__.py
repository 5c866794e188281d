"""Run all benchmarks."""

from benchmarks import agent, dense, edges, engine, growth, guarded, node, pages, reproduce, startup, sweep

for benchmark in (startup, engine, edges, guarded, growth, dense, agent, reproduce, sweep, node, pages):
    benchmark.main()
    print()
