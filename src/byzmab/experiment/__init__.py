"""Experiments: every setting of a simulation, what each means, and files that hold them."""
