"""The HTTP routes of a node: parse, ask the host, wait for the disk, answer."""

import asyncio
import logging
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Any

from litestar import Litestar, Request, Response, get, post, put
from litestar.datastructures import ResponseHeader
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.params import Parameter
from litestar.plugins import InitPlugin
from litestar.response import Stream

from byzmab.core.confidence import believer
from byzmab.node import views
from byzmab.node.api import (
    EVENT_ID,
    ArmsAnswer,
    ArmsRequest,
    BestAnswer,
    Decision,
    HandoverRequest,
    Health,
    NeighboursAnswer,
    NodeState,
    PardonRequest,
    PeersAnswer,
    Problem,
    ReloadAnswer,
    ResetRequest,
    Reward,
    RewardRequest,
    RewardsAnswer,
    RewardsRequest,
    SelectRequest,
    SelectsAnswer,
    SelectsRequest,
)
from byzmab.node.metrics import CONTENT_TYPE
from byzmab.node.problems import PROBLEMS, problem_of
from byzmab.node.runtime import NodeRuntime

log = logging.getLogger(__name__)
EVENTS = "text/event-stream"
DEPRECATED = [  # of a path that has another name now
    ResponseHeader(name="Deprecation", value="true", description="this path goes away with a later version"),
    ResponseHeader(name="Link", value='</v1/neighbours>; rel="successor-version"', description="the path to use"),
]
MEANING = {
    400: "Invalid",
    401: "No token, or a wrong one",
    403: "Asked by a page from elsewhere",
    404: "Unknown",
    408: "The request took too long to arrive",
    409: "Another value was counted already",
    410: "Too late: the reward is no longer awaited",
    413: "The request is too large",
    415: "The body is not application/json",
    421: "Asked under a name that is not loopback",
    429: "Too many requests",
    503: "State cannot be written now, or too many streams are open",
}
STRICT = {kind.__name__ for kind in (SelectRequest, SelectsRequest, RewardRequest, RewardsRequest, Reward, ArmsRequest)}
STRICT |= {kind.__name__ for kind in (ResetRequest, PardonRequest, HandoverRequest)}
ALWAYS = (400, 401, 403, 421, 429)
POSTED = (*ALWAYS, 408, 413, 415, 503)


class StrictSchema(JsonRenderPlugin):
    """The schema as JSON, made when it is asked for: bodies of requests have no fields besides those listed."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """The schema's text."""
        for name, schema in openapi_schema["components"]["schemas"].items():
            if name.rpartition("_")[2] in STRICT:
                schema["additionalProperties"] = False
        return super().render(request, openapi_schema)


def _responses(*statuses: int) -> dict[int, ResponseSpec]:
    return {
        status: ResponseSpec(Problem, description=MEANING[status], generate_examples=False)
        for status in sorted(statuses)
    }


def _problem(_: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    problem, headers = problem_of(error)
    return Response(problem, status_code=problem.status_code, headers=headers, media_type="application/json")


def _refusal(_: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """What Litestar refuses, in one sentence."""
    wrong = error.extra if isinstance(error.extra, list) else []
    said = "; ".join(f"{item['key']}: {item['message']}" if item.get("key") else str(item["message"]) for item in wrong)
    problem = Problem(error.status_code, said or error.detail)
    return Response(problem, status_code=error.status_code, headers=error.headers, media_type="application/json")


async def _log(error: Exception, _: Any) -> None:
    """A fault of ours leaves a trace; what is the asker's does not."""
    if not isinstance(error, (HTTPException, *PROBLEMS)):
        log.error("a request failed", exc_info=error)


Confidence = Annotated[float, Parameter(gt=0, lt=1, description="the chance, above 0 and below 1, that is wanted")]
EventIdInPath = Annotated[str, Parameter(pattern=EVENT_ID, description="the event that `select` named")]


def _decision_routes(node: NodeRuntime) -> list[Any]:
    """Return the routes by which an application asks for arms and tells rewards."""

    @post("/v1/select", status_code=200, responses=_responses(*POSTED))
    async def select(data: SelectRequest | None = None) -> Decision:
        """Choose an arm, at a context where there are any. A repeated event_id gives the same arm."""
        return await node.select(data if data is not None else SelectRequest())

    @post("/v1/selects", status_code=200, responses=_responses(*POSTED))
    async def selects(data: SelectsRequest) -> SelectsAnswer:
        """Choose many arms, each as it would have been chosen alone, before any further reward."""
        return await node.selects(data.selects)

    @post("/v1/events/{event_id:str}/reward", status_code=204, responses=_responses(*POSTED, 404, 409, 410))
    async def reward(event_id: EventIdInPath, data: RewardRequest) -> None:
        """Count the reward of an event, once."""
        await node.reward(event_id, data.value)

    @post("/v1/rewards", status_code=200, responses=_responses(*POSTED))
    async def rewards(data: RewardsRequest) -> RewardsAnswer:
        """Count many rewards; each is answered with the status it would have got alone."""
        return await node.rewards(data.rewards)

    return [select, selects, reward, rewards]


def _arm_routes(node: NodeRuntime) -> list[Any]:
    """Return the routes to the arms in use and to what the agent knows of them."""
    host = node.host

    @get("/v1/arms", responses=_responses(*ALWAYS))
    async def get_arms() -> ArmsAnswer:
        """The arms in use, with tallies and beliefs."""
        return views.arms(host)

    @put("/v1/arms", responses=_responses(*POSTED))
    async def put_arms(data: ArmsRequest) -> ArmsAnswer:
        """Use these arms from now on; a new one is chosen first, one that comes back has its old tally."""
        host.set_arms(data.arms)
        await node.durable()
        return views.arms(host)

    @post("/v1/reset", status_code=200, responses=_responses(*POSTED))
    async def reset(data: ResetRequest) -> ArmsAnswer:
        """Forget the rewards of one arm, and announce that to the neighbours; all else stays."""
        host.reset(data.arm)
        await node.durable()
        return views.arms(host)

    @get("/v1/best", responses=_responses(*ALWAYS))
    async def best(confidence: Confidence = 0.95) -> BestAnswer:
        """The arm that looks best now, how sure that is, and whether it is as sure as asked."""
        if host.config.context is None:
            await asyncio.to_thread(believer)  # compiles, where the node decides by another filter
        return views.best(host, confidence)

    return [get_arms, put_arms, reset, best]


def _network_routes(node: NodeRuntime) -> list[Any]:
    """Return the routes to the neighbours and to the state of the node."""
    host = node.host

    @get("/v1/neighbours", responses=_responses(*ALWAYS))
    async def neighbours() -> NeighboursAnswer:
        """The neighbours: their newest reports, what became of them, and evidence of lying."""
        return NeighboursAnswer(views.peers(host).peers)

    @get("/v1/peers", responses=_responses(*ALWAYS), deprecated=True, response_headers=DEPRECATED)
    async def peers() -> PeersAnswer:
        """The neighbours, under an earlier name: use /v1/neighbours."""
        return views.peers(host)

    @get("/v1/state", responses=_responses(*ALWAYS))
    async def state() -> NodeState:
        """The node at this moment."""
        return views.state(host)

    @post("/v1/reload", status_code=200, responses=_responses(*ALWAYS, 503))
    async def reload() -> ReloadAnswer:
        """Read neighbours, `equivocators` and `traffic` from the node's file again, as SIGHUP does."""
        ignored = node.reload()
        return ReloadAnswer(views.peers(host).peers, ignored)

    @post("/v1/pardon", status_code=200, responses=_responses(*POSTED))
    async def pardon(data: PardonRequest) -> PeersAnswer:
        """Hear a neighbour again that was expelled; with the node's own key, end the alarms about it."""
        host.pardon(data.who)
        await node.durable()
        return views.peers(host)

    @post("/v1/handover", status_code=204, responses=_responses(*POSTED))
    async def handover(data: HandoverRequest) -> None:
        """Tell the neighbours from now on that another key takes this node's place; both keys must have signed."""
        host.membership.announce(data.frame)
        await node.durable()

    @get("/v1/stream", media_type=EVENTS, responses=_responses(*ALWAYS, 503))
    async def stream() -> Stream:
        """Server-sent events: `state` after every report, `evidence` when a neighbour is caught."""
        return Stream(node.streams.open(), media_type=EVENTS, headers={"cache-control": "no-cache"})

    return [neighbours, peers, state, reload, pardon, handover, stream]


def _health_routes(node: NodeRuntime) -> list[Any]:
    """Return the routes for supervisors."""
    host = node.host

    @get("/healthz", responses=_responses(400, 421, 429))
    async def healthz() -> Health:
        """Whether the process answers."""
        return Health("ok")

    @get("/readyz", responses=_responses(400, 421, 429, 503))
    async def readyz() -> Health:
        """Whether decisions can be made and stored; a write is tried, at most once a second."""
        await node.check_ready()
        warnings = host.own.warnings() + ([host.membership.ignored] if host.membership.ignored else [])
        return Health("degraded" if warnings else "ok", warnings)

    @get("/metrics", media_type=CONTENT_TYPE, responses=_responses(*ALWAYS))
    async def metrics() -> bytes:
        """Counters and latencies for Prometheus."""
        return node.metrics.text()

    return [healthz, readyz, metrics]


def make_app(node: NodeRuntime, plugins: Sequence[InitPlugin] = ()) -> Litestar:
    """The application of a running node; plugins may add to it, such as a page."""
    handlers = [*_decision_routes(node), *_arm_routes(node), *_network_routes(node), *_health_routes(node)]
    return Litestar(
        handlers,
        after_exception=[_log],
        exception_handlers={**dict.fromkeys(PROBLEMS, _problem), HTTPException: _refusal},
        logging_config=None,
        plugins=plugins,
        openapi_config=OpenAPIConfig(
            title="byzmab node",
            version=version("byzmab"),
            description="One agent of a Byzantine-resilient network: ask for an arm, tell the reward.",
            path="/schema",
            render_plugins=[StrictSchema()],
            use_handler_docstrings=True,
        ),
    )
