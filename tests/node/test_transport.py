"""What carries frames: in memory and over sockets, with and without TLS, by the same rules."""

import json
import signal
import socket
import stat
import subprocess
import sys
import time
from itertools import count

import pytest
import zenoh

from byzmab import BadInput
from byzmab.node.certificates import Authority
from byzmab.node.transport.base import MOST_BYTES, WAITING, Link
from byzmab.node.transport.memory import Faults, Hub, MemoryTransport
from byzmab.node.transport.zenoh import ZenohTransport

SOON = 5.0  # seconds within which what should happen has happened


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, seconds=SOON):
    """Wait until something is true; its value at last."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.005)
    return value


class Ear:
    """Whatever was delivered to one transport."""

    def __init__(self):
        self.frames = []

    def __call__(self, name, frame):
        self.frames.append((name, frame))

    def heard(self, name=None):
        return [frame for sender, frame in self.frames if name in (None, sender)]


class Place:
    """Makes transports of one kind; they are called by their keys."""

    def __init__(self, kind, directory):
        self.kind, self.directory = kind, directory
        self.authority = Authority() if kind == "tls" else None
        self.hub = Hub()
        self.ports, self.opened = {}, []
        self._running = self.hub.running()
        self._running.__enter__()

    def endpoint(self, key):
        return f"{self.kind}/127.0.0.1:{self.ports.setdefault(key, free_port())}"

    def certificates(self, key, authority=None):
        if self.authority is None:
            return None
        directory = self.directory / key
        directory.mkdir(exist_ok=True)
        return (authority or self.authority).issue(key, ("127.0.0.1",), directory)

    def open(self, key, *links):
        if self.kind == "memory":
            transport = MemoryTransport(self.hub, key)
        else:
            transport = ZenohTransport("test", key, (self.endpoint(key),), self.certificates(key))
        for link in links:
            transport.link(link)
        transport.ear = Ear()
        transport.open(transport.ear)
        self.opened.append(transport)
        return transport

    def link(self, name, dials=False, **more):
        return Link(name, name, self.endpoint(name) if dials and self.kind != "memory" else None, **more)

    def raw(self, key, to, **more):
        """A zenoh session with a valid certificate that keeps to none of our rules."""
        files, config = self.certificates(key), zenoh.Config()
        settings = {"connect/endpoints": [self.endpoint(to)], "listen/endpoints": []}
        settings |= {f"scouting/{way}/enabled": False for way in ("multicast", "gossip")}
        if files is not None:
            settings["transport/link/tls"] = {
                "root_ca_certificate": str(files.authority),
                "enable_mtls": True,
                "connect_certificate": str(files.certificate),
                "connect_private_key": str(files.key),
            }
        for where, value in (settings | more).items():
            config.insert_json5(where, json.dumps(value))
        session = zenoh.open(config)
        self.opened.append(session)
        return session

    def close(self):
        for one in self.opened:
            one.close()
        self._running.__exit__(None, None, None)


@pytest.fixture(params=["memory", "tcp", "tls"])
def place(request, tmp_path):
    made = Place(request.param, tmp_path)
    yield made
    made.close()


def sockets(*kinds):
    return pytest.mark.parametrize("place", kinds or ["tcp", "tls"], indirect=True)


NUMBERS = count()  # no two frames are the same


def keep_telling(sender, name, receiver, since=0):
    """Send numbered frames until one that was sent after the first `since` seconds arrives."""
    start = time.monotonic()
    for number in NUMBERS:
        frame = b"%d" % number
        sender.send(name, frame)
        if wait_for(lambda frame=frame: frame in receiver.ear.heard(), 0.05) and time.monotonic() - start >= since:
            return
        if time.monotonic() - start > SOON + since:
            raise AssertionError("nothing arrives")
    raise AssertionError("numbers have no end")


def test_frames_travel_both_ways_and_come_once(place):
    a, b = place.open("a", place.link("b", dials=True)), place.open("b", place.link("a"))
    keep_telling(a, "b", b)
    keep_telling(b, "a", a)
    a.send("b", b"to b")
    b.send("a", b"to a")
    assert wait_for(lambda: b"to b" in b.ear.heard("a") and b"to a" in a.ear.heard("b"))
    time.sleep(0.1)
    assert b.ear.heard().count(b"to b") == a.ear.heard().count(b"to a") == 1


def test_frames_come_once_where_both_sides_connect(place):
    a, b = place.open("a", place.link("b", dials=True)), place.open("b", place.link("a", dials=True))
    keep_telling(a, "b", b)
    keep_telling(b, "a", a)
    for number in range(20):
        a.send("b", b"to b %d" % number)
        b.send("a", b"to a %d" % number)
    assert wait_for(lambda: b"to b 19" in b.ear.heard() and b"to a 19" in a.ear.heard())
    assert len(b.ear.heard()) == len(set(b.ear.heard())) and len(a.ear.heard()) == len(set(a.ear.heard()))


def test_a_directed_edge_carries_nothing_backwards(place):
    """a tells b; that b would tell a, or a listen to b, is not enough."""
    a = place.open("a", place.link("b", dials=True, hears=False))
    b = place.open("b", place.link("a"))
    c = place.open("c", place.link("b", dials=True))
    b.link(place.link("c", tells=False))
    keep_telling(a, "b", b)
    keep_telling(c, "b", b)
    for _ in range(20):
        b.send("a", b"back")
        b.send("c", b"back")
        time.sleep(0.01)
    assert a.ear.heard() == [] and c.ear.heard() == []


@sockets("tcp", "tls")
def test_peers_do_not_forward(place):
    """a – b – c: what a tells c without a link between them never comes, though b is linked to both."""
    b = place.open("b", place.link("a"), place.link("c"))
    a = place.open("a", place.link("b", dials=True), place.link("c"))
    c = place.open("c", place.link("b", dials=True), place.link("a"))
    keep_telling(a, "b", b)
    keep_telling(c, "b", b)
    for _ in range(20):
        a.send("c", b"past b")
        time.sleep(0.01)
    assert c.ear.heard("a") == []


def test_neighbours_come_and_go_while_others_stay(place):
    hub = place.open("hub", place.link("a"))
    a = place.open("a", place.link("hub", dials=True))
    b = place.open("b", place.link("hub", dials=True))
    keep_telling(a, "hub", hub)
    assert hub.ear.heard("b") == []
    hub.link(place.link("b"))
    keep_telling(b, "hub", hub)
    keep_telling(a, "hub", hub)
    hub.unlink("b")
    time.sleep(0.1)
    before = len(hub.ear.heard("b"))
    for _ in range(20):
        b.send("hub", b"gone")
        time.sleep(0.01)
    assert len(hub.ear.heard("b")) == before
    keep_telling(a, "hub", hub)


def test_a_neighbour_with_a_new_key_is_heard_under_its_old_name(place):
    hub = place.open("hub", Link("friend", "old", certificate="old"))
    old = place.open("old", place.link("hub", dials=True))
    keep_telling(old, "hub", hub)
    hub.link(Link("friend", "new", certificate="new"))
    new = place.open("new", place.link("hub", dials=True))
    keep_telling(new, "hub", hub)
    time.sleep(0.1)
    hub.ear.frames.clear()
    old.send("hub", b"of the old key")
    new.send("hub", b"of the new key")
    assert wait_for(lambda: b"of the new key" in hub.ear.heard("friend"))
    assert b"of the old key" not in hub.ear.heard()


@sockets("tcp", "tls")
def test_links_mend_by_themselves_whichever_side_was_gone(place):
    a = place.open("a", place.link("b", dials=True))
    b = place.open("b", place.link("a"))
    keep_telling(a, "b", b)
    b.close()
    a.send("b", b"to nobody")
    b = place.open("b", place.link("a"))
    keep_telling(a, "b", b)
    a.close()
    a = place.open("a", place.link("b", dials=True))
    keep_telling(a, "b", b)


@sockets("tcp")
def test_a_link_behind_which_nobody_is_is_opened_anew(place, monkeypatch):
    """Somebody accepts the connection, but no transport of ours is there: what a session closed in mid-connection leaves."""
    monkeypatch.setattr("byzmab.node.transport.zenoh.LONELY", 0.3)
    config = zenoh.Config()
    config.insert_json5("listen/endpoints", json.dumps([place.endpoint("b")]))
    with zenoh.open(config) as impostor:
        a = place.open("a", place.link("b", dials=True))
        first = wait_for(lambda: list(map(str, impostor.info.peers_zid())))
        assert first
        assert wait_for(lambda: (now := list(map(str, impostor.info.peers_zid()))) and now != first)
    b = place.open("b", place.link("a"))
    keep_telling(a, "b", b)


@sockets("tcp", "tls")
def test_a_quiet_link_is_left_as_it_is(place, monkeypatch):
    """Directed as well: that a neighbour neither tells nor hears us much is no reason to connect to it anew."""
    monkeypatch.setattr("byzmab.node.transport.zenoh.LONELY", 0.3)
    b = place.open("b", place.link("a", hears=False), place.link("c", tells=False))
    a = place.open("a", place.link("b", dials=True, tells=False))
    c = place.open("c", place.link("b", dials=True, hears=False))
    keep_telling(b, "a", a)
    keep_telling(c, "b", b)
    sessions = [transport._doors["b"].session for transport in (a, c)]
    time.sleep(1.5)
    assert sessions == [transport._doors["b"].session for transport in (a, c)]
    for way in ((b, "a", a), (c, "b", b)):
        keep_telling(*way)


@sockets("tcp", "tls")
def test_a_neighbour_that_was_never_there_delays_nothing(place):
    a = place.open("a", place.link("nobody", dials=True), place.link("b", dials=True))
    for _ in range(1000):
        a.send("nobody", b"x" * 1000)
    b = place.open("b", place.link("a"))
    keep_telling(a, "b", b)


def test_of_a_flood_the_newest_frames_are_taken_and_others_do_not_wait(place):
    hub = place.open("hub", place.link("loud"), place.link("quiet"))
    loud = place.open("loud", place.link("hub", dials=True))
    quiet = place.open("quiet", place.link("hub", dials=True))
    keep_telling(loud, "hub", hub)
    keep_telling(quiet, "hub", hub)
    hub.ear.frames.clear()
    start = time.monotonic()
    for number in range(20_000):
        loud.send("hub", b"%d" % number + b" " * 500)
        if number % 2000 == 0:
            quiet.send("hub", b"quiet %d" % number)
            time.sleep(0.02)
    assert wait_for(lambda: len(hub.ear.heard("quiet")) == 10)
    lasted = time.monotonic() - start
    time.sleep(0.3)
    if place.kind != "memory":  # over TCP a full link drops at the sender: the newest that were sent may be lost
        assert len(hub.ear.heard("loud")) < 220 * (lasted + 0.3) + WAITING
        loud.send("hub", b"the last")
        assert wait_for(lambda: b"the last" in hub.ear.heard("loud"))
    else:
        assert hub.ear.heard("loud")[-1].startswith(b"19999")


def test_a_frame_that_is_too_large_is_left_out_and_breaks_nothing(place):
    a, b = place.open("a", place.link("b", dials=True)), place.open("b", place.link("a"))
    keep_telling(a, "b", b)
    a.send("b", b"y" * (MOST_BYTES + 1000))
    whole = b"z" * (MOST_BYTES - 1000)
    assert wait_for(lambda: a.send("b", whole) or whole in b.ear.heard())
    assert not any(frame[:1] == b"y" for frame in b.ear.heard())


@sockets("tls")
def test_without_a_certificate_of_the_authority_nobody_connects(place):
    a, b = place.open("a", place.link("b", dials=True)), place.open("b", place.link("a"), place.link("c"))
    stranger = ZenohTransport("test", "c", (), place.certificates("c", Authority()))
    stranger.link(place.link("b", dials=True))
    bare = ZenohTransport("test", "c")
    bare.link(Link("b", "b", place.endpoint("b").replace("tls/", "tcp/")))
    for transport in (stranger, bare):
        place.opened.append(transport)
        transport.open(lambda name, frame: None)
    keep_telling(a, "b", b, since=1.0)
    for _ in range(20):
        stranger.send("b", b"let me in")
        bare.send("b", b"let me in")
        time.sleep(0.01)
    assert b.ear.heard("c") == []


@sockets("tls")
def test_an_insider_can_neither_speak_for_another_nor_listen_to_it(place):
    b = place.open("b", place.link("a"), place.link("c"))
    a = place.open("a", place.link("b", dials=True))
    insider = place.raw("c", to="b")
    overheard = insider.declare_subscriber("byzmab/test/b/a", zenoh.handlers.RingChannel(100))
    keep_telling(a, "b", b)
    keep_telling(b, "a", a)
    assert wait_for(lambda: insider.put("byzmab/test/c/b", b"as myself") or b.ear.heard("c"))
    for path in ("byzmab/test/a/b", "byzmab/test/*/b"):
        insider.put(path, b"as another")
    b.send("a", b"for a alone")
    assert wait_for(lambda: b"for a alone" in a.ear.heard())
    assert b"as another" not in b.ear.heard()
    assert overheard.handler.try_recv() is None


CHILD = """
import sys
from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport

transport = ZenohTransport("test", "child", (sys.argv[1],))
transport.link(Link("a", "a"))
transport.open(lambda name, frame: transport.send("a", b"echo " + frame))
print("ready", flush=True)
sys.stdin.read()
transport.close()
"""


@sockets("tcp")
def test_a_hung_neighbour_delays_nobody_and_is_heard_again_when_it_wakes(place):
    command = [sys.executable, "-c", CHILD, place.endpoint("child")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == b"ready\n"
            a = place.open("a", place.link("child", dials=True), place.link("b", dials=True))
            b = place.open("b", place.link("a"))
            assert wait_for(lambda: a.send("child", b"1") or b"echo 1" in a.ear.heard())
            keep_telling(a, "b", b)
            child.send_signal(signal.SIGSTOP)
            for _ in range(2000):  # 20 MB: more than buffers hold; a send that waited would never end
                a.send("child", b"x" * 10_000)
            keep_telling(a, "b", b)
            child.send_signal(signal.SIGCONT)
            assert wait_for(lambda: a.send("child", b"2") or b"echo 2" in a.ear.heard(), 15)
        finally:
            child.send_signal(signal.SIGCONT)
            child.stdin.close()
            child.wait(10)


def test_a_port_in_use_is_said_in_one_sentence(tmp_path):
    place = Place("tcp", tmp_path)
    place.open("a")
    with pytest.raises(BadInput, match=r"cannot be opened: .*in use"):
        ZenohTransport("test", "b", (place.endpoint("a"),)).open(lambda name, frame: None)
    place.close()


def test_links_are_tls_exactly_where_there_are_certificates(tmp_path):
    files = Authority().issue("a", ("127.0.0.1",), tmp_path)
    with pytest.raises(BadInput, match="not allowed with certificates; allowed: tls/"):
        ZenohTransport("test", "a", ("tcp/127.0.0.1:1",), files)
    with pytest.raises(BadInput, match="not allowed without certificates; allowed: tcp/"):
        ZenohTransport("test", "a").link(Link("b", "b", "tls/127.0.0.1:1"))


def test_a_missing_certificate_is_named(tmp_path):
    files = Authority().issue("a", ("127.0.0.1",), tmp_path)
    files.key.unlink()
    with pytest.raises(BadInput, match=r"certificate file '.*certificate.key' cannot be read"):
        ZenohTransport("test", "a", (), files)


@pytest.mark.parametrize("endpoint", ["tcp/", "tcp/localhost", "tcp/127.0.0.1:port", "tcp/127.0.0.1:99999"])
def test_an_endpoint_without_a_host_and_port_is_refused(endpoint):
    with pytest.raises(BadInput, match="allowed: tcp/host:port"):
        ZenohTransport("test", "a", (endpoint,))
    with pytest.raises(BadInput, match="allowed: tcp/host:port"):
        ZenohTransport("test", "a").link(Link("b", "b", endpoint))


def test_the_key_of_a_certificate_is_for_its_owner_alone(tmp_path):
    files = Authority().issue("a", ("localhost",), tmp_path)
    assert stat.S_IMODE(files.key.stat().st_mode) == 0o600
    with pytest.raises(BadInput, match="1 to 64 characters"):
        Authority().issue("x" * 65, ("localhost",), tmp_path)


def carried(faults, seed=0, frames=200):
    hub = Hub(faults, seed)
    a, b = MemoryTransport(hub, "a"), MemoryTransport(hub, "b")
    a.link(Link("b", "b"))
    b.link(Link("a", "a"))
    got = []
    a.open(lambda name, frame: None)
    b.open(lambda name, frame: got.append(int(frame)))
    for number in range(frames):
        a.send("b", b"%d" % number)
        if number % 4 == 3:
            hub.carry()
    for _ in range(20):
        hub.carry()
    return got


def test_the_hub_loses_doubles_delays_and_reorders_by_its_seed():
    whole = list(range(200))
    assert carried(Faults()) == whole
    assert 60 < len(carried(Faults(drop=0.5))) < 140
    doubled = carried(Faults(duplicate=0.5))
    assert sorted(set(doubled)) == whole and 240 < len(doubled) < 360
    for faults in (Faults(delay=3), Faults(reorder=True)):
        late = carried(faults)
        assert sorted(late) == whole != late
        assert late == carried(faults) != carried(faults, seed=1)


def test_a_partition_cuts_all_links_between_its_sides_and_no_others():
    hub, heard = Hub(), []
    for key in "abc":
        transport = MemoryTransport(hub, key)
        for other in set("abc") - {key}:
            transport.link(Link(other, other))
        transport.open(lambda name, frame, key=key: heard.append(name + key))
    everyone = ["ab", "ac", "ba", "bc", "ca", "cb"]

    def all_tell():
        heard.clear()
        for pair in everyone:
            hub.send(pair[0], pair[1], b"")
        hub.carry()
        return sorted(heard)

    hub.partition(["a"])
    assert all_tell() == ["bc", "cb"]
    hub.partition()
    assert all_tell() == everyone
