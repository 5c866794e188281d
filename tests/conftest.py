"""Shared by all tests."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # naive.py is imported by name

# the first example compiles, and examples must not change from run to run
settings.register_profile("byzmab", deadline=None, derandomize=True)
settings.load_profile("byzmab")
