"""What the owner of a node does to it beside running it: begin its data, warm or not, pardon, and change its key."""

import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from byzmab.core.errors import BadInput
from byzmab.node.backup import is_backup, restore
from byzmab.node.client import Client, NodeError
from byzmab.node.config import Config, HttpTls
from byzmab.node.database import ANEW, FILE
from byzmab.node.host import Host
from byzmab.node.identity import InUse, Key, can_mark, lock_key, mark_used, was_used
from byzmab.node.records import new_state, read_state
from byzmab.node.store import AHEAD, NodeStore, StoreTrouble, begin, epoch_at, import_state
from byzmab.node.transport.memory import Hub, MemoryTransport
from byzmab.node.wire import seal_handover

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to ask a node that listens on every address


def bring_back(config: Config, file: Path) -> None:
    """Begin a node's empty data directory with an export or a backup, under the key in its settings."""
    key = Key.load(config.key)
    with lock_key(config.key):
        if is_backup(file):
            restore(config.data, config.network, key.public, file)
        else:
            import_state(config.data, config.network, key.public, read_state(file))
        mark_used(key.public, config.key, config.data)


def begin_anew(config: Config) -> None:
    """Begin a node's empty data directory with nothing, though its key may have been used before."""
    key = Key.load(config.key)
    with lock_key(config.key):
        begin(config.data, new_state(config.network, key.public))
        mark_used(key.public, config.key, config.data)


def pardon(config: Config, who: str) -> None:
    """Hear an expelled neighbour again: a running node is asked over HTTP, one that is stopped finds it in its data."""
    key = Key.load(config.key)
    try:
        lock = lock_key(config.key)
    except InUse:
        with _asking(config) as client:
            client.pardon(who)
        return
    with lock, _stopped(config, key) as host:
        host.pardon(who)


def warm_start(config: Config, table: Mapping[str, tuple[int, float]]) -> None:
    """Let a node that is stopped, and has decided nothing yet, begin with past counts, arm → (pulls, mean)."""
    key = Key.load(config.key)
    with lock_key(config.key), _stopped(config, key) as host:
        mark_used(key.public, config.key, config.data)
        host.decisions.warm_start(table)


def hand_over(config: Config, new: Path) -> None:
    """Have a running node tell its neighbours, with every report from now on, that a new key takes its place."""
    frame = seal_handover(Key.load(config.key), Key.load(new), config.network, epoch_at(time.time()))
    with _asking(config) as client:
        client.hand_over(frame)


def lower_epoch(config: Config) -> None:
    """Let a stopped node begin its next epoch at the clock, where a clock that was ahead has left it far above.

    Neighbours refused all that was told in that epoch, so that nothing they hold is contradicted, and no tally is lost.
    """
    key, now = Key.load(config.key), epoch_at(time.time())
    with lock_key(config.key), closing(open_store(config, key.public)) as store:
        facts = store.load().facts
        if facts["epoch"] <= now + AHEAD:
            raise BadInput("the epoch is not ten years above the clock; allowed: to lower one that neighbours refuse")
        with store.changing() as batch:
            batch.facts |= {"epoch": now, "reset": min(facts["reset"], now), "abandoned": facts["epoch"]}
        store.flush()


def open_store(config: Config, public: str) -> NodeStore:
    """The data of a node, begun if it is new; BadInput if it was lost, or if a loss could not be noticed later."""
    used = was_used(public, config.key, config.data)
    if not used and not (Path(config.data) / FILE).exists() and not can_mark(config.key):
        raise BadInput(
            f"data directory {config.data!r} holds no node, and nothing can be written beside key file {config.key!r}: "
            f"whether data was lost cannot be known; {ANEW}"
        )
    return NodeStore(config.data, config.network, public, used)


@contextmanager
def _stopped(config: Config, key: Key) -> Iterator[Host]:
    """A node that does not run, to change its data; the caller has locked its key."""
    store = open_store(config, key.public)
    try:
        yield Host(config, key, store, MemoryTransport(Hub(), key.public))
        store.flush()
    except StoreTrouble as trouble:
        raise BadInput(f"the node's data cannot be changed: {trouble}") from None
    finally:
        store.close()


@contextmanager
def _asking(config: Config) -> Iterator[Client]:
    """A client of a running node; what the node refuses is BadInput."""
    host = ANYWHERE.get(config.http.host, config.http.host)
    tls = config.http.tls
    url = f"http{'s' if tls else ''}://{f'[{host}]' if ':' in host else host}:{config.http.port}"
    token = Path(config.http.token_file).read_text(encoding="ascii").strip() if config.http.token_file else None
    with Client(url, token, retries=3, trust=None if tls is None else _pinned(tls)) as client:
        try:
            yield client
        except NodeError as error:
            reason = "refuses" if error.status else "does not answer, and must run for this"
            raise BadInput(f"the node {reason}: {error}") from None


def _pinned(tls: HttpTls) -> ssl.SSLContext:
    """Trust in the node's own certificate, by whatever name it is asked, and in no other."""
    try:
        context = ssl.create_default_context(cafile=tls.certificate)
    except OSError:  # SSLError, too
        raise BadInput(f"http.tls.certificate {tls.certificate!r} cannot be read") from None
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # whoever vouches for it
    return context
