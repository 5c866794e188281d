"""The process of a node: started from its settings, it serves until it is told to stop."""

import asyncio
import logging
import os
import resource
import signal
import socket
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path

import uvloop
from litestar.plugins import InitPlugin

from byzmab.core.errors import BadInput
from byzmab.core.liars import TooFewNeighbours
from byzmab.node import logs
from byzmab.node.administration import open_store
from byzmab.node.config import Config, Http, Links, is_loopback
from byzmab.node.expiry import expiries
from byzmab.node.fast_path import make_fast_path
from byzmab.node.faults import Unavailable
from byzmab.node.guard import Guard
from byzmab.node.host import Host, ReportFor
from byzmab.node.http_server import listen, make_server
from byzmab.node.identity import Key, lock_key, mark_used
from byzmab.node.routes import make_app
from byzmab.node.runtime import NodeRuntime
from byzmab.node.store import StoreTrouble
from byzmab.node.supervisor import READY, STOPPING, Supervisor
from byzmab.node.tls import server_context
from byzmab.node.transport.base import Certificates
from byzmab.node.transport.zenoh import ZenohTransport

STOP_WITHIN = 4.5  # seconds from SIGTERM to the end of the process
log = logging.getLogger(__name__)


def run(
    config: Config,
    file: str | Path | None = None,
    report_for: ReportFor | None = None,
    plugins: Sequence[InitPlugin] = (),
) -> None:
    """Run a node until SIGTERM or SIGINT; SIGHUP reads the neighbours from `file` again.

    `report_for` makes the node lie; `plugins` add routes to its HTTP, such as a page.
    """
    logs.begin(config.logs)
    warnings.simplefilter("ignore", TooFewNeighbours)  # the log says so
    _allow_connections()
    key = Key.load(config.key)
    lock = lock_key(config.key)
    expiries(config)  # BadInput where there are none
    listener = listen(config.http.host, config.http.port)
    try:
        transport = ZenohTransport(config.network, key.public, config.links.listen, _certificates(config.links))
        store = open_store(config, key.public)
        try:
            if not mark_used(key.public, config.key, config.data):
                log.warning("nothing can be written beside key or data: a lost data file would not be noticed")
            try:
                host = Host(config, key, store, transport, report_for)
            except StoreTrouble as trouble:
                raise Unavailable(f"the node cannot start: {trouble}") from None
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(_serve(host, listener, str(file) if file is not None else None, plugins))
        finally:
            store.close()
    finally:
        listener.close()
        lock.close()


async def _serve(host: Host, listener: socket.socket, file: str | None, plugins: Sequence[InitPlugin]) -> None:
    node = NodeRuntime(host, file)
    http = host.config.http
    guard = Guard(make_app(node, plugins), make_fast_path(node), http, node.metrics.latency)  # type: ignore[arg-type]
    tls = None if http.tls is None else server_context(http.tls)
    server = make_server(guard, http.connections, http.body_wait, tls)
    loop = asyncio.get_running_loop()
    supervisor = Supervisor()

    def stop() -> None:
        supervisor.tell(STOPPING)
        _end_in_time()
        node.streams.end()
        server.should_exit = True

    def reload() -> None:
        supervisor.reloading()
        try:
            if guard.token is not None:
                guard.token.look_again()
            node.reload()
        except (BadInput, StoreTrouble) as error:
            log.error("neighbours not read again", extra={"reason": str(error)})
        finally:
            supervisor.tell(READY)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, reload)
    _warn_of_few_neighbours(host)
    _warn_of_open_http(http)
    async with node.run():
        address = "{}:{}".format(*listener.getsockname()[:2])
        log.info("serving", extra={"http": address, "node": host.config.name, "key": host.key.public})
        alive = asyncio.create_task(supervisor.stay_alive())
        supervisor.tell(READY)  # who connects now is answered: the socket listens
        try:
            await server.serve([listener])
        finally:
            alive.cancel()
    log.info("stopped", extra={"epoch": host.epoch, "seq": host.seq})


def _end_in_time() -> None:
    """End the process after a few seconds, whatever still goes on: all that was acknowledged is on the disk."""

    def end() -> None:
        log.warning("stopped before all links were closed")
        logging.shutdown()
        os._exit(0)

    timer = threading.Timer(STOP_WITHIN, end)
    timer.daemon = True
    timer.start()


def _warn_of_few_neighbours(host: Host) -> None:
    """Say so where f asks for more neighbours than are heard: below 3f + 1 there may be nothing to gain."""
    f, heard = host.config.f, host.config.heard
    if isinstance(f, int) and f and host.agent.filter.trims and 0 < heard < 3 * f + 1:
        log.warning("too few neighbours for f", extra={"f": f, "heard": heard, "needed": 3 * f + 1})


def _warn_of_open_http(http: Http) -> None:
    """Say so where the token can be read on the way: HTTP without TLS is not encrypted."""
    if not is_loopback(http.host) and http.tls is None:
        log.warning("the token is sent unencrypted; set http.tls, or put TLS before it", extra={"host": http.host})


def _allow_connections() -> None:
    """As many open files, and so connections, as the system lets us have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _certificates(links: Links) -> Certificates | None:
    if links.tls is None:
        return None
    return Certificates(*map(Path, (links.tls.authority, links.tls.certificate, links.tls.private_key)))
