"""How a node is set up: NODE.toml, checked before anything starts.

Relative paths in the file are relative to the file. Neighbours, `equivocators` and `traffic` may be changed while the
node runs: edit the file, then send SIGHUP or POST /v1/reload. Everything else is read at the start.
"""

import ipaddress
import re
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from byzmab.core import recommended, traffic
from byzmab.core.agent import SHARES, VETTING, Agent
from byzmab.core.contexts.statistics import RIDGE
from byzmab.core.errors import BadInput, nearest
from byzmab.core.liars import TooFewNeighbours
from byzmab.node.identity import public_bytes
from byzmab.node.packing import bytes_per_arm
from byzmab.node.transport.base import MOST_BYTES, Link
from byzmab.node.wire import MOST_ARMS, MOST_LETTERS
from byzmab.toml import read_toml, toml_line

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
NAME_RULE = "letters, digits, '.', '_' and '-', at most 64 of them"
ROOM = MOST_BYTES - 24 * 1024  # bytes of a frame that arms may take; the rest is for header and witness marks
PER_ARM = 24  # bytes that an arm takes in a frame besides its name and what contexts need
ALL_REWARDS = "all"

MOST_SECONDS = 1e9
Seconds = Annotated[float, msgspec.Meta(gt=0, le=MOST_SECONDS)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A table of the file in which a misspelt key is an error."""


class Neighbour(Strict):
    """A node that we hear, or that hears us, or both."""

    name: str  # what we call it
    key: str  # its public key
    endpoint: str | None = None  # where to connect to, such as tcp/host:port; if not given, it connects to us
    hears: bool = True  # we hear it
    tells: bool = True  # we tell it
    certificate: str | None = None  # the common name on its certificate; its name if not given

    def link(self) -> Link:
        """The link of this neighbour, as the transport takes it."""
        return Link(self.name, self.key, self.endpoint, self.hears, self.tells, self.certificate)


class Tls(Strict):
    """Files for links that are encrypted and authenticated on both sides."""

    authority: str  # certificates of those who may vouch for neighbours
    certificate: str
    private_key: str


class Links(Strict):
    """Where neighbours connect to us."""

    listen: tuple[str, ...] = ()  # such as tcp/0.0.0.0:7447 or tls/0.0.0.0:7447
    tls: Tls | None = None


class Traffic(Strict):
    """Which share of decisions arms get: a number for every arm, or a table of some arms and theirs."""

    floor: float | dict[str, float] = 0.0  # at least
    cap: float | dict[str, float] = 1.0  # at most

    def __post_init__(self) -> None:
        self.shares()

    def shares(self) -> traffic.Traffic:
        """The floors and caps as an agent has them, or BadInput."""
        return traffic.Traffic(self.floor, self.cap)


class HttpTls(Strict):
    """Files for HTTP that is encrypted by the node itself; they are read again when they change."""

    certificate: str  # the node's, then those between it and an authority that clients trust
    private_key: str


class Http(Strict):
    """Where the application asks."""

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8700
    token_file: str | None = None  # a file with the bearer token; needed wherever others than this machine can connect
    body_limit: Annotated[int, msgspec.Meta(ge=1024, le=2**30)] = 1_048_576  # bytes of a request
    body_wait: Seconds = 10.0  # for a request to arrive whole
    rate_limit: Annotated[float, msgspec.Meta(ge=0)] = 0.0  # requests per second and address; 0: none
    connections: Annotated[int, msgspec.Meta(ge=1)] = 4096  # at the same time
    tls: HttpTls | None = None  # if not given, HTTP is not encrypted


class Config(Strict):
    """A node: who it is, how it decides, which neighbours it hears."""

    name: str
    network: str  # only nodes of the same network understand each other
    key: str  # file of byzmab keygen
    data: str  # directory of the node's state
    arms: tuple[str, ...]  # at the first start; later PUT /v1/arms changes them
    f: int | str = recommended.F  # auto: as many as the guarantee allows for the neighbours that are heard
    kappa: float = 1.5
    filter: str = recommended.AUTO  # auto: what we recommend, guarded and moss, or with contexts pooled and tuned
    policy: str = recommended.AUTO
    tally: str = ALL_REWARDS  # nothing else: to neighbours a count that falls is proof of a lie
    seed: int | None = None  # of ties; if not given, it follows from the key
    context: int | None = None  # dimensions of the contexts on which rewards depend; if not given, there are none
    ridge: float = RIDGE  # these three with contexts only
    shares: str = SHARES
    vetting: bool = VETTING
    report_every: Seconds = 1.0
    report_growth: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None  # report only once an arm's pulls grew so
    heartbeat: Seconds | None = None  # with it: seconds of quiet after which a report is sent; a third of max_age
    max_age: Seconds = 60.0  # an older report counts as silence
    catch_up: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 5.0  # seconds at most for what neighbours know of our key
    reward_wait: Seconds | None = None  # after which a reward is no longer awaited; if not given, for ever
    default_reward: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None  # what counts then; if not given, nothing
    equivocators: Literal["expel", "keep"] = "expel"
    logs: Literal["json", "text"] = "json"
    traffic: Traffic = msgspec.field(default_factory=Traffic)
    http: Http = msgspec.field(default_factory=Http)
    links: Links = msgspec.field(default_factory=Links)
    neighbours: tuple[Neighbour, ...] = ()

    def __post_init__(self) -> None:
        for what, name in (("name", self.name), ("network", self.network)):
            check_name(what, name)
        with_contexts = self.context is not None
        if self.filter == recommended.AUTO:
            self.filter = recommended.CONTEXT_FILTER if with_contexts else recommended.FILTER
        if self.policy == recommended.AUTO:
            self.policy = recommended.CONTEXT_POLICY if with_contexts else recommended.POLICY
        self.agent(self.seed or 0)
        check_arms(self.arms, self.context)
        if self.tally != ALL_REWARDS:
            raise BadInput(
                f"tally {self.tally!r} is not what a node does: a count that falls proves a lie to its neighbours; "
                f"allowed: {ALL_REWARDS}"
            )
        _check_neighbours(self.neighbours)
        self._check_endpoints()
        if self.default_reward is not None and self.reward_wait is None:
            raise BadInput("default_reward needs reward_wait, the seconds after which it counts")
        if self.heartbeat is not None and self.report_growth is None:
            raise BadInput("heartbeat needs report_growth, with which a node may be quiet")
        if self.heartbeat is not None and self.heartbeat >= self.max_age:
            raise BadInput(f"heartbeat {self.heartbeat} is not allowed; allowed: less than max_age, {self.max_age}")
        if not is_loopback(self.http.host) and self.http.token_file is None:
            raise BadInput(f"http.host {self.http.host!r} is not loopback and needs http.token_file")

    def agent(self, seed: int) -> Agent:
        """A new agent of this node, or BadInput."""
        decides = self.arms, self.f, self.kappa, self.filter, self.policy, seed, self.heard
        contexts = {"context": self.context, "ridge": self.ridge, "shares": self.shares, "vetting": self.vetting}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TooFewNeighbours)  # a node says so in its log, in /readyz and on its page
            return Agent(*decides, **contexts)  # type: ignore[arg-type]

    @property
    def heard(self) -> int:
        """How many neighbours are heard."""
        return sum(neighbour.hears for neighbour in self.neighbours)

    @property
    def longest_quiet(self) -> float:
        """Seconds after which a report is sent though nothing is due, so that neighbours do not take us for silent."""
        return self.max_age / 3.0 if self.heartbeat is None else self.heartbeat

    def _check_endpoints(self) -> None:
        """BadInput unless all endpoints are TLS, or none is."""
        start = "tcp/" if self.links.tls is None else "tls/"
        endpoints = [("links.listen", endpoint) for endpoint in self.links.listen]
        endpoints += [
            (f"neighbours[{number}].endpoint", item.endpoint or start) for number, item in enumerate(self.neighbours)
        ]
        for where, endpoint in endpoints:
            if not endpoint.startswith(start):
                without = "without" if self.links.tls is None else "with"
                raise BadInput(f"{where} {endpoint!r} is not allowed {without} links.tls; allowed: {start}host:port")


RELOADED = frozenset({"neighbours", "equivocators", "traffic"})  # settings that are read again while a node runs


def ignored_changes(running: Strict, read: Strict, table: str = "") -> list[str]:
    """The settings that differ in a file that is read again, and that are used only after a restart."""
    changed: list[str] = []
    for name in running.__struct_fields__:
        old, new = getattr(running, name), getattr(read, name)
        if old == new or f"{table}{name}" in RELOADED:
            continue
        both_tables = isinstance(old, Strict) and isinstance(new, Strict)
        changed += ignored_changes(old, new, f"{table}{name}.") if both_tables else [f"{table}{name}"]
    return changed


def check_name(what: str, name: str) -> None:
    """BadInput unless a name can stand in files, addresses and metrics."""
    if not NAME.match(name):
        raise BadInput(f"{what} {name!r} is not allowed; allowed: {NAME_RULE}")


def check_arms(arms: tuple[str, ...], context: int | None) -> None:
    """BadInput unless these arms can be told in one frame, with contexts of so many dimensions if there are any."""
    if not 2 <= len(set(arms)) == len(arms) <= MOST_ARMS:
        raise BadInput(f"arms: {len(arms)} names are not allowed; allowed: 2 to {MOST_ARMS} different ones")
    for arm in arms:
        if not 0 < len(arm) <= MOST_LETTERS or not arm.isprintable():
            raise BadInput(f"arms: {arm[:MOST_LETTERS]!r} is not allowed; allowed: 1 to {MOST_LETTERS} printable signs")
    each = PER_ARM + (bytes_per_arm(context) if context else 0)
    if sum(len(arm.encode()) + each for arm in arms) > ROOM:
        what = f"{len(arms)} with contexts of {context} dimensions are" if context else "their names are"
        raise BadInput(f"arms: {what} too long for one report; allowed: {ROOM} bytes with {each} for each and its name")


def _check_neighbours(neighbours: tuple[Neighbour, ...]) -> None:
    for number, neighbour in enumerate(neighbours):
        check_name(f"neighbours[{number}].name", neighbour.name)
        try:
            public_bytes(neighbour.key)
        except BadInput as error:
            raise BadInput(f"neighbours[{number}].{error}") from None
    for what in ("name", "key"):
        told = [getattr(neighbour, what) for neighbour in neighbours]
        twice = next((value for value in told if told.count(value) > 1), None)
        if twice is not None:
            raise BadInput(f"neighbours: two have the {what} {twice!r}; allowed: each once")


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can connect to an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_config(path: str | Path) -> Config:
    """The node of a file, or BadInput with the line that is wrong."""
    file = read_toml(path, "node file")
    try:
        config = msgspec.convert(file.data, Config)
    except (msgspec.ValidationError, BadInput) as error:
        where, sentence = _what_is_wrong(str(error))
        raise BadInput(f"{file.at(where)}: {sentence}") from None
    return _with_paths_from(Path(path).parent, config)


def _what_is_wrong(message: str) -> tuple[str, str]:
    """Where in the file an error is, such as neighbours[0].key, and the error in one sentence."""
    said, _, path = message.partition(" - at `$")
    path = path.strip(".`")
    if found := re.match(r"Object (contains unknown|missing required) field `([^`]*)`", said):
        where = f"{path}.{found[2]}".lstrip(".")
        if found[1] == "missing required":
            return where, f"key {where!r} is missing"
        tables = {"traffic": Traffic, "http": Http, "links": Links, "links.tls": Tls, "http.tls": HttpTls}
        table = tables.get(path, Neighbour if path else Config)
        return where, f"key {where!r} is not known; {nearest(found[2], table.__struct_fields__)}"
    if path:
        return path, f"{path}: {said[0].lower()}{said[1:]}".replace(" | null", "")  # TOML has none
    return re.split(r"[ :]", said, maxsplit=1)[0], said


def _with_paths_from(directory: Path, config: Config) -> Config:
    config.key, config.data = str(directory / config.key), str(directory / config.data)
    if config.http.token_file is not None:
        config.http.token_file = str(directory / config.http.token_file)
    for files in (config.links.tls, config.http.tls):
        for name in files.__struct_fields__ if files is not None else ():
            setattr(files, name, str(directory / getattr(files, name)))
    return config


def write_config(config: Config, path: str | Path) -> None:
    """Write a file from which `read_config` reads the same node, defaults left out."""
    whole: dict[str, Any] = msgspec.to_builtins(config)
    lines = [*_rows(config, whole, ("traffic", "http", "links", "neighbours"))]
    lines += ["", "[traffic]", *_rows(config.traffic, whole["traffic"])]
    lines += ["", "[http]", *_rows(config.http, whole["http"], ("tls",))]
    if config.http.tls is not None:
        lines += ["", "[http.tls]", *_rows(config.http.tls, whole["http"]["tls"])]
    lines += ["", "[links]", *_rows(config.links, whole["links"], ("tls",))]
    if config.links.tls is not None:
        lines += ["", "[links.tls]", *_rows(config.links.tls, whole["links"]["tls"])]
    for neighbour, row in zip(config.neighbours, whole["neighbours"], strict=True):
        lines += ["", "[[neighbours]]", *_rows(neighbour, row)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(table: Strict, values: dict[str, Any], without: tuple[str, ...] = ()) -> list[str]:
    defaults = {field.name: field.default for field in msgspec.structs.fields(table)}
    return [
        toml_line(name, value)
        for name, value in values.items()
        if name not in without and value is not None and value != defaults[name]
    ]
