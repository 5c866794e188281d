"""HTTP that the node encrypts itself: certificates are renewed while it runs, and handshakes have bounds."""

import socket
from contextlib import ExitStack, suppress

import pytest
from command import byzmab
from cryptography.hazmat.primitives import serialization
from live import HOSTS, Encrypted
from waiting import LONG, until

from byzmab import BadInput, Client, NodeError
from byzmab.node.certificates import Authority
from byzmab.node.config import HttpTls
from byzmab.node.tls import server_context


@pytest.fixture
def authority():
    return Authority()


@pytest.fixture
def node(tmp_path, authority):
    node = Encrypted(1, tmp_path, authority, http={"connections": 20, "body_wait": 1.0}).start()
    yield node
    assert node.stop() == 0
    assert "Traceback" not in node.log.read_text()


def test_a_renewed_certificate_is_served_without_a_restart_and_a_broken_one_never(node, authority):
    first = node.served()
    assert first == node.served("localhost")
    with Client(node.url, trust=node.trust) as open_before:
        epoch = open_before.state().epoch
        node.renew(authority)
        until(lambda: node.served("localhost") != first)
        second = node.served()
        assert second not in (first, None)
        (node.directory / "certificate.key").write_text("nothing")
        until(lambda: node.served() and "http.tls not read again" in node.log.read_text())
        assert node.served() == second
        assert open_before.state().epoch == epoch


def test_only_whom_the_client_trusts_is_asked_and_the_nodes_own_commands_trust_its_certificate(node):
    refused = byzmab("node", "pardon", node.file, "nobody", code=2).stderr
    assert "the node refuses" in refused and "nobody" in refused, (
        "it was asked, though another name is on its certificate"
    )
    for trust in (None, Authority("another").issue("agent", HOSTS, node.directory.parent).authority):
        with (
            Client(node.url, retries=0, trust=trust) as client,
            pytest.raises(NodeError, match="certificate verify failed"),
        ):
            client.state()
    with pytest.raises(BadInput, match="holds no certificate"):
        Client(node.url, trust=node.directory / "node.toml")
    with pytest.raises(BadInput, match="No such file"):
        Client(node.url, trust=node.directory / "nothing.pem")


def test_connections_that_never_finish_a_handshake_give_way_and_end(node):
    """Thirty who say nothing where twenty connections are allowed, and one who speaks no TLS: clients are answered."""
    with ExitStack() as stack, Client(node.url, trust=node.trust, retries=0) as client:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", node.port), LONG)) for _ in range(30)]
        assert client.state().epoch > 0
        plain = stack.enter_context(socket.create_connection(("127.0.0.1", node.port), LONG))
        plain.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b"HTTP" not in end_of(plain)
        assert end_of(idle[-1]) == b"", "after body_wait seconds"
        assert client.state().epoch > 0


def end_of(connection):
    """What comes over a connection until the other side closes it."""
    came = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(1000):
            came += piece
    return came


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files.certificate.unlink(), "No such file or directory"),
        (lambda files: files.key.write_text("nothing"), "they do not fit together"),
        (
            lambda files: Authority().issue("another", HOSTS, files.key.parent / "..").key.replace(files.key),
            "they do not fit",
        ),
        (lambda files: encrypt(files.key), "the key not encrypted"),
        (lambda files: files.key.chmod(0o644), "has mode 0644; allowed: 0600 or 0640"),
    ],
    ids=["missing", "broken", "of another", "encrypted", "open"],
)
def test_a_certificate_that_cannot_be_used_is_said_in_one_sentence(tmp_path, authority, change, said):
    files = authority.issue("agent", HOSTS, tmp_path)
    change(files)
    with pytest.raises(BadInput, match=said):
        server_context(HttpTls(certificate=str(files.certificate), private_key=str(files.key)))


def encrypt(file):
    key = serialization.load_pem_private_key(file.read_bytes(), None)
    kind, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file.write_bytes(key.private_bytes(kind, form, serialization.BestAvailableEncryption(b"secret")))
