"""Transports: what carries frames between nodes."""
