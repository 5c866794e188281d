"""A host as others see it: its state, its arms and its neighbours as answers."""

from byzmab.core.filters import FILTERS
from byzmab.core.filters.fates import Fate
from byzmab.core.policies import POLICIES
from byzmab.node.api import ArmsAnswer, ArmState, NodeState, Peer, PeersAnswer
from byzmab.node.host import Host
from byzmab.node.neighbours import ACCEPTED, IMPOSSIBLE, REFUSED, NeighbourState


def arms(host: Host) -> ArmsAnswer:
    """The arms of a host."""
    return ArmsAnswer(_arms(host), host.decisions.retired)


def _arms(host: Host) -> list[ArmState]:
    agent = host.agent
    rows = zip(agent.arms, *(column.tolist() for column in agent.belief()), strict=True)
    states = []
    for arm, estimate, weight, doubt in rows:
        tally = agent.tally(arm)
        states.append(ArmState(str(arm), tally.pulls, tally.mean, tally.pending, estimate, weight, doubt))
    return states


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
        pending=len(host.decisions.pending),
        trouble=host.store.trouble,
        arms=_arms(host),
        warnings=host.own.warnings(),
    )


def peers(host: Host) -> PeersAnswer:
    """The neighbours of a host."""
    fates = host.agent.explain()
    neighbours = host.neighbourhood.neighbours.items()
    return PeersAnswer([_peer(host, neighbour, fates.get(name, {})) for name, neighbour in neighbours])


def _peer(host: Host, neighbour: NeighbourState, fates: dict[str | int, Fate]) -> Peer:
    settings, counts = neighbour.settings, neighbour.counts
    newest = neighbour.newest.signed if neighbour.newest is not None else None
    silence = dict.fromkeys(host.agent.arms, Fate.SILENT)
    return Peer(
        name=settings.name,
        key=settings.key,
        endpoint=settings.endpoint,
        hears=settings.hears,
        tells=settings.tells,
        expelled=neighbour.expelled,
        epoch=None if newest is None else newest.epoch,
        seq=None if newest is None else newest.seq,
        age=None if newest is None else max(0.0, host.clock.steady() - neighbour.steady),
        pulls={} if newest is None else dict(zip(newest.arms, newest.pulls, strict=True)),
        means={} if newest is None else dict(zip(newest.arms, newest.means, strict=True)),
        fates={str(arm): fate for arm, fate in (fates or silence).items()},
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
        silent=counts[Fate.SILENT],
        impossible=counts[IMPOSSIBLE],
        evidence=neighbour.evidence,
    )
