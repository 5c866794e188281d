"""The soak: real nodes under faults and insiders drawn from a seed, for as long as it is told; see `make soak`."""
