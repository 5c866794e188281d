"""What pyproject.toml promises to those who install byzmab."""

import tomllib
from pathlib import Path

import pytest
from lowest import requirements
from packaging.requirements import Requirement

from byzmab.cli.main import app
from byzmab.cli.options import STUDY
from byzmab.core.errors import BadInput

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize(("name", "bound"), list(requirements()))
def test_every_dependency_has_a_lower_bound(name, bound):
    assert bound is not None, f"{name} has no lower bound; `make lowest` tells whether one is right"


def test_the_supported_versions_of_python_are_named():
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    assert PROJECT["requires-python"] == ">=3.11"


def test_what_is_asked_for_before_the_work_is_in_the_extra_and_nowhere_else():
    extra = {Requirement(line).name for line in PROJECT["optional-dependencies"]["study"]}
    always = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert set(STUDY) <= extra and not extra & always


@pytest.mark.parametrize("command", ["reproduce F1", "tournament", "sweep", "attack search", "simulate --out result"])
def test_a_command_that_lacks_a_package_says_so_before_it_works(command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("byzmab.cli.options.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"this needs the package .*; install it by: pip install 'byzmab\[study\]'"):
        app(command.split(), standalone_mode=False)
    assert not list(tmp_path.iterdir())
