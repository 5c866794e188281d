"""A node: decisions over HTTP with durable rewards, frames verified, and the processor time of an idle node.

Server and clients share the processors of this machine; the server is held to one of them.
"""

import asyncio
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import closing
from pathlib import Path

import numpy as np

from byzmab.node.config import Config, Http, Links, Neighbour, write_config
from byzmab.node.identity import Key, public_bytes
from byzmab.node.packing import pack
from byzmab.node.wire import Mark, SignedContextReport, SignedReport, seal, unseal

ARMS = ("a", "b", "c", "d")
CLIENTS = 64
SECONDS = 8.0


class Node:
    """A node process in a directory of its own, on one processor."""

    def __init__(self, directory, neighbours=(), listen=(), **settings):
        self.directory = Path(directory)
        Key.generate().save(self.directory / "node.key")
        self.file = self.directory / "node.toml"
        self.port = 8799
        config = Config(
            name="bench",
            network="bench",
            key="node.key",
            data="data",
            arms=settings.pop("arms", ARMS),
            http=Http(port=self.port),
            links=Links(listen=listen),
            neighbours=neighbours,
            **settings,
        )
        write_config(config, self.file)

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "byzmab.cli.main", "node", str(self.file)],
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, {0}),
        )
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=1).close()
                return self
            except OSError:
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def processor_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Line:
    """One keep-alive connection that costs the client little."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def post(self, path, body):
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        self.writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        start = answer.find(b"content-length: ")
        length = int(answer[start + 16 : answer.index(b"\r\n", start)]) if start >= 0 else 0
        assert answer[9:10] == b"2", answer
        return await self.reader.readexactly(length)


async def client(port, until, batch, times):
    line = Line(*await asyncio.open_connection("127.0.0.1", port))
    waiting, done = [], 0
    while time.perf_counter() < until:
        began = time.perf_counter()
        answer = json.loads(await line.post("/v1/select", b"{}"))
        times.append(time.perf_counter() - began)
        waiting.append(answer["event_id"])
        if len(waiting) < batch:
            continue
        began = time.perf_counter()
        if batch == 1:
            await line.post(f"/v1/events/{waiting[0]}/reward", b'{"value": 0.5}')
        else:
            rewards = [{"event_id": event, "value": 0.5} for event in waiting]
            await line.post("/v1/rewards", json.dumps({"rewards": rewards}).encode())
        times.append(time.perf_counter() - began)
        done += len(waiting)
        waiting = []
    line.writer.close()
    return done


async def crowd(port, batch, seconds=SECONDS):
    """Decisions with durable rewards per second, and the time that 99 of 100 requests take at most."""
    times, began = [], time.perf_counter()
    done = await asyncio.gather(*(client(port, began + seconds, batch, times) for _ in range(CLIENTS)))
    elapsed = time.perf_counter() - began
    times.sort()
    return sum(done) / elapsed, times[int(0.99 * len(times))]


def http():
    os.sched_setaffinity(0, {min(1, os.cpu_count() - 1)})
    with tempfile.TemporaryDirectory() as directory, Node(directory) as node:
        asyncio.run(crowd(node.port, 1, 1.0))
        for batch, name, aim in ((1, "one by one", "2.0"), (20, "rewards in batches of 20", "3.0")):
            used = node.processor_seconds()
            rate, slow = asyncio.run(crowd(node.port, batch))
            used = (node.processor_seconds() - used) / SECONDS
            print(
                f"HTTP, {CLIENTS} clients, {name:<25} {rate / 1e3:5.2f} k decisions/s (aim {aim}), "
                f"p99 {slow * 1e3:4.1f} ms (aim 30), {used:.0%} of a core"
            )
    os.sched_setaffinity(0, range(os.cpu_count()))


def signed_report(key, seq, marks):
    return SignedReport(1, "bench", public_bytes(key.public), 1, seq, 0.0, 0, list(ARMS), [seq] * 4, [0.5] * 4, marks)


def frames():
    key = Key.generate()
    marks = [Mark(bytes([n] * 32), 1, 1, bytes(32)) for n in range(9)]
    count = 3_000
    began = time.perf_counter()
    sealed = [seal(key, signed_report(key, seq, marks)) for seq in range(count)]
    signed = count / (time.perf_counter() - began)
    public = public_bytes(key.public)
    began = time.perf_counter()
    for frame in sealed:
        unseal(frame, public, "bench")
    verified = count / (time.perf_counter() - began)
    print(f"frames of 4 arms and 9 marks, {len(sealed[0])} bytes: {verified:,.0f} verified/s, {signed:,.0f} signed/s")


def idle():
    """Nine neighbours, each ten reports a second, and nobody asks."""
    from byzmab.node.transport.base import Link
    from byzmab.node.transport.zenoh import ZenohTransport

    keys = [Key.generate() for _ in range(9)]
    neighbours = tuple(Neighbour(name=f"n{index}", key=key.public) for index, key in enumerate(keys))
    with tempfile.TemporaryDirectory() as directory:
        node = Node(directory, neighbours, ("tcp/127.0.0.1:8798",), report_every=0.1)
        mine = Key.load(node.directory / "node.key").public
        with node:
            transports = [ZenohTransport("bench", key.public) for key in keys]
            for transport in transports:
                transport.open(lambda name, frame: None)
                transport.link(Link("bench", mine, "tcp/127.0.0.1:8798"))
            ended = threading.Event()

            def talk():
                seq = 0
                while not ended.wait(0.1):
                    seq += 1
                    for key, transport in zip(keys, transports, strict=True):
                        transport.send("bench", seal(key, signed_report(key, seq, [])))

            talker = threading.Thread(target=talk)
            talker.start()
            time.sleep(5)
            before = node.processor_seconds()
            time.sleep(10)
            share = (node.processor_seconds() - before) / 10
            peers = json.load(urllib.request.urlopen(f"http://127.0.0.1:{node.port}/v1/neighbours"))["neighbours"]
            ended.set()
            talker.join()
            for transport in transports:
                transport.close()
    heard = sum(peer["accepted"] for peer in peers)
    print(f"an idle node with 9 neighbours at 10 reports/s ({heard} heard): {share:.1%} of a core (aim 5)")


def insider_frames(key, arms, context):
    """A history that an honest agent may have, as costly as it can be: hundreds of arms, each time others, shuffled."""
    chance, others = random.Random(1), [f"other-{number:03d}" for number in range(400 if context else 800)]
    for seq in range(1, 2_001):
        told = [*others, *chance.sample(arms, len(arms) // 2), f"new-{seq}"]
        chance.shuffle(told)
        header = 1, "bench", public_bytes(key.public), 1, seq, 0.0, 0, list(told), [2 * seq] * len(told)
        if context:
            statistics = pack(np.zeros((1, context)), np.eye(context)[None] * seq / context) * len(told)
            yield seal(key, SignedContextReport(*header, context, statistics, []))
        else:
            yield seal(key, SignedReport(*header, [0.5] * len(told), []))


async def one_client(port, seconds, context):
    """How long selects took, one after the other, and the longest time for /healthz."""
    line, times, health = Line(*await asyncio.open_connection("127.0.0.1", port)), [], []
    body = json.dumps({"context": [0.5] * context}).encode() if context else b"{}"
    until = time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        await line.post("/v1/select", body)
        times.append(time.perf_counter() - began)
        if len(times) % 50 == 0:
            began = time.perf_counter()
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60).close()
            health.append(time.perf_counter() - began)
    line.writer.close()
    times.sort()
    return times[len(times) // 2], times[int(0.99 * len(times))], max(health, default=0.0)


def insider(context):
    """Selects while a neighbour sends the most expensive valid history that we know, as fast as links let it."""
    from byzmab.node.transport.base import Link
    from byzmab.node.transport.zenoh import ZenohTransport

    key, arms = Key.generate(), tuple(f"arm-{number:03d}" for number in range(100))
    settings = {"context": context} if context else {}
    neighbours = (Neighbour(name="insider", key=key.public),)
    contents = list(insider_frames(key, arms, context))
    with tempfile.TemporaryDirectory() as directory:
        node = Node(directory, neighbours, ("tcp/127.0.0.1:8798",), arms=arms, **settings)
        mine = Key.load(node.directory / "node.key").public
        with node:
            asyncio.run(one_client(node.port, 2.0, context))
            quiet = asyncio.run(one_client(node.port, SECONDS, context))
            transport, ended = ZenohTransport("bench", key.public), threading.Event()
            transport.open(lambda name, frame: None)
            transport.link(Link("bench", mine, "tcp/127.0.0.1:8798"))

            def talk():
                for content in contents:
                    if ended.wait(0.005):
                        return
                    transport.send("bench", content)

            talker = threading.Thread(target=talk)
            talker.start()
            time.sleep(1)
            attacked = asyncio.run(one_client(node.port, SECONDS, context))
            peer = json.load(urllib.request.urlopen(f"http://127.0.0.1:{node.port}/v1/neighbours", timeout=120))[
                "neighbours"
            ][0]
            began = time.perf_counter()
            node.process.terminate()
            node.process.wait()
            stopped = time.perf_counter() - began
            ended.set()
            talker.join()
            transport.close()
    what = f"an insider, hundreds of shuffled arms, {f'd = {context}' if context else 'no contexts'}"
    print(
        f"{what}: select median {quiet[0] * 1e3:.1f} -> {attacked[0] * 1e3:.1f} ms, "
        f"p99 {quiet[1] * 1e3:.1f} -> {attacked[1] * 1e3:.1f} ms ({attacked[1] / quiet[1]:.1f} times, aim 2), "
        f"healthz at most {attacked[2] * 1e3:.0f} ms, end after {stopped:.1f} s (aim 5); "
        f"{peer['accepted']} accepted, {peer['rejected']} refused"
    )


WAITING = """INSERT INTO events (event_id, arm, round, chosen, state)
WITH RECURSIVE row (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM row WHERE number < {count})
SELECT printf('waiting-%010d', number), 'a', number, 0.0, 0 FROM row"""


def backlog(count):
    """Batches of decisions and rewards while so many events wait for a reward, and the memory of an export."""
    with tempfile.TemporaryDirectory() as directory:
        node = Node(directory)
        with node:
            pass
        with closing(sqlite3.connect(node.directory / "data" / "node.db")) as data:
            data.execute(WAITING.format(count=count))
            data.execute("UPDATE arms SET pending = ? WHERE arm = 'a'", (count,))
            data.commit()
        with node:
            asyncio.run(crowd(node.port, 20, 2.0))
            times, began = [], time.perf_counter()

            async def work():
                await asyncio.gather(*(client(node.port, began + SECONDS, 20, times) for _ in range(CLIENTS)))

            asyncio.run(work())
            out = node.directory / "state.json"
            exporter = [sys.executable, "-m", "byzmab.cli.main", "node", "export", str(node.file), "--out", str(out)]
            began = time.perf_counter()
            usage = os.wait4(subprocess.Popen(exporter).pid, 0)[2]
            took = time.perf_counter() - began
        times.sort()
        print(
            f"{count:>9,} events wait: p95 {times[int(0.95 * len(times))] * 1e3:5.1f} ms; export of "
            f"{out.stat().st_size / 1e6:.0f} MB takes {usage.ru_maxrss / 1024:.0f} MB and {took:.0f} s"
        )


def main():
    if sys.argv[1:] == ["insider"]:
        insider(2)
        insider(0)
        return
    if sys.argv[1:] == ["backlog"]:
        backlog(1_000)
        backlog(3_000_000)
        return
    http()
    frames()
    idle()
    insider(2)
    insider(0)
    print(f"peak memory of children: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
