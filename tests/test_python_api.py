"""The Python API: every public parameter is described, and mistakes are answered with one sentence and the fix."""

import inspect
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import byzmab
from byzmab import BadInput, Experiment
from byzmab.core.plugins import Plugin

SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", re.S | re.M)
NAME = re.compile(r"^\*{0,2}(\w+(?:, \w+)*)(?: : .*)?$", re.M)
NO_PARAMETERS = {"__version__", "BadInput"}  # a text, and an exception that nobody but us makes
AS_IN_CLIENT = "AsyncClient"  # its methods are those of `Client`, and are described there


def described(documentation):
    """Return the names in the sections on parameters and attributes of a docstring."""
    sections = SECTION.findall(inspect.cleandoc(documentation or ""))
    return {name for text in sections for names in NAME.findall(text) for name in names.split(", ")}


def asked_for(function):
    """Return the names of the parameters of a function, without `self` and those called `_`."""
    parameters = inspect.signature(function).parameters.values()
    return {item.name for item in parameters if item.name != "self" and not item.name.startswith("_")}


def public_functions():
    """Yield every public function, class and method with parameters, by name, and its docstring."""
    for name in sorted(set(byzmab.__all__) - NO_PARAMETERS):
        found = getattr(byzmab, name)
        if not (isinstance(found, type) and issubclass(found, Plugin)):  # a plug-in's fields are those of its author
            yield name, found, found.__doc__
        if not isinstance(found, type) or name == AS_IN_CLIENT:
            continue
        for member, function in vars(found).items():
            function = getattr(function, "__func__", function)
            if inspect.isfunction(function) and not member.startswith("_"):
                yield f"{name}.{member}", function, function.__doc__


@pytest.mark.parametrize("name", sorted(set(byzmab.__all__) - {"__version__"}))
def test_every_public_name_has_a_docstring_that_says_what_it_is(name):
    documentation = inspect.getdoc(getattr(byzmab, name))
    assert documentation and documentation.partition("\n")[0].endswith((".", ":"))


def test_every_public_parameter_is_described():
    missing = {
        name: sorted(absent)
        for name, function, documentation in public_functions()
        if (absent := asked_for(function) - described(documentation) - {"cls", "arguments", "settings"})
    }
    assert not missing


def test_a_parameter_left_out_of_a_docstring_is_noticed():
    documentation = "Do it.\n\n    Parameters\n    ----------\n    one, two\n        Numbers.\n\n    Returns\n    -------\n    three\n"
    assert described(documentation) == {"one", "two"}


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: Experiment(filtr="mean"), TypeError, r"Experiment\(\) has no parameter 'filtr'; did you mean 'filter'"),
        (lambda: Experiment().but(hrizon=3), TypeError, "did you mean 'horizon'"),
        (lambda: byzmab.simulate("e.toml"), BadInput, r"^expected Experiment, got str; use byzmab.read_experiment\(path\)$"),
        (lambda: byzmab.compare(Experiment(), 3), BadInput, "^expected Experiment, got int$"),
        (lambda: byzmab.grid(Experiment(), filter="mean"), BadInput, r"filter 'mean' is not allowed in a grid; .*\['mean'\]"),
        (lambda: byzmab.grid(Experiment(), filtr=["mean"]), TypeError, "did you mean 'filter'"),
        (lambda: Experiment(graph=np.ones((2, 3))), BadInput, r"shape \(2, 3\)"),
        (lambda: Experiment(graph=np.full((4, 4), 0.5)), BadInput, "other entries than 0 and 1"),
        (lambda: byzmab.scale_contexts([3.0, 4.0], largest=2.0), BadInput, "^context has norm 5; allowed: .* at most 2$"),
    ],
)  # fmt: skip
def test_a_mistake_is_answered_with_one_sentence(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_a_matrix_is_the_graph_that_networkx_makes_of_it():
    matrix = np.triu(np.ones((5, 5)))
    settings = {"byzantine": 1, "f": 0}
    found = Experiment(graph=matrix, **settings).parts.graph
    of_networkx = Experiment(graph=nx.from_numpy_array(matrix, create_using=nx.DiGraph), **settings).parts.graph
    assert found.listed == of_networkx.listed


def test_a_grid_is_a_sweep_of_every_combination():
    grid = byzmab.grid(Experiment(runs=2), filter=["trimmed", "pooled"], byzantine=range(3))
    assert len(grid) == 6 and grid.varied == ("filter", "byzantine")
    assert {(point.filter, point.byzantine, point.runs) for point in grid} == {
        (name, count, 2) for name in ("trimmed", "pooled") for count in range(3)
    }


def test_scaled_contexts_keep_their_directions():
    contexts = np.random.default_rng(0).normal(size=(7, 3))
    scaled = byzmab.scale_contexts(contexts)
    assert np.linalg.norm(scaled, axis=1).max() == pytest.approx(1.0)
    assert np.allclose(scaled * np.linalg.norm(contexts, axis=1).max(), contexts)


def test_a_node_that_cannot_be_reached_is_told_in_one_sentence_without_a_cause():
    with pytest.raises(byzmab.NodeError, match=r"^the node at http://127\.0\.0\.1:9 cannot be reached: ") as caught:
        byzmab.Client("http://127.0.0.1:9", retries=0).state()
    assert caught.value.status == 0 and caught.value.__suppress_context__ and caught.value.__cause__ is None


def test_every_public_name_is_in_the_reference():
    page = (Path(__file__).parents[1] / "docs" / "reference" / "python.md").read_text()
    missing = [name for name in byzmab.__all__ if name != "__version__" and f"::: byzmab.{name}\n" not in page]
    assert not missing
