"""A host as others see it: its state, its arms and its neighbours as answers."""

import msgspec

from byzmab.core.errors import BadInput
from byzmab.core.filters import FILTERS
from byzmab.core.filters.fates import Fate
from byzmab.core.policies import POLICIES
from byzmab.core.traffic import Forced
from byzmab.node.api import (
    ArmInterval,
    ArmsAnswer,
    ArmState,
    BestAnswer,
    Finding,
    NodeState,
    Peer,
    PeersAnswer,
    PeerSummary,
)
from byzmab.node.evidence import Evidence
from byzmab.node.host import Host
from byzmab.node.neighbours import ACCEPTED, IMPOSSIBLE, REFUSED, NeighbourState
from byzmab.node.wire import SignedReport


def arms(host: Host) -> ArmsAnswer:
    """The arms of a host."""
    return ArmsAnswer(_arms(host), host.decisions.retired)


def _arms(host: Host) -> list[ArmState]:
    agent, chosen = host.agent, host.decisions.chosen
    shares = agent.traffic.floors(agent.arms), agent.traffic.caps(agent.arms)
    believed = (column.tolist() for column in agent.belief()[:3])  # z, w and d; own data are in the tally
    rows = zip(agent.arms, *believed, *shares, strict=True)
    states = []
    for arm, estimate, weight, doubt, floor, cap in rows:
        name, tally = str(arm), agent.tally(arm)
        own = name, tally.pulls, tally.mean, tally.pending
        states.append(ArmState(*own, estimate, weight, doubt, floor, cap, chosen[name]))
    return states


def best(host: Host, confidence: float) -> BestAnswer:
    """The arm that looks best now, and how sure that is."""
    if host.config.context is not None:
        asked = "POST /v1/select, whose estimates are at its context"
        raise BadInput(f"best is not allowed with contexts, on which it depends; allowed: {asked}")
    host.membership.forget_stale()
    found = host.agent.best(confidence)
    arms = [ArmInterval(str(interval.arm), *interval[1:]) for interval in found.intervals]
    return BestAnswer(str(found.arm), found.confidence, found.wanted, found.reached, arms)


def state(host: Host) -> NodeState:
    """All of a host but its neighbours."""
    config, agent, counts = host.config, host.agent, host.decisions.counts
    return NodeState(
        name=config.name,
        network=config.network,
        key=host.key.public,
        epoch=host.epoch,
        seq=host.seq,
        round=agent.time,
        f=agent.f,
        kappa=agent.kappa,
        filter=FILTERS.name_of(agent.filter),
        policy=POLICIES.name_of(agent.policy),
        uptime=host.clock.steady() - host.began,
        decisions=counts.decisions,
        rewards=counts.rewards,
        expired=counts.expired,
        pending=host.decisions.pending,
        trouble=host.store.trouble,
        arms=_arms(host),
        warnings=host.own.warnings(),
        ignored=host.membership.ignored,
        forced={why: host.decisions.forced[why] for why in Forced},
        context=config.context,
    )


def peers(host: Host) -> PeersAnswer:
    """The neighbours of a host, with their newest reports and all evidence."""
    neighbours = host.neighbourhood.neighbours
    return PeersAnswer([_peer(summary, neighbours[summary.name]) for summary in peer_summaries(host)])


def peer_summaries(host: Host) -> list[PeerSummary]:
    """The neighbours of a host, without what is long."""
    fates, worths = host.agent.explain(), host.agent.worths()
    neighbours = host.neighbourhood.neighbours.items()
    return [_summary(host, neighbour, fates.get(name, {}), worths.get(name, {})) for name, neighbour in neighbours]


def finding(piece: Evidence) -> Finding:
    """A piece of evidence without its frames."""
    return Finding(piece.key, piece.kind, piece.epoch, piece.seq, piece.found)


def _peer(summary: PeerSummary, neighbour: NeighbourState) -> Peer:
    newest = neighbour.newest.signed if neighbour.newest is not None else None
    return Peer(
        **msgspec.structs.asdict(summary),
        pulls={} if newest is None else dict(zip(newest.arms, newest.pulls, strict=True)),
        means=dict(zip(newest.arms, newest.means, strict=True)) if isinstance(newest, SignedReport) else {},
        evidence=neighbour.evidence,
    )


def _summary(
    host: Host, neighbour: NeighbourState, fates: dict[str | int, Fate], worths: dict[str | int, float]
) -> PeerSummary:
    settings, counts = neighbour.settings, neighbour.counts
    newest = neighbour.newest.signed if neighbour.newest is not None else None
    silence = dict.fromkeys(host.agent.arms, Fate.SILENT)
    return PeerSummary(
        name=settings.name,
        key=settings.key,
        endpoint=settings.endpoint,
        hears=settings.hears,
        tells=settings.tells,
        expelled=neighbour.expelled,
        epoch=None if newest is None else newest.epoch,
        seq=None if newest is None else newest.seq,
        age=None if newest is None else max(0.0, host.clock.steady() - neighbour.steady),
        fates={str(arm): fate for arm, fate in (fates or silence).items()},
        worths={str(arm): worth for arm, worth in worths.items()},
        claimed=0 if newest is None else int(sum(newest.pulls)),
        accepted=counts[ACCEPTED],
        rejected=counts[REFUSED],
        refusals={
            name.removeprefix(f"{REFUSED}: "): count
            for name, count in sorted(counts.items())
            if name.startswith(f"{REFUSED}: ")
        },
        kept=counts[Fate.KEPT] + counts[Fate.HEARD],
        trimmed=counts[Fate.TRIMMED],
        implausible=counts[Fate.IMPLAUSIBLE],
        inconsistent=counts[Fate.INCONSISTENT],
        unused=counts[Fate.UNUSED],
        unlike=counts[Fate.UNLIKE],
        silent=counts[Fate.SILENT],
        impossible=counts[IMPOSSIBLE],
        findings=[finding(piece) for piece in neighbour.evidence],
    )
