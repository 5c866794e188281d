"""The live pages: a node as it runs, and a whole network on this machine."""
