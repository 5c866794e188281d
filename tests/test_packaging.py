"""What pyproject.toml promises to those who install byzmab."""

import sys
import tomllib
from pathlib import Path

import lowest
import pytest
import release
from packaging.requirements import Requirement

import byzmab
from byzmab.cli.main import app
from byzmab.cli.options import STUDY
from byzmab.core.errors import BadInput

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def test_the_lowest_versions_are_named_once_each_and_allowed(capsys):
    lowest.main()
    pins = [Requirement(line) for line in capsys.readouterr().out.splitlines()]
    needs = {need.name: need for need in lowest.requirements()}
    assert [pin.name for pin in pins] == list(needs)
    for pin in pins:
        (version,) = (specifier.version for specifier in pin.specifier)
        assert needs[pin.name].specifier.contains(version)


@pytest.mark.parametrize("text", ["numpy", "numpy<3", "numpy==2.0", "numpy~=2.0"])
def test_a_dependency_without_a_lower_bound_ends_make_check(text, monkeypatch):
    monkeypatch.setattr(lowest, "requirements", lambda: [Requirement(text)])
    with pytest.raises(SystemExit, match=rf"^{text} in pyproject.toml has no lower bound"):
        lowest.main()


def test_the_supported_versions_of_python_are_named():
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    assert PROJECT["requires-python"] == ">=3.11"


def test_what_is_asked_for_before_the_work_is_in_the_extra_and_nowhere_else():
    extra = {Requirement(line).name for line in PROJECT["optional-dependencies"]["study"]}
    always = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert set(STUDY) <= extra and not extra & always


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("reproduce F1", "study"),
        ("tournament", "study"),
        ("sweep", "study"),
        ("simulate --out result", "study"),
        ("attack search", "search"),  # which brings `study` too
        ("compare-algorithms", "search"),
    ],
)
def test_a_command_that_lacks_a_package_says_so_before_it_works(command, extra, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("byzmab.cli.options.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=rf"this needs the package .*; install it by: pip install 'byzmab\[{extra}\]'"):
        app(command.split(), standalone_mode=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("xarray", lambda result: result.regret),
        ("matplotlib.figure", lambda result: result.plot()),
        ("scipy.stats", lambda result: byzmab.compare(result, result)),
    ],
)
def test_in_python_too_a_missing_package_is_told_with_the_line_that_installs_it(package, use, monkeypatch):
    result = byzmab.simulate(byzmab.Experiment(horizon=20, runs=2))
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(BadInput, match=r"^this needs the package .*; install it by: pip install 'byzmab\[study\]'$"):
        use(result)


def test_everything_that_names_the_version_names_the_same_one(capsys):
    release.main()
    assert capsys.readouterr().out == f"version {PROJECT['version']}\n"


def test_a_tag_of_another_version_or_of_one_without_a_date_is_refused():
    with pytest.raises(SystemExit, match=r"^tag v0\.0\.1 is not for version"):
        release.main("v0.0.1")
    status = release.versions()[1]
    if status == "unreleased":
        with pytest.raises(SystemExit, match=r"marks .* as unreleased; write its date there"):
            release.main(f"v{PROJECT['version']}")
