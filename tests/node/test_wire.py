"""Frames: what is signed is what is read, and nothing else is."""

import math
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live import ARMS, NETWORK, frame, key_of, report

from byzmab.core.errors import BadInput
from byzmab.node.identity import Key, lock_key, mark_used, public_bytes, public_text, verify, was_used
from byzmab.node.transport.base import MOST_BYTES
from byzmab.node.wire import DOMAIN, MOST_ARMS, EvidenceMessage, Mark, Refusal, Refused, seal, unseal, unseal_report

PUBLIC = public_bytes(key_of(1).public)
MARK = Mark(bytes(32), 1, 1, bytes(32))
names = st.text(min_size=1, max_size=20)


def refused(content, public=PUBLIC, network=NETWORK):
    with pytest.raises(Refused) as caught:
        unseal(content, public, network)
    return caught.value.reason


@given(
    rows=st.lists(st.tuples(names, st.integers(0, 2**53), st.floats(0, 1)), max_size=30, unique_by=lambda row: row[0]),
    version=st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)),
    time=st.floats(-1e15, 1e15),
)
def test_a_report_is_read_as_it_was_sent(rows, version, time):
    arms, pulls, means = ([row[column] for row in rows] for column in range(3))
    said = report(1, version[1], pulls, means, arms=arms, epoch=version[0], time=time, marks=[MARK])
    assert unseal(seal(key_of(1), said), PUBLIC, NETWORK) == said


@pytest.mark.parametrize(
    ("reason", "changes"),
    [
        (Refusal.PROTOCOL, {"protocol": 2}),
        (Refusal.NETWORK, {"network": "other"}),
        (Refusal.SENDER, {"sender": public_bytes(key_of(2).public)}),
        (Refusal.SENDER, {"sender": b""}),
        (Refusal.NUMBERS, {"means": [0.5, 0.5, 0.5, math.nan]}),
        (Refusal.NUMBERS, {"means": [0.5, 0.5, 0.5, math.inf]}),
        (Refusal.NUMBERS, {"means": [0.5, 0.5, 0.5, -1e-9]}),
        (Refusal.NUMBERS, {"means": [0.5, 0.5, 0.5, 1.1]}),
        (Refusal.NUMBERS, {"pulls": [1, 1, 1, -1]}),
        (Refusal.NUMBERS, {"pulls": [1, 1, 1, 2**53 + 1]}),
        (Refusal.NUMBERS, {"epoch": -1}),
        (Refusal.NUMBERS, {"seq": -1}),
        (Refusal.NUMBERS, {"epoch": 2**63}),
        (Refusal.NUMBERS, {"reset": -1}),
        (Refusal.NUMBERS, {"time": math.nan}),
        (Refusal.ARMS, {"arms": ["a", "a", "b", "c"]}),
        (Refusal.ARMS, {"arms": ["a", "b", "c"]}),
        (Refusal.ARMS, {"arms": ["a", "b", "c", ""]}),
        (Refusal.ARMS, {"arms": ["a", "b", "c", "d" * 129]}),
        (
            Refusal.ARMS,
            {
                "arms": [str(n) for n in range(MOST_ARMS + 1)],
                "pulls": [1] * (MOST_ARMS + 1),
                "means": [0.5] * (MOST_ARMS + 1),
            },
        ),
        (Refusal.MALFORMED, {"marks": [Mark(b"short", 1, 1, bytes(32))]}),
        (Refusal.MALFORMED, {"marks": [MARK] * 257}),
        (Refusal.MALFORMED, {"pulls": [1.5, 1, 1, 1]}),
        (Refusal.MALFORMED, {"arms": [1, 2, 3, 4]}),
    ],
)
def test_what_an_insider_signs_is_still_checked(reason, changes):
    assert refused(frame(1, 1, **changes)) is reason


def test_a_frame_of_another_key_is_refused():
    assert refused(frame(2, 1)) is Refusal.SIGNATURE
    forged = seal(key_of(2), report(1, 1))
    assert refused(forged) is Refusal.SIGNATURE
    assert refused(forged, public_bytes(key_of(2).public)) is Refusal.SENDER


def test_a_signature_for_something_else_is_none():
    body = frame(1, 1)[64:]
    assert refused(key_of(1).sign(body) + body) is Refusal.SIGNATURE  # without the domain
    assert verify(PUBLIC, key_of(1).sign(DOMAIN + body), DOMAIN + body)


@pytest.mark.parametrize("content", [b"", b"x" * 64, bytes(63)])
def test_too_little_is_no_frame(content):
    assert refused(content) is Refusal.MALFORMED


def test_too_much_is_no_frame():
    assert refused(bytes(MOST_BYTES + 1)) is Refusal.OVERSIZED


@pytest.mark.parametrize(
    "body",
    [
        msgspec.msgpack.encode({"version": 1}),
        msgspec.msgpack.encode(["letter", 1]),
        msgspec.msgpack.encode(["word", 1]),
        b"\x91" * 5000,  # deeply nested
        b"\xdd\xff\xff\xff\xff",  # says it has four milliard items
        msgspec.msgpack.encode(report(1, 1)) + b"\x00",
        b"",
    ],
)
def test_a_signed_body_that_is_none_is_refused(body):
    assert refused(key_of(1).sign(DOMAIN + body) + body) is Refusal.MALFORMED


def test_ten_thousand_mutated_frames_are_all_refused():
    chance, honest = random.Random(5), frame(1, 7, marks=[MARK])
    for _ in range(10_000):
        content = bytearray(honest)
        for _ in range(chance.randint(1, 4)):
            index = chance.randrange(len(content))
            what = chance.randrange(4)
            if what == 0:
                content[index] ^= 1 << chance.randrange(8)
            elif what == 1:
                del content[index]
            elif what == 2:
                content.insert(index, chance.randrange(256))
            else:
                content = content[:index] + chance.randbytes(chance.randrange(40))
                break
        if bytes(content) != honest:
            assert isinstance(refused(bytes(content)), Refusal)


@given(st.binary(max_size=400))
def test_random_bodies_that_an_insider_signs_never_break_anything(body):
    content = key_of(1).sign(DOMAIN + body) + body
    try:
        unseal(content, PUBLIC, NETWORK)
    except Refused as error:
        assert error.reason in Refusal


@given(
    st.recursive(
        st.none() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=12,
    )
)
def test_a_word_with_anything_in_it_never_breaks_anything(value):
    for index in range(11):
        fields = ["word", 1, NETWORK, PUBLIC, 1, 1, 0.0, 0, list(ARMS), [1] * 4, [0.5] * 4, []]
        fields[1 + index] = value
        body = msgspec.msgpack.encode(fields)
        try:
            unseal_report(key_of(1).sign(DOMAIN + body) + body, PUBLIC, NETWORK)
        except Refused as error:
            assert error.reason in Refusal


def test_an_evidence_message_is_no_report():
    message = EvidenceMessage(1, NETWORK, PUBLIC, [frame(2, 1)])
    assert unseal(seal(key_of(1), message), PUBLIC, NETWORK) == message
    with pytest.raises(Refused):
        unseal_report(seal(key_of(1), message), PUBLIC, NETWORK)


def test_the_wire_format_stays_as_it_is():
    """Older nodes read and send these very bodies."""
    sent, message = frame(1, 7), seal(key_of(1), EvidenceMessage(1, NETWORK, PUBLIC, [b"frame"]))
    told = ["word", 1, NETWORK, PUBLIC, 1, 7, 0.0, 0, list(ARMS), [3] * 4, [0.5] * 4, []]
    assert msgspec.msgpack.decode(sent[64:]) == told
    assert msgspec.msgpack.decode(message[64:]) == ["exhibit", 1, NETWORK, PUBLIC, [b"frame"]]


# identity


def test_a_key_file_is_for_its_owner_alone(tmp_path):
    key = Key.generate()
    key.save(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert Key.load(tmp_path / "key").public == key.public
    (tmp_path / "key").chmod(0o640)
    with pytest.raises(BadInput, match="0640"):
        Key.load(tmp_path / "key")


def test_a_key_file_is_never_replaced(tmp_path):
    Key.generate().save(tmp_path / "key")
    before = (tmp_path / "key").read_text()
    with pytest.raises(BadInput, match="exists already"):
        Key.generate().save(tmp_path / "key")
    assert (tmp_path / "key").read_text() == before


def test_a_private_key_is_never_shown(tmp_path):
    key = Key.generate()
    key.save(tmp_path / "key")
    secret = (tmp_path / "key").read_text().strip().rpartition(":")[2]
    assert secret not in f"{key!r} {key} {vars(key)}"
    assert secret != key.public.rpartition(":")[2]


@pytest.mark.parametrize(
    "text", ["", "ed25519:", "ed25519:" + "0" * 63, "ed25519:" + "g" * 64, "ed25519:" + "A" * 64, "x" * 72]
)
def test_a_text_that_is_no_public_key_is_named(text):
    with pytest.raises(BadInput, match="64 hexadecimal digits"):
        public_bytes(text)


def test_a_public_key_has_one_text():
    assert public_text(public_bytes(key_of(3).public)) == key_of(3).public


@pytest.mark.parametrize("text", ["", "byzmab-private-key:00", "hello", "byzmab-private-key:" + "z" * 64])
def test_a_file_that_holds_no_key_is_named(tmp_path, text):
    (tmp_path / "key").write_text(text)
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(BadInput, match="holds no private key"):
        Key.load(tmp_path / "key")


def test_that_a_key_is_in_use_is_written_where_it_can_be(tmp_path):
    """Beside the key file, or beside the data directory where the key's place is not writable."""
    public, missing = key_of(1).public, str(tmp_path / "missing" / "node.key")
    places = (missing, str(tmp_path / "data"))
    assert not was_used(public, *places)
    assert mark_used(public, *places)
    assert was_used(public, *places) and not was_used(key_of(2).public, *places)
    assert not mark_used(public, missing)


def test_a_key_file_has_one_user(tmp_path):
    key_of(1).save(tmp_path / "key")
    with lock_key(tmp_path / "key"), pytest.raises(BadInput, match="in use by another node"):
        lock_key(tmp_path / "key")
    lock_key(tmp_path / "key").close()
