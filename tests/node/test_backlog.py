"""Events by the hundred thousand that nobody rewards: they neither stop a node nor fill its memory.

BYZMAB_EVENTS=1000000 in `make test-long`.
"""

import os
import re
import signal
import sqlite3
import time
from pathlib import Path

from live import Process, neighbour_of

from byzmab import Client
from byzmab.node.config import write_config

EVENTS = int(os.environ.get("BYZMAB_EVENTS", "100000"))
WAIT = 1_000_000.0  # seconds


def memory(node):
    """Megabytes that a node holds."""
    status = Path(f"/proc/{node.popen.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def fill(node):
    """Add events that wait for their reward, as if the application had asked and never come back."""
    with sqlite3.connect(node.directory / "agent-1" / "node.db") as file:
        long_ago = time.time() - 10 * WAIT
        rows = ((f"lost-{number}", long_ago) for number in range(EVENTS))
        file.executemany("INSERT INTO events (event_id, arm, round, chosen, state) VALUES (?, 'a', 1, ?, 0)", rows)
        file.execute("UPDATE arms SET pending = pending + ? WHERE arm = 'a'", (EVENTS,))


def test_events_that_nobody_rewards_neither_stop_a_node_nor_fill_its_memory(tmp_path):
    node = Process(1, tmp_path, [neighbour_of(2)], ["tcp/127.0.0.1:0"], report_every=0.1).start()
    with Client(node.url) as client:
        client.reward(client.select("mine").event_id, 1.0)
        fresh = memory(node)
        node.stop()
        fill(node)
        node.start()
        assert client.state().pending == EVENTS
        assert memory(node) < fresh + 30
        client.reward(client.select().event_id, 1.0)
        client.reward("lost-0", 1.0)
        assert client.select(f"lost-{EVENTS - 1}").arm == "a"
        node.signal(signal.SIGHUP)
        assert client.state().pending == EVENTS - 1
        assert client.rewards([("lost-1", 0.5), ("mine", 1.0)])[0].status == 204
        node.stop()

        node.config.reward_wait = WAIT
        write_config(node.config, node.file)
        node.start()
        seen, mine = set(), client.select().event_id
        while (expired := client.state().expired) < EVENTS - 2:
            seen.add(expired)
            client.reward(client.select().event_id, 1.0)  # answered in between
        assert len(seen) > 10 and memory(node) < fresh + 60
        client.reward(mine, 1.0)
        state = client.state()
        assert (state.pending, state.expired) == (0, EVENTS - 2)
    assert node.stop() == 0
