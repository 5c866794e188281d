"""Spreading work over threads of this process or the workers of any executor, with progress and interruption."""

import threading
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

from byzmab.core.errors import BadInput

LOOK_SECONDS = 0.1  # how often progress is told

Playing = Generator[tuple[list[Any], int]]
Watch = Callable[[Hashable, int], None]  # told how far a part of a job is; raises Stopped when all must end


class Stopped(Exception):
    """Raised in a thread when the others were interrupted."""


class WorkerFailed(BadInput):
    """Something other than bad input ended a job on a worker of an executor."""


class Job(NamedTuple):
    """A function with its arguments; on threads it also gets a keyword `watch`."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    work: int  # how much it is, in the unit that `watch` is told


def spread(jobs: Sequence[Job], executor: Executor | None, workers: int) -> Playing:
    """Run all jobs; several times a second yield what has finished since, and the work done so far.

    Without an executor they run on `workers` threads. When the caller stops or is interrupted, threads end at their
    next `watch`, and jobs that have not begun are cancelled.
    """
    return _on_threads(jobs, workers) if executor is None else _on_executor(jobs, executor)


def _on_threads(jobs: Sequence[Job], workers: int) -> Playing:
    done: dict[Hashable, int] = {}
    stop = threading.Event()

    def watch(part: Hashable, work: int) -> None:
        if stop.is_set():
            raise Stopped
        done[part] = work

    with ThreadPoolExecutor(max(1, min(workers, len(jobs)))) as pool:
        futures = {pool.submit(job.function, *job.arguments, watch=watch) for job in jobs}
        try:
            for finished in _as_they_finish(futures):
                yield [future.result() for future in finished], sum(done.copy().values())
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _on_executor(jobs: Sequence[Job], executor: Executor) -> Playing:
    """Play the jobs on an executor, where only what has finished is known."""
    works = {executor.submit(job.function, *job.arguments): job.work for job in jobs}
    done = 0
    try:
        for finished in _as_they_finish(set(works)):
            done += sum(works[future] for future in finished)
            yield [future.result() for future in finished], done
    except BaseException as error:
        for future in works:
            future.cancel()
        if isinstance(error, Exception) and not isinstance(error, BadInput):
            raise WorkerFailed(f"a worker failed: {type(error).__name__}: {error}") from error
        raise


def _as_they_finish(futures: set[Future[Any]]) -> Iterator[set[Future[Any]]]:
    """The futures that finished since the last time, perhaps none, several times a second."""
    while futures:
        finished, futures = wait(futures, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
        yield finished
