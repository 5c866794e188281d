"""What pyproject.toml promises to those who install byzmab."""

import tomllib
from pathlib import Path

import pytest
from lowest import requirements

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize(("name", "bound"), list(requirements()))
def test_every_dependency_has_a_lower_bound(name, bound):
    assert bound is not None, f"{name} has no lower bound; `make lowest` tells whether one is right"


def test_the_supported_versions_of_python_are_named():
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    assert PROJECT["requires-python"] == ">=3.11"
