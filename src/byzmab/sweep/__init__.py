"""Sweeps: many experiments, kept in a store of blocks that is resumed, shared and merged."""
