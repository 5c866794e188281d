"""The soak's own checker: it finds what was planted, and nothing where nothing is wrong."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from live import config_of, frame, host_of
from soak.checker import Frames, check_data, check_peers
from waiting import LONG

TESTS = Path(__file__).parents[1]


@pytest.fixture
def played(tmp_path):
    """A data file with two decisions, one of them rewarded, and what its application was told."""
    host = host_of(config_of(1, tmp_path), 1)
    first, second = host.select("first"), host.select("second")
    host.reward("first", 0.25)
    host.store.flush()
    host.close()
    chosen = {"first": first.arm, "second": second.arm}
    return host.store.path, SimpleNamespace(number=1, chosen=chosen, rewarded={"first": 0.25}, uncertain=set())


def test_what_was_acknowledged_and_is_there_is_no_violation(played):
    assert check_data(*played) == []


def test_a_lost_decision_and_a_lost_reward_are_found(played):
    path, application = played
    application.chosen["third"], application.rewarded["second"] = "a", 1.0
    assert check_data(path, application) == ["node 1 lost the decision third", "node 1 lost the reward of second"]
    application.uncertain |= {"third", "second"}  # acknowledged after a backup that was brought back
    assert check_data(path, application) == []


def test_two_bodies_of_one_version_are_found_and_one_sent_twice_is_not():
    frames = Frames((1, 2))
    frames.record(1, frame(1, 1))
    frames.record(1, frame(1, 1))
    frames.record(2, frame(2, 1))
    assert frames.violations == []
    frames.record(1, frame(1, 1, [4] * 4))
    assert frames.violations == ["node 1 signed two reports as (1, 1)"]


def test_counts_that_fall_are_found_but_not_of_a_node_given_back_an_older_state():
    frames = Frames((1,))
    for seq, pulls in ((1, 5), (2, 3)):
        frames.record(1, frame(1, seq, [pulls] * 4))
    assert "impossible history" in frames.check_histories(restored=())[0]
    assert frames.check_histories(restored={1}) == []


def test_an_honest_node_that_is_accused_is_found_and_a_liar_is_not():
    def peer(number, **changes):
        return SimpleNamespace(**{"name": f"agent-{number}", "expelled": False, "evidence": [], **changes})

    proof = SimpleNamespace(kind="equivocation")
    peers = [peer(2, evidence=[proof]), peer(3, expelled=True), peer(4), peer(100, expelled=True, evidence=[proof])]
    found = check_peers(1, peers, honest=(1, 2, 3, 4), restored=())
    assert found == ["node 1 accuses the honest agent-2: equivocation", "node 1 accuses the honest agent-3: expelled"]


def test_a_time_or_a_fault_that_is_none_is_refused():
    for option, said in (("--time=soon", "such as 90s, 10m or 1h"), ("--faults=flood", "allowed: kill, ")):
        command = [sys.executable, "-m", "soak", option]
        done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS, timeout=LONG)
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
