"""Functions take few arguments: what belongs together is passed as named data."""

import ast

from byzmab.core.compiler import PACKAGE

MOST = 10
SETTINGS = {("core/agent.py", "__init__")}  # of an agent: all by keyword, each a setting of its own


def arguments_of(function):
    arguments = function.args
    return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)


def test_no_function_takes_more_than_ten_arguments():
    """Commands do, as every option of theirs is an argument."""
    functions = {
        (str(path.relative_to(PACKAGE)), node.name): arguments_of(node)
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] != "cli"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(functions) > 1000
    assert {function for function, count in functions.items() if count > MOST} == SETTINGS
