"""What is said over HTTP: the requests and answers of a node, for its service and for its clients."""

from typing import Annotated

import msgspec

from byzmab.core.contexts.reports import MOST_DIMENSIONS
from byzmab.core.filters.fates import Fate
from byzmab.core.traffic import Forced
from byzmab.node.evidence import Evidence, Lie
from byzmab.node.wire import MOST_ARMS, MOST_LETTERS

MOST_REWARDS = MOST_SELECTS = 10_000  # of one batch
# neither "." nor "..", which clients drop from paths; Python takes $ for a place before a last line break, too
EVENT_ID = r"^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$(?!\n)"
EVENT_ID_RULE = "1 to 128 letters, digits, '.', '_', ':' and '-', but neither '.' nor '..'"

EventId = Annotated[str, msgspec.Meta(pattern=EVENT_ID)]
ArmName = Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_LETTERS)]
Value = Annotated[float, msgspec.Meta(ge=0, le=1)]


class SelectRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Ask for an arm, at a context where there are any; the same event_id gets the same arm."""

    event_id: EventId | None = None
    context: Annotated[list[float], msgspec.Meta(max_length=MOST_DIMENSIONS)] | None = None


class Decision(msgspec.Struct, frozen=True):
    """The arm to pull for an event."""

    event_id: str
    arm: str
    round: int  # decisions after the first pulls, before this one
    estimates: dict[str, float]  # z of every arm now, at the latest context where there are any
    forced: Forced | None = None  # by a floor or a cap of traffic, where the policy would have chosen another arm


class SelectsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Ask for many arms at once, one for each event."""

    selects: Annotated[list[SelectRequest], msgspec.Meta(max_length=MOST_SELECTS)]


class Chosen(msgspec.Struct, frozen=True):
    """The arm to pull for an event of a batch; as in `Decision`."""

    event_id: str
    arm: str
    round: int
    forced: Forced | None = None


class SelectsAnswer(msgspec.Struct, frozen=True):
    """The decisions of a batch, in its order."""

    decisions: list[Chosen]
    estimates: dict[str, float]  # z of every arm after the last one


class RewardRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The reward of an event."""

    value: Value


class Reward(msgspec.Struct, forbid_unknown_fields=True):
    """The reward of an event in a batch."""

    event_id: EventId
    value: Value


class RewardsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Many rewards at once."""

    rewards: Annotated[list[Reward], msgspec.Meta(max_length=MOST_REWARDS)]


class RewardOutcome(msgspec.Struct, frozen=True):
    """What became of one reward of a batch: the status it would have got alone."""

    event_id: str
    status: int
    detail: str | None = None


class RewardsAnswer(msgspec.Struct, frozen=True):
    """What became of every reward of a batch, in its order."""

    results: list[RewardOutcome]


class ArmsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The arms to use from now on."""

    arms: Annotated[list[ArmName], msgspec.Meta(min_length=2, max_length=MOST_ARMS)]


class ResetRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The arm whose rewards are forgotten."""

    arm: ArmName


class PardonRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The neighbour to hear again, by its name or key; with the node's own key, the alarms about it end."""

    who: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_LETTERS)]


class HandoverRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The frame by which the node's key hands over to another."""

    frame: Annotated[str, msgspec.Meta(max_length=1024)]  # base64


class ArmState(msgspec.Struct, frozen=True):
    """One arm: one's own tally, and the belief after filtering."""

    arm: str
    pulls: int  # rewarded
    mean: float
    pending: int
    estimate: float
    weight: float
    doubt: float
    floor: float = 0.0  # the share of decisions it gets at least
    cap: float = 1.0  # and at most
    decisions: int = 0  # for it since the start, first pulls included


class ArmsAnswer(msgspec.Struct, frozen=True):
    """The arms in use, and those that were."""

    arms: list[ArmState]
    retired: list[str]


class Finding(msgspec.Struct, frozen=True):
    """A piece of evidence without its frames."""

    key: str  # the Byzantine agent's public key
    kind: Lie
    epoch: int
    seq: int
    found: float  # seconds since 1970


class PeerSummary(msgspec.Struct, frozen=True):
    """One neighbour as the stream tells it: small, whatever it said and was caught at."""

    name: str
    key: str
    endpoint: str | None
    hears: bool
    tells: bool
    expelled: bool
    epoch: int | None
    seq: int | None
    age: float | None  # seconds since its newest report was accepted
    fates: dict[str, Fate]  # of its newest report, per arm, now
    worths: dict[str, float]  # how many pulls of ours it is worth in our beliefs, per arm, now; none with contexts
    claimed: int  # pulls in its newest report, over all arms
    accepted: int
    rejected: int
    refusals: dict[str, int]  # rejected ones by reason
    kept: int  # these count arms, once for every report of ours
    trimmed: int
    implausible: int
    inconsistent: int
    unused: int
    unlike: int
    silent: int
    impossible: int
    findings: list[Finding]


class Peer(PeerSummary, frozen=True):
    """One neighbour: its newest report, what became of all of them, and evidence of lying."""

    pulls: dict[str, int]
    means: dict[str, float]  # none with contexts
    evidence: list[Evidence]


class NeighboursAnswer(msgspec.Struct, frozen=True):
    """All neighbours."""

    neighbours: list[Peer]


class PeersAnswer(msgspec.Struct, frozen=True):
    """All neighbours, under the name that `GET /v1/peers` has for them, which is deprecated."""

    peers: list[Peer]


class ReloadAnswer(msgspec.Struct, frozen=True):
    """All neighbours after the file was read again."""

    peers: list[Peer]
    ignored: list[str]  # settings that changed in the file, and are used only after a restart


class NodeState(msgspec.Struct, frozen=True):
    """A node at one moment."""

    name: str
    network: str
    key: str
    epoch: int
    seq: int
    round: int
    f: int
    kappa: float
    filter: str
    policy: str
    uptime: float
    decisions: int  # since the start, as are the next two
    rewards: int
    expired: int
    pending: int
    trouble: str | None
    arms: list[ArmState]
    warnings: list[str] = []  # what is wrong with this node's key
    forced: dict[str, int] = {}  # decisions since the start that a floor or a cap of traffic forced
    context: int | None = None  # dimensions of the contexts
    ignored: str | None = None  # why all reports are ignored, where they are


class ArmInterval(msgspec.Struct, frozen=True):
    """What the true mean of an arm may be."""

    arm: str
    estimate: float
    low: float
    high: float
    contends: bool  # whether it may still be the best arm


class BestAnswer(msgspec.Struct, frozen=True):
    """The arm that looks best now, and how sure that is."""

    arm: str
    confidence: float  # that no other arm is better; 0 while nothing can be said
    wanted: float
    reached: bool  # confidence ≥ wanted: one may stop
    arms: list[ArmInterval]  # which hold together with the wanted confidence


class Health(msgspec.Struct, frozen=True):
    """Whether a node can be asked."""

    status: str  # ok, or degraded: it decides, but something is wrong
    warnings: list[str] = []


class Problem(msgspec.Struct, frozen=True):
    """Why a request failed."""

    status_code: int
    detail: str
