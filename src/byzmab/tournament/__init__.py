"""Tournaments: every filter and policy against every attack on every graph, measured by what an agent does alone."""
