"""One node, as a process with real sockets, for the tests of a module."""

import pytest
from live import LIMIT, Process, neighbour_of


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    process = Process(
        1,
        tmp_path_factory.mktemp("http"),
        [neighbour_of(2)],
        ["tcp/127.0.0.1:0"],
        http={"body_limit": LIMIT, "body_wait": 3.0},
        report_every=0.1,
        catch_up=0.0,
    )
    yield process.start()
    assert process.stop() == 0
