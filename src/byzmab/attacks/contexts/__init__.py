"""Attacks that need contexts, one file each; `world.py` has what they see, and how made-up parameters are told."""
