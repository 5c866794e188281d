"""Nodes as processes with a proxy between them that duplicates, delays and reorders frames over real sockets."""

import random

from live import Process, free_port, neighbour_of
from soak.checker import Frames
from soak.insiders import corrupt
from soak.proxy import LinkFaults, Proxy
from waiting import until

from byzmab import Client

FAULTS = LinkFaults(drop=0.1, duplicate=0.5, delay=0.5)


def test_frames_that_are_doubled_late_and_out_of_order_harm_nobody(tmp_path):
    """All is heard that is newer, nothing twice, nothing older than what was heard, and nobody is suspected."""
    port, frames, latest = free_port(), Frames((1, 2)), {}

    def on_frame(sender, content):
        latest[sender] = content
        frames.record(sender, content)

    with Proxy(2, 1, f"tcp/127.0.0.1:{port}", on_frame=on_frame) as proxy:
        settings = {"report_every": 0.05}
        one = Process(1, tmp_path, [neighbour_of(2)], [f"tcp/127.0.0.1:{port}"], **settings).start()
        two = Process(2, tmp_path, [neighbour_of(1, endpoint=proxy.endpoint)], **settings).start()
        proxy.faults = FAULTS
        chance, seqs = random.Random(5), {1: [], 2: []}
        with Client(one.url) as first, Client(two.url) as second:
            clients = {1: first, 2: second}

            def look():
                for client in clients.values():
                    client.reward(client.select().event_id, chance.random())
                for number, client in clients.items():
                    [peer] = client.neighbours()
                    seqs[number].append((peer.epoch or 0, peer.seq or 0))
                for sender, receiver in ((1, 2), (2, 1)):
                    if sender in latest:
                        proxy.inject(receiver, corrupt(latest[sender], chance))
                counts = proxy.counts
                return min(counts[name] for name in ("duplicated", "reordered", "dropped")) > 50

            until(look)
            for client in clients.values():
                [peer] = client.neighbours()
                assert peer.accepted > 50 and not peer.evidence and not peer.expelled and peer.impossible == 0
                assert peer.refusals["not newer"] > 50  # copies, and what was overtaken
                assert peer.refusals.get("bad signature", 0) + peer.refusals.get("malformed", 0) > 0
            for seen in seqs.values():
                assert seen == sorted(seen)
            proxy.faults = LinkFaults(cut=True)
            until(lambda: all(client.neighbours()[0].age > 1.0 for client in clients.values()))
            proxy.faults = LinkFaults()
            until(lambda: all(client.neighbours()[0].age < 1.0 for client in clients.values()))
        assert one.stop() == two.stop() == 0
    assert not frames.violations and not frames.check_histories(restored=())
