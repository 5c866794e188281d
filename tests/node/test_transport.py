"""What carries frames: in memory and over sockets, with and without TLS, by the same rules."""

import json
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from itertools import count

import pytest
import zenoh
from live import free_port
from waiting import LONG, until

from byzmab import BadInput
from byzmab.node.certificates import Authority
from byzmab.node.transport.base import MOST_BYTES, Link
from byzmab.node.transport.memory import Faults, Hub, MemoryTransport
from byzmab.node.transport.zenoh import ZenohTransport

AGAIN = 0.05  # seconds after which a frame that has not arrived is followed by another
TIMES = 20  # a frame that must not arrive is sent so often, each time followed by one that must


class Received:
    """Whatever was delivered to one transport."""

    def __init__(self):
        self.frames = []

    def __call__(self, name, frame):
        self.frames.append((name, frame))

    def heard(self, name=None):
        return [frame for sender, frame in self.frames if name in (None, sender)]


class Site:
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
        transport.received = Received()
        transport.open(transport.received)
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
def site(request, tmp_path):
    made = Site(request.param, tmp_path)
    yield made
    made.close()


def sockets(*kinds):
    return pytest.mark.parametrize("site", kinds or ["tcp", "tls"], indirect=True)


NUMBERS = count()  # no two frames are the same


def keep_telling(sender, name, receiver):
    """Send numbered frames until one of them arrives: then whatever was sent before it has arrived, or never will."""
    sent = []

    def arrives():
        sent.append(b"%d" % next(NUMBERS))
        sender.send(name, sent[-1])
        with suppress(AssertionError):
            return until(lambda: not {*sent}.isdisjoint(receiver.received.heard()), AGAIN, 0.005)

    until(arrives, every=0)


def test_frames_travel_both_ways_and_come_once(site):
    a, b = site.open("a", site.link("b", dials=True)), site.open("b", site.link("a"))
    keep_telling(a, "b", b)
    keep_telling(b, "a", a)
    a.send("b", b"to b")
    b.send("a", b"to a")
    until(lambda: b"to b" in b.received.heard("a") and b"to a" in a.received.heard("b"))
    for _ in range(TIMES):
        keep_telling(a, "b", b)
        keep_telling(b, "a", a)
    assert b.received.heard().count(b"to b") == a.received.heard().count(b"to a") == 1


def test_frames_come_once_where_both_sides_connect(site):
    a, b = site.open("a", site.link("b", dials=True)), site.open("b", site.link("a", dials=True))
    keep_telling(a, "b", b)
    keep_telling(b, "a", a)
    for number in range(20):
        a.send("b", b"to b %d" % number)
        b.send("a", b"to a %d" % number)
    until(lambda: b"to b 19" in b.received.heard() and b"to a 19" in a.received.heard())
    for _ in range(TIMES):
        keep_telling(a, "b", b)
        keep_telling(b, "a", a)
    assert len(b.received.heard()) == len(set(b.received.heard())) and len(a.received.heard()) == len(
        set(a.received.heard())
    )


def test_a_directed_edge_carries_nothing_backwards(site):
    """a tells b; that b would tell a, or a listen to b, is not enough."""
    a = site.open("a", site.link("b", dials=True, hears=False), site.link("d"))
    c = site.open("c", site.link("b", dials=True), site.link("d"))
    d = site.open("d", *(site.link(other, dials=True) for other in "abc"))  # hears b, and is heard by a and c
    b = site.open("b", site.link("a"), site.link("d"))
    b.link(site.link("c", tells=False))
    keep_telling(a, "b", b)
    keep_telling(c, "b", b)
    for _ in range(TIMES):
        b.send("a", b"back")
        b.send("c", b"back")
        keep_telling(b, "d", d)
        keep_telling(d, "a", a)
        keep_telling(d, "c", c)
    assert a.received.heard("b") == [] and c.received.heard("b") == []


@sockets("tcp", "tls")
def test_peers_do_not_forward(site):
    """a – b – c: what a tells c without a link between them never comes, though b is linked to both."""
    b = site.open("b", site.link("a"), site.link("c"))
    a = site.open("a", site.link("b", dials=True), site.link("c"))
    c = site.open("c", site.link("b", dials=True), site.link("a"))
    keep_telling(a, "b", b)
    keep_telling(c, "b", b)
    for _ in range(TIMES):
        a.send("c", b"past b")
        keep_telling(a, "b", b)
        keep_telling(b, "c", c)
    assert c.received.heard("a") == []


def test_neighbours_come_and_go_while_others_stay(site):
    hub = site.open("hub", site.link("a"))
    a = site.open("a", site.link("hub", dials=True))
    b = site.open("b", site.link("hub", dials=True))
    keep_telling(a, "hub", hub)
    assert hub.received.heard("b") == []
    hub.link(site.link("b"))
    keep_telling(b, "hub", hub)
    keep_telling(a, "hub", hub)
    hub.unlink("b")
    for _ in range(TIMES):
        keep_telling(a, "hub", hub)  # what was being taken in when b was removed is taken in by then
        b.send("hub", b"gone")
    keep_telling(a, "hub", hub)
    assert b"gone" not in hub.received.heard()


def test_a_neighbour_with_a_new_key_is_heard_under_its_old_name(site):
    hub = site.open("hub", Link("friend", "old", certificate="old"))
    old = site.open("old", site.link("hub", dials=True))
    keep_telling(old, "hub", hub)
    hub.link(Link("friend", "new", certificate="new"))
    new = site.open("new", site.link("hub", dials=True))
    for _ in range(TIMES):
        keep_telling(new, "hub", hub)
        old.send("hub", b"of the old key")
    keep_telling(new, "hub", hub)
    assert b"of the old key" not in hub.received.heard()
    assert {name for name, _ in hub.received.frames} == {"friend"}


@sockets("tcp", "tls")
def test_links_mend_by_themselves_whichever_side_was_gone(site):
    a = site.open("a", site.link("b", dials=True))
    b = site.open("b", site.link("a"))
    keep_telling(a, "b", b)
    b.close()
    a.send("b", b"to nobody")
    b = site.open("b", site.link("a"))
    keep_telling(a, "b", b)
    a.close()
    a = site.open("a", site.link("b", dials=True))
    keep_telling(a, "b", b)


@sockets("tcp")
def test_a_link_behind_which_nobody_is_is_opened_anew(site, monkeypatch):
    """Somebody accepts the connection, but no transport of ours is there: what a session closed in mid-connection leaves."""
    monkeypatch.setattr("byzmab.node.transport.zenoh.RECONNECT_AFTER", 0.3)
    config = zenoh.Config()
    config.insert_json5("listen/endpoints", json.dumps([site.endpoint("b")]))
    with zenoh.open(config) as impostor:
        a = site.open("a", site.link("b", dials=True))
        first = until(lambda: list(map(str, impostor.info.peers_zid())))
        until(lambda: (now := list(map(str, impostor.info.peers_zid()))) and now != first)
    monkeypatch.undo()  # a loaded machine may need longer to connect
    b = site.open("b", site.link("a"))
    keep_telling(a, "b", b)


@sockets("tcp", "tls")
def test_a_quiet_link_is_left_as_it_is(site, monkeypatch):
    """Directed as well: that a neighbour neither tells nor hears us much is no reason to connect to it anew."""
    looks = {}  # at the sessions, of each transport

    def check_sessions(self, now):
        looks[self] = looks.get(self, 0) + 1
        check(self, now)

    check = ZenohTransport._check_sessions
    monkeypatch.setattr(ZenohTransport, "_check_sessions", check_sessions)
    b = site.open("b", site.link("a", hears=False), site.link("c", tells=False))
    a = site.open("a", site.link("b", dials=True, tells=False))
    c = site.open("c", site.link("b", dials=True, hears=False))
    keep_telling(b, "a", a)
    keep_telling(c, "b", b)
    monkeypatch.setattr("byzmab.node.transport.zenoh.RECONNECT_AFTER", 0.3)
    sessions = [transport._outbound["b"].zenoh for transport in (a, c)]
    looks.clear()
    until(lambda: min(looks.get(transport, 0) for transport in (a, c)) > 40)  # each after a tenth of these 0.3 s
    assert sessions == [transport._outbound["b"].zenoh for transport in (a, c)]
    keep_telling(b, "a", a)
    keep_telling(c, "b", b)


@sockets("tcp", "tls")
def test_a_neighbour_that_was_never_there_is_in_nobodys_way(site):
    a = site.open("a", site.link("nobody", dials=True), site.link("b", dials=True))
    for _ in range(1000):
        a.send("nobody", b"x" * 1000)
    b = site.open("b", site.link("a"))
    keep_telling(a, "b", b)


def test_of_a_flood_the_newest_frames_are_taken_and_others_do_not_wait(site):
    hub = site.open("hub", site.link("loud"), site.link("quiet"))
    loud = site.open("loud", site.link("hub", dials=True))
    quiet = site.open("quiet", site.link("hub", dials=True))
    keep_telling(loud, "hub", hub)
    keep_telling(quiet, "hub", hub)
    hub.received.frames.clear()
    for number in range(20_000):
        loud.send("hub", b"%d" % number + b" " * 500)
        if number % 2000 == 0:
            quiet.send("hub", b"quiet %d" % number)
            until(lambda number=number: b"quiet %d" % number in hub.received.heard("quiet"))
    if site.kind != "memory":  # over TCP a full link drops at the sender: the newest that were sent may be lost
        until(lambda: loud.send("hub", b"the last") or b"the last" in hub.received.heard("loud"))
        assert len(hub.received.heard("loud")) < 10_000, "most of a flood is never taken in"
    else:
        until(lambda: hub.received.heard("loud")[-1].startswith(b"19999"))


def test_a_frame_that_is_too_large_is_left_out_and_breaks_nothing(site):
    a, b = site.open("a", site.link("b", dials=True)), site.open("b", site.link("a"))
    keep_telling(a, "b", b)
    a.send("b", b"y" * (MOST_BYTES + 1000))
    whole = b"z" * (MOST_BYTES - 1000)
    until(lambda: a.send("b", whole) or whole in b.received.heard())
    assert not any(frame[:1] == b"y" for frame in b.received.heard())


@sockets("tls")
def test_without_a_certificate_of_the_authority_nobody_connects(site):
    b = site.open("b", *map(site.link, "acde"))
    stranger = ZenohTransport("test", "c", (), site.certificates("c", Authority()))
    stranger.link(site.link("b", dials=True))
    bare = ZenohTransport("test", "c")
    bare.link(Link("b", "b", site.endpoint("b").replace("tls/", "tcp/")))
    for transport in (stranger, bare):
        site.opened.append(transport)
        transport.open(lambda name, frame: None)
    for key in "ade":  # while each of these connects, one after the other, the strangers try again and again
        guest = site.open(key, site.link("b", dials=True))
        for _ in range(TIMES):
            keep_telling(guest, "b", b)
            stranger.send("b", b"let me in")
            bare.send("b", b"let me in")
        keep_telling(guest, "b", b)
    assert b.received.heard("c") == []


@sockets("tls")
def test_renewed_certificates_are_used_without_a_restart(site):
    """All get certificates of a new authority; who comes later has never seen the old one."""
    a, b = site.open("a", site.link("b", dials=True)), site.open("b", site.link("a"), site.link("c"))
    keep_telling(a, "b", b)
    site.authority = Authority()
    for key in "ab":
        site.certificates(key)
    c = site.open("c", site.link("b", dials=True))
    for teller, hearer in ((c, "b"), (b, "c"), (a, "b"), (b, "a")):
        keep_telling(teller, hearer, {"a": a, "b": b, "c": c}[hearer])


@sockets("tls")
def test_an_insider_can_neither_speak_for_another_nor_listen_to_it(site):
    b = site.open("b", site.link("a"), site.link("c"))
    a = site.open("a", site.link("b", dials=True))
    insider = site.raw("c", to="b")
    overheard, told = (
        insider.declare_subscriber(f"byzmab/test/b/{hearer}", zenoh.handlers.RingChannel(100)) for hearer in "ac"
    )
    keep_telling(a, "b", b)
    keep_telling(b, "a", a)
    until(lambda: insider.put("byzmab/test/c/b", b"as myself") or b.received.heard("c"))
    for path in ("byzmab/test/a/b", "byzmab/test/*/b"):
        insider.put(path, b"as another")
    until(lambda: insider.put("byzmab/test/c/b", b"as myself again") or b"as myself again" in b.received.heard("c"))
    b.send("a", b"for a alone")
    until(lambda: b"for a alone" in a.received.heard())
    until(lambda: b.send("c", b"for c") or told.handler.try_recv())
    assert b"as another" not in b.received.heard()
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
def test_a_hung_neighbour_delays_nobody_and_is_heard_again_when_it_wakes(site):
    command = [sys.executable, "-c", CHILD, site.endpoint("child")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == b"ready\n"
            a = site.open("a", site.link("child", dials=True), site.link("b", dials=True))
            b = site.open("b", site.link("a"))
            until(lambda: a.send("child", b"1") or b"echo 1" in a.received.heard())
            keep_telling(a, "b", b)
            child.send_signal(signal.SIGSTOP)
            for _ in range(2000):  # 20 MB: more than buffers hold, and nobody reads them
                a.send("child", b"x" * 10_000)
            keep_telling(a, "b", b)
            child.send_signal(signal.SIGCONT)
            until(lambda: a.send("child", b"2") or b"echo 2" in a.received.heard())
        finally:
            child.send_signal(signal.SIGCONT)
            child.stdin.close()
            child.wait(LONG)


def test_a_port_in_use_is_said_in_one_sentence(tmp_path):
    site = Site("tcp", tmp_path)
    site.open("a")
    with pytest.raises(BadInput, match=r"cannot be opened: .*in use"):
        ZenohTransport("test", "b", (site.endpoint("a"),)).open(lambda name, frame: None)
    site.close()


def test_links_are_tls_exactly_where_there_are_certificates(tmp_path):
    files = Authority().issue("a", ("127.0.0.1",), tmp_path)
    with pytest.raises(BadInput, match="not allowed with certificates; allowed: tls/"):
        ZenohTransport("test", "a", ("tcp/127.0.0.1:1",), files)
    with pytest.raises(BadInput, match="not allowed without certificates; allowed: tcp/"):
        ZenohTransport("test", "a").link(Link("b", "b", "tls/127.0.0.1:1"))


def test_a_missing_certificate_is_named(tmp_path):
    files = Authority().issue("a", ("127.0.0.1",), tmp_path)
    files.key.unlink()
    with pytest.raises(BadInput, match=r"private key '.*certificate.key' cannot be used: No such file"):
        ZenohTransport("test", "a", (), files)
    files = Authority().issue("a", ("127.0.0.1",), tmp_path)
    files.authority.write_text("nothing")
    with pytest.raises(
        BadInput, match=r"links.tls.authority '.*authority.pem' cannot be read: it holds no certificate"
    ):
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
