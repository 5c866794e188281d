"""Where a sweep is computed: threads of this process, or a Dask cluster."""

import logging
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from byzmab.core.errors import BadInput, unknown
from byzmab.sweep.identity import algorithm_version

KINDS = ("local", "dask")
CONNECT_SECONDS = 10
RETRIES = 3  # of a portion whose worker died


@contextmanager
def open_executor(kind: str = "local", address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """An executor and its number of workers for `run_sweep`; None and None stand for threads of this process."""
    if kind not in KINDS:
        raise unknown("executor", kind, KINDS)
    if kind == "local":
        if address is not None:
            raise BadInput(f"address {address!r} does not go with executor 'local'; allowed: --executor dask")
        yield None, None
        return
    with _dask_client(address, workers) as client:
        _check_versions(client)
        yield _executor(client), sum(client.nthreads().values()) or 1


@contextmanager
def _dask_client(address: str | None, workers: int | None) -> Iterator[Any]:
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise BadInput("executor 'dask' is not installed; pip install 'byzmab[dask]' adds it") from None
    if address is not None:
        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise BadInput(f"address {address!r}: no Dask scheduler answers there: {error}") from None
        with client:
            yield client
        return
    settings = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}
    with (
        LocalCluster(n_workers=workers or os.cpu_count() or 1, **settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _check_versions(client: Any) -> None:
    """All workers must play as we do, or the same address would stand for other digits."""
    try:
        versions = client.run(algorithm_version)
    except Exception as error:
        raise BadInput(f"the cluster's workers cannot run byzmab: {type(error).__name__}: {error}") from None
    for worker, found in versions.items():
        if found != algorithm_version():
            raise BadInput(f"worker {worker} runs another version of byzmab; allowed: the same source everywhere")


def _executor(client: Any) -> Executor:
    return client.get_executor(pure=False, retries=RETRIES)  # type: ignore[no-any-return]
