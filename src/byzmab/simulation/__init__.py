"""Whole networks: experiments, the compiled round loop, runs on workers, results."""
