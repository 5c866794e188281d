"""Waiting for a state, for as long as a loaded machine may need: a test that passes never waits for a time."""

import time

LONG = 300.0  # seconds within which everything that should happen has happened, also on a machine that is busy


def until(condition, seconds=LONG, every=0.02):
    """Wait until a condition is true, and return its value; fail after `seconds`."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"it did not happen within {seconds:g} s"
        time.sleep(every)
    return value
