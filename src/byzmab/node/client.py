"""A client of a node, for applications: typed, and safe to retry, as every event has a name before it is sent.

>>> from byzmab import Client
>>> node = Client("http://127.0.0.1:8700")  # doctest: +SKIP
>>> decision = node.select()  # doctest: +SKIP
>>> node.reward(decision.event_id, 1.0 if clicked(decision.arm) else 0.0)  # doctest: +SKIP
"""

import asyncio
import os
import random
import re
import ssl
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Self

import httpx
import msgspec

from byzmab.core.errors import BadInput
from byzmab.node import calls
from byzmab.node.api import ArmsAnswer, BestAnswer, Chosen, Decision, NodeState, Peer, Problem, RewardOutcome
from byzmab.node.calls import Answer, Call, Context

AGAIN = frozenset({0, 408, 429, 502, 503, 504})  # answers after which asking again may help
Trust = str | os.PathLike[str] | ssl.SSLContext | None  # authorities in a file, or all about it; None: this machine's
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds; doubled with every try
MOST_IDLE = 100  # connections kept open for the next request


class NodeError(Exception):
    """A node that refused, with the status of its answer, or that could not be reached, with status 0.

    Parameters
    ----------
    status
        The HTTP status of the answer; 0 if the node could not be reached.
    detail
        One sentence on what happened.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def _warn_of_peers() -> None:
    """Warn the caller of `peers`."""
    warnings.warn("peers() is deprecated; use neighbours()", DeprecationWarning, stacklevel=3)


def _http_settings(url: str, token: str | None, timeout: float, trust: Trust) -> dict[str, Any]:
    """How httpx asks a node: directly, with a connection for every caller."""
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host:
        raise BadInput(f"url {url!r} is not allowed; allowed: http://host:port or https://host:port")
    headers = {"content-type": "application/json"} | ({} if token is None else {"authorization": f"Bearer {token}"})
    return {
        "base_url": address,
        "headers": headers,
        "timeout": timeout,
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=MOST_IDLE),
        "trust_env": False,
        "verify": _verification(trust) if address.scheme == "https" else False,  # no TLS, nothing to verify
    }


def _verification(trust: Trust) -> ssl.SSLContext:
    """How the certificate of a node is verified."""
    if isinstance(trust, ssl.SSLContext):
        return trust
    try:
        return ssl.create_default_context(cafile=trust)
    except OSError as error:  # SSLError, too
        reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise BadInput(f"trust {str(trust)!r} cannot be read: {reason}; allowed: a PEM file of certificates") from None


def _request(call: Call[Any]) -> dict[str, Any]:
    """The arguments of httpx's `request`."""
    body = None if call.body is None else msgspec.json.encode(call.body)
    return {"method": call.method, "url": call.path, "content": body}


def _read(call: Call[Answer], response: httpx.Response) -> Answer:
    """The answer in a response, or NodeError."""
    status, content = response.status_code, response.content
    try:
        if 200 <= status < 300:
            return msgspec.json.decode(content or b"null", type=call.answer)
        detail = msgspec.json.decode(content, type=Problem).detail
    except msgspec.MsgspecError:
        detail = f"status {status}, and no answer of a node"
    raise NodeError(status, detail)


def _pauses(retries: int) -> Iterator[float | None]:
    """How long to wait after each try that failed; None after the last."""
    for number in range(retries):
        yield min(FIRST_PAUSE * 2.0**number, LONGEST_PAUSE) * random.uniform(0.5, 1.0)
    yield None


def _unreachable(url: httpx.URL, error: httpx.RequestError) -> NodeError:
    """Return one sentence on why a node cannot be reached; some of httpx's errors say nothing but their kind."""
    reason = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
    return NodeError(0, f"the node at {url} cannot be reached: {reason}")


class Client:
    """Asks a node from ordinary code; threads may share one.

    What fails for a while, a node that restarts for instance, is asked again up to `retries` times. Over https the
    node's certificate must be vouched for by an authority in the file `trust`, or by one that this machine trusts.

    Parameters
    ----------
    url
        The node's address, as http://host:port.
    token
        The bearer token, where the node asks for one.
    timeout
        Seconds that one try may take.
    retries
        How often a request is repeated when the node cannot be reached or is busy.
    trust
        A file of certificate authorities, or an SSL context; None for this machine's.

    Raises
    ------
    BadInput
        If the address or the certificates are not allowed.
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 5.0, retries: int = 10, trust: Trust = None
    ) -> None:
        self._http = httpx.Client(**_http_settings(url, token, timeout, trust))
        self._retries = retries

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def select(self, event_id: str | None = None, context: Context = None) -> Decision:
        """The arm to pull, at a context where there are any; the same event has the same arm.

        Parameters
        ----------
        event_id
            A name for the event; if None, the client makes one.
        context
            The context, where the node has contexts.

        Returns
        -------
        Decision
            The arm, the event's id and the estimates.

        Raises
        ------
        NodeError
            If the node refuses, or cannot be reached.
        """
        return self._ask(calls.select(event_id, context))

    def select_many(self, events: int | Iterable[str], contexts: Iterable[Context] | None = None) -> list[Chosen]:
        """The arms to pull for so many new events, or for those of these names, in their order; each at its context.

        Parameters
        ----------
        events
            How many events, or their names.
        contexts
            A context for each event, where the node has contexts.
        """
        return self._ask(calls.selects(events, contexts)).decisions

    def reward(self, event_id: str, value: float) -> None:
        """Tell the reward, in [0, 1], of an event.

        Parameters
        ----------
        event_id
            The event.
        value
            Its reward, in [0, 1].

        Raises
        ------
        NodeError
            If the event is unknown, too old, or has another reward.
        """
        self._ask(calls.reward(event_id, value))

    def rewards(self, rewards: Iterable[tuple[str, float]]) -> list[RewardOutcome]:
        """Tell many rewards, as (event_id, value); what became of each.

        Parameters
        ----------
        rewards
            Pairs of an event's id and its reward.
        """
        return self._ask(calls.rewards(rewards)).results

    def arms(self) -> ArmsAnswer:
        """The arms, with tallies and beliefs."""
        return self._ask(calls.ARMS)

    def set_arms(self, arms: Iterable[str]) -> ArmsAnswer:
        """Use these arms from now on.

        Parameters
        ----------
        arms
            The arms' names.
        """
        return self._ask(calls.set_arms(arms))

    def reset(self, arm: str) -> ArmsAnswer:
        """Forget the rewards of an arm that has changed.

        Parameters
        ----------
        arm
            The arm.
        """
        return self._ask(calls.reset(arm))

    def best(self, confidence: float = 0.95) -> BestAnswer:
        """The arm that looks best now, how sure that is, and whether it is as sure as asked.

        Parameters
        ----------
        confidence
            How sure it should be, between 0 and 1.
        """
        return self._ask(calls.best(confidence))

    def neighbours(self) -> list[Peer]:
        """Return the neighbours of the node: their newest reports, what became of them, and evidence of lying."""
        return self._ask(calls.NEIGHBOURS).neighbours

    def peers(self) -> list[Peer]:
        """Return the neighbours of the node; deprecated, use `neighbours`."""
        _warn_of_peers()
        return self.neighbours()

    def state(self) -> NodeState:
        """The node at this moment."""
        return self._ask(calls.STATE)

    def pardon(self, who: str) -> None:
        """Hear a neighbour again that was expelled, by its name or key; with the node's own key, end its alarms.

        Parameters
        ----------
        who
            The neighbour's name or key.
        """
        self._ask(calls.pardon(who))

    def hand_over(self, frame: bytes) -> None:
        """Have the node tell its neighbours that another key takes its place; both keys have signed the frame.

        Parameters
        ----------
        frame
            The announcement of the new key, signed with both.
        """
        self._ask(calls.hand_over(frame))

    def _ask(self, call: Call[Answer]) -> Answer:
        for pause in _pauses(self._retries):
            try:
                return _read(call, self._exchange(call))
            except NodeError as error:
                if pause is None or error.status not in AGAIN:
                    raise
                time.sleep(pause)
        raise AssertionError("the last pause is None")

    def _exchange(self, call: Call[Any]) -> httpx.Response:
        try:
            return self._http.request(**_request(call))
        except httpx.RequestError as error:
            raise _unreachable(self._http.base_url, error) from None


class AsyncClient:
    """Asks a node from asynchronous code. Its methods are those of `Client`, to be awaited.

    Parameters
    ----------
    url
        The node's address, as http://host:port.
    token
        The bearer token, where the node asks for one.
    timeout
        Seconds that one try may take.
    retries
        How often a request is repeated when the node cannot be reached or is busy.
    trust
        A file of certificate authorities, or an SSL context; None for this machine's.

    Raises
    ------
    BadInput
        If the address or the certificates are not allowed.
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 5.0, retries: int = 10, trust: Trust = None
    ) -> None:
        self._http = httpx.AsyncClient(**_http_settings(url, token, timeout, trust))
        self._retries = retries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def select(self, event_id: str | None = None, context: Context = None) -> Decision:
        """The arm to pull, at a context where there are any; the same event has the same arm."""
        return await self._ask(calls.select(event_id, context))

    async def select_many(self, events: int | Iterable[str], contexts: Iterable[Context] | None = None) -> list[Chosen]:
        """The arms to pull for so many new events, or for those of these names, in their order; each at its context."""
        return (await self._ask(calls.selects(events, contexts))).decisions

    async def reward(self, event_id: str, value: float) -> None:
        """Tell the reward, in [0, 1], of an event."""
        await self._ask(calls.reward(event_id, value))

    async def rewards(self, rewards: Iterable[tuple[str, float]]) -> list[RewardOutcome]:
        """Tell many rewards, as (event_id, value); what became of each."""
        return (await self._ask(calls.rewards(rewards))).results

    async def arms(self) -> ArmsAnswer:
        """The arms, with tallies and beliefs."""
        return await self._ask(calls.ARMS)

    async def set_arms(self, arms: Iterable[str]) -> ArmsAnswer:
        """Use these arms from now on."""
        return await self._ask(calls.set_arms(arms))

    async def reset(self, arm: str) -> ArmsAnswer:
        """Forget the rewards of an arm that has changed."""
        return await self._ask(calls.reset(arm))

    async def best(self, confidence: float = 0.95) -> BestAnswer:
        """The arm that looks best now, how sure that is, and whether it is as sure as asked."""
        return await self._ask(calls.best(confidence))

    async def neighbours(self) -> list[Peer]:
        """Return the neighbours of the node: their newest reports, what became of them, and evidence of lying."""
        return (await self._ask(calls.NEIGHBOURS)).neighbours

    async def peers(self) -> list[Peer]:
        """Return the neighbours of the node; deprecated, use `neighbours`."""
        _warn_of_peers()
        return await self.neighbours()

    async def state(self) -> NodeState:
        """The node at this moment."""
        return await self._ask(calls.STATE)

    async def pardon(self, who: str) -> None:
        """Hear a neighbour again that was expelled, by its name or key; with the node's own key, end its alarms."""
        await self._ask(calls.pardon(who))

    async def hand_over(self, frame: bytes) -> None:
        """Have the node tell its neighbours that another key takes its place; both keys have signed the frame."""
        await self._ask(calls.hand_over(frame))

    async def _ask(self, call: Call[Answer]) -> Answer:
        for pause in _pauses(self._retries):
            try:
                return _read(call, await self._exchange(call))
            except NodeError as error:
                if pause is None or error.status not in AGAIN:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last pause is None")

    async def _exchange(self, call: Call[Any]) -> httpx.Response:
        try:
            return await self._http.request(**_request(call))
        except httpx.RequestError as error:
            raise _unreachable(self._http.base_url, error) from None
