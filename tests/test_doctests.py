"""The examples in docstrings print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
NAMES = sorted(
    ".".join(file.relative_to(SOURCE).with_suffix("").parts)
    for file in (SOURCE / "byzmab").rglob("*.py")
    if ">>> " in file.read_text()
)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_module_print_what_they_say(name, capsys):
    failed, _ = doctest.testmod(import_module(name))
    assert not failed, capsys.readouterr().out


def runs_something(name):
    """Whether any example of a module is not left out."""
    found = doctest.DocTestFinder().find(import_module(name))
    return any(not example.options.get(doctest.SKIP) for test in found for example in test.examples)


def test_most_of_them_are_run_and_a_wrong_one_is_noticed():
    assert sum(map(runs_something, NAMES)) >= len(NAMES) - 2
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda text: None).failed == 1
