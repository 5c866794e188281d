"""The live node: one agent beside an application, in a network of agents that do not trust each other."""
