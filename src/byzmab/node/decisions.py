"""Deciding for an application: one agent, the events that wait for a reward, and what must be stored of both."""

import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.agent import FORMAT, Agent
from byzmab.core.contexts.model import ContextModel
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats
from byzmab.core.traffic import Forced
from byzmab.node.api import EVENT_ID, EVENT_ID_RULE
from byzmab.node.config import Config, Traffic, check_arms
from byzmab.node.packing import NUMBER, pack, unpack
from byzmab.node.records import Arm, Event, EventState, State, new_event_id
from byzmab.node.store import NodeStore, StoreTrouble

AT_HAND = 10_000  # events kept in memory; older ones are looked up on the disk
OVERDUE = 256  # events that expire at once
DECIDED_BY = ("f", "kappa", "filter", "policy", "context", "ridge", "shares", "vetting", "max_age", "reward_wait")
log = logging.getLogger(__name__)

Context = Sequence[float] | Floats | None  # None where there are no contexts


class UnknownEvent(Exception):
    """No such event, or one settled so long ago that it is forgotten."""


class Conflict(Exception):
    """Another reward was counted for the event."""


class TooLate(Exception):
    """The reward of the event is no longer awaited."""


class Counts(NamedTuple):
    """What happened since the start."""

    decisions: int = 0
    rewards: int = 0
    expired: int = 0


class Decisions:
    """The agent of a node and its events; every change goes to the store.

    Events are on the disk, so that millions may wait for a reward; the latest ones, and all that the disk does not hold
    yet, are at hand.
    """

    def __init__(self, config: Config, seed: int, store: NodeStore, state: State, now: Callable[[], float]) -> None:
        self._config, self._store, self._now = config, store, now
        self.agent = _agent(config, seed, state)
        self.set_traffic(config.traffic)
        self.counts = Counts()
        self.chosen: Counter[str] = Counter()  # decisions by arm, since the start
        self.forced: Counter[Forced] = Counter()  # those that a floor or a cap forced
        self.pending = sum(arm.pending for arm in state.arms)  # events that wait for a reward
        self._at_hand: dict[str, tuple[int, Event]] = {}  # with the batch that brings it to the disk
        self._indices = {arm.arm: arm.index for arm in state.arms}
        if not state.arms:
            self._indices = {arm: index for index, arm in enumerate(config.arms)}
            if config.context is not None:  # before the arms, by which data is known to be begun
                with store.changing() as batch:
                    batch.facts["context"] = config.context
            self._store_arms(self._indices)
        self._note_settings(state)

    @property
    def retired(self) -> list[str]:
        """Arms that were used once and are not now."""
        used = set(self.agent.arms)
        return [arm for arm in self._indices if arm not in used]

    def select(self, event_id: str | None = None, context: Context = None) -> Event:
        """Choose an arm, at a context where there are any; the same event has the same arm, and its first context."""
        seen = self.agent.check_context(context)
        if event_id is not None:
            if not re.match(EVENT_ID, event_id):
                raise BadInput(f"event_id is not allowed; allowed: {EVENT_ID_RULE}")
            event = self._find(event_id)
            if event is not None:
                return event
        self._check_store()
        time = self.agent.time
        arm = str(self.agent.select(seen))
        at = None if seen is None else seen.astype(NUMBER).tobytes()
        event = Event(event_id or new_event_id(), arm, time, self._now(), forced=self.agent.forced, context=at)
        self.pending += 1
        with self._store.changing() as batch:
            self._keep_at_hand(batch.number, event)
            batch.chosen.append(event)
            batch.tallies[arm] = self._tally(arm)
            batch.facts["round"] = self.agent.time
        self.counts = self.counts._replace(decisions=self.counts.decisions + 1)
        self.chosen[arm] += 1
        if event.forced is not None:
            self.forced[event.forced] += 1
        return event

    def reward(self, event_id: str, value: float) -> None:
        """Count the reward of an event, once."""
        if not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
            raise BadInput(f"value {value!r} is not allowed; allowed: a number in [0, 1]")
        event = self._find(event_id)
        if event is None:
            raise UnknownEvent(f"event {event_id!r} is not known")
        if event.state is EventState.EXPIRED:
            raise TooLate(f"event {event_id!r} has waited longer than {self._config.reward_wait} s for its reward")
        if event.state is EventState.REWARDED:
            if event.value != value:
                raise Conflict(f"event {event_id!r} was rewarded with {event.value}")
            return
        self._check_store()
        self.agent.reward(event.arm, value, _context_of(event))
        self._settle(event, EventState.REWARDED, float(value))
        self.counts = self.counts._replace(rewards=self.counts.rewards + 1)

    def expire(self) -> int:
        """Settle some overdue events, with the default reward or none; return how many: 0 if there are no more."""
        wait, default = self._config.reward_wait, self._config.default_reward
        if wait is None or not self.pending or self._store.trouble:
            return 0
        overdue = self._overdue(self._now() - wait)
        for event in overdue:
            if default is None:
                self.agent.give_up(event.arm)
            else:
                self.agent.reward(event.arm, default, _context_of(event))
            self._settle(event, EventState.EXPIRED, default)
        self.counts = self.counts._replace(expired=self.counts.expired + len(overdue))
        return len(overdue)

    def set_arms(self, arms: Sequence[str]) -> None:
        """Use these arms from now on; what is known of the others is kept, should they come back."""
        check_arms(tuple(arms), self._config.context)
        self._check_store()
        before = set(map(str, self.agent.arms))
        self.agent.set_arms(arms)
        for arm in arms:
            self._indices.setdefault(arm, len(self._indices))
        self._store_arms(before.symmetric_difference(arms))

    def reset(self, arm: str) -> None:
        """Forget the rewards of an arm; those still to come count."""
        self.agent.reset(arm)
        with self._store.changing() as batch:
            batch.tallies[arm] = self._tally(arm)

    def check_arm(self, arm: str) -> None:
        """BadInput unless there is such an arm, in use or retired; StoreTrouble if nothing can be changed now."""
        self._check_store()
        self.agent.tally(arm)

    def warm_start(self, table: Mapping[str, tuple[int, float]]) -> None:
        """Begin with past counts, arm → (pulls, mean); BadInput once anything was decided."""
        self._check_store()
        if self._store.newest_choice():
            raise BadInput("warm start is not allowed once a node has decided; allowed: before its first decision")
        self.agent.warm_start(table)  # type: ignore[arg-type]  # a node's arms are texts
        with self._store.changing() as batch:
            batch.facts["round"] = self.agent.time
            batch.tallies |= {arm: self._tally(arm) for arm in self._indices}

    def check_traffic(self, traffic: Traffic) -> None:
        """BadInput unless the arms in use can have these floors and caps."""
        try:
            traffic.shares().check(self.agent.arms)
        except BadInput as error:
            raise BadInput(f"traffic: {error}") from None

    def set_traffic(self, traffic: Traffic) -> None:
        """Give arms these shares of decisions, at least and at most, from now on; BadInput if that cannot be."""
        self.check_traffic(traffic)
        self.agent.set_traffic(traffic.floor, traffic.cap)

    def _note_settings(self, state: State) -> None:
        """Log what is decided by, where it differs from the last start: by the file, or by defaults of this version."""
        agent, told = self.agent, self._config
        now: dict[str, Any] = {name: getattr(told, name) for name in DECIDED_BY}
        now |= {"filter parameters": agent.filter.params, "policy parameters": agent.policy.params}
        now = json.loads(json.dumps(now | {"version": version("byzmab")}))
        before = json.loads(state.facts.get("settings", "{}"))
        changed = {name: [before[name], value] for name, value in now.items() if before.get(name, value) != value}
        if changed:
            log.warning("settings differ from the last start, by the file or by defaults", extra={"changed": changed})
        if before != now:
            with self._store.changing() as batch:
                batch.facts["settings"] = json.dumps(now)

    def _find(self, event_id: str) -> Event | None:
        if event_id in self._at_hand:
            return self._at_hand[event_id][1]
        return self._store.event(event_id)

    def _overdue(self, before: float) -> list[Event]:
        """The oldest events on the disk that wait for a reward and were chosen before a time."""
        overdue = []
        for event in self._store.oldest_pending(OVERDUE):
            if event.chosen > before:
                break
            _, newer = self._at_hand.get(event.event_id, (0, event))
            if newer.state is EventState.PENDING:  # the disk may not know yet that it is settled
                overdue.append(newer)
        return overdue

    def _settle(self, event: Event, state: EventState, value: float | None) -> None:
        event.state, event.value, event.settled = state, value, self._now()
        self.pending -= 1
        with self._store.changing() as batch:
            self._keep_at_hand(batch.number, event)
            batch.settled.append((state, value, event.settled, event.event_id))
            batch.tallies[event.arm] = self._tally(event.arm)
            if self.agent.context is not None:
                batch.facts["lead"] = self.agent.lead

    def _keep_at_hand(self, batch: int, event: Event) -> None:
        """Keep an event in memory as the latest; the oldest ones that are on the disk make room."""
        self._at_hand.pop(event.event_id, None)
        self._at_hand[event.event_id] = (batch, event)
        while len(self._at_hand) > AT_HAND:
            oldest, (number, _) = next(iter(self._at_hand.items()))
            if number > self._store.durable:
                break  # the disk does not know it yet
            del self._at_hand[oldest]

    def _check_store(self) -> None:
        if self._store.trouble:
            raise StoreTrouble(self._store.trouble)

    def _tally(self, arm: str) -> Arm:
        tally, statistics = self.agent.tally(arm), None
        if self.agent.context is not None:
            moment, gram = self.agent.statistics(arm)
            statistics = pack(moment[None], gram[None])
        numbers = tally.pulls, tally.total, tally.pending, statistics
        return Arm(arm, self._indices[arm], arm in self.agent.arms, *numbers)

    def _store_arms(self, arms: Iterable[str]) -> None:
        with self._store.changing() as batch:
            for arm in arms:
                batch.tallies[arm] = self._tally(arm)


def _agent(config: Config, seed: int, state: State) -> Agent:
    """The agent of a stored state, with the settings of `config`."""
    if not state.arms:
        return config.agent(seed)
    if (begun := state.facts.get("context")) != config.context:
        allowed = f"{begun or 'none'}, with which its data was begun, or another data directory"
        raise BadInput(f"context {config.context or 'none'} is not allowed; allowed: {allowed}")
    rows = [([arm.arm, arm.pulls, arm.total, arm.pending], arm.in_use) for arm in state.arms]
    saved = {
        "format": FORMAT,
        "f": config.f,
        "kappa": config.kappa,
        "filter": config.filter,
        "policy": config.policy,
        "seed": seed,
        "neighbours": config.heard,
        "time": state.facts["round"],
        "arms": [row for row, in_use in rows if in_use],
        "retired": [row for row, in_use in rows if not in_use],
        "inbox": [],
    }
    if config.context is not None:
        saved |= {"context": config.context, "ridge": config.ridge, "shares": config.shares, "vetting": config.vetting}
        saved |= {"trial": [state.facts.get("lead", 0.0)]}
        saved |= {"latest": None, "statistics": [[arm.arm, *_row_of(arm, config).tolist()] for arm in state.arms]}
    return Agent.from_json(json.dumps(saved))


def _row_of(arm: Arm, config: Config) -> Floats:
    """The row of statistics of a stored arm."""
    model = ContextModel(config.context or 0, config.ridge)
    if not arm.pulls or arm.statistics is None:
        return np.asarray(model.blank(1)[0])
    try:
        (moment,), (gram,) = unpack(arm.statistics, model.dimensions)
    except ValueError:
        raise BadInput(f"statistics of arm {arm.arm!r} in the data are not of {model.dimensions} dimensions") from None
    return model.own_row(arm.pulls, moment, gram)


def _context_of(event: Event) -> Floats | None:
    return None if event.context is None else np.frombuffer(event.context, NUMBER)
