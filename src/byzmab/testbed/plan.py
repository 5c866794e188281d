"""What a testbed's Byzantine agents agree on, in a file that they follow: which agents lie, how, and what is true."""

from collections.abc import Collection
from pathlib import Path

import msgspec
import numpy as np

from byzmab.attacks import ATTACKS, CONTEXT_ATTACKS, Attack
from byzmab.core.errors import BadInput
from byzmab.core.mistakes import check_functions
from byzmab.core.model import AnyReport
from byzmab.core.recommended import POLICY


class ContextPlan(msgspec.Struct, frozen=True):
    """What is true where rewards depend on contexts, and how they are seen."""

    d: int
    ridge: float  # λ
    shares: str
    vetting: bool
    parameters: tuple[tuple[float, ...], ...]  # θ of every arm; of data, the linear fit
    constant: tuple[float, ...]  # its product with every context is 1
    leans: tuple[tuple[float, ...], ...]  # whereto the contexts of each agent lean, in the order of their numbers
    data: str | None = None  # the file that contexts and means are drawn from, and its digest


class AttackPlan(msgspec.Struct, frozen=True):
    """What a testbed's Byzantine agents agree on. Agents may stand in any order, but Byzantine agents come first."""

    attack: str
    byzantine: int  # the first so many agents lie
    agents: tuple[str, ...]  # names, which are the same for all
    graph: tuple[tuple[int, ...], ...]  # the agents that each agent hears, numbered from 0, ascending
    true_means: tuple[float, ...]  # μ, in the order of `arms`
    arms: tuple[str, ...]
    f: int | str  # a number, or auto
    kappa: float
    filter: str
    seed: int = 0
    contexts: ContextPlan | None = None  # None: the same means whatever the context
    policy: str = POLICY


def read_plan(path: Path) -> AttackPlan:
    """The plan in a file, or BadInput."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=AttackPlan)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"attack plan {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None


def write_plan(plan: AttackPlan, path: Path) -> None:
    """Write a plan, whole or not at all; a running Byzantine agent follows it from its next report on."""
    new = path.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(plan))
    new.replace(path)


def with_liars(plan: AttackPlan, attack: str, liars: Collection[int]) -> AttackPlan:
    """The plan with other Byzantine agents, numbered from 1: they come first, and the graph follows."""
    numbers = range(len(plan.agents))
    order = sorted(numbers, key=lambda number: (number + 1 not in liars, number))
    new = {number: index for index, number in enumerate(order)}
    return msgspec.structs.replace(
        plan,
        attack=attack,
        byzantine=len(liars),
        agents=tuple(plan.agents[number] for number in order),
        graph=tuple(tuple(sorted(new[sender] for sender in plan.graph[number])) for number in order),
    )


def attack_of(plan: AttackPlan) -> Attack:
    """The attack of a plan; BadInput where there is none of that name, or it cannot be told over the wire."""
    attack: Attack = (ATTACKS if plan.contexts is None else CONTEXT_ATTACKS).resolve(plan.attack)
    if plan.contexts is not None and attack.lie_at is None:
        raise BadInput(f"attack {plan.attack!r} does not go with context; allowed: {', '.join(attacks_for(plan))}")
    if plan.contexts is not None and attack.sees_contexts:
        raise BadInput(
            f"attack {plan.attack!r} is not what nodes do: it knows a context that comes after its report; "
            f"allowed: {', '.join(attacks_for(plan))}"
        )
    return attack


def attack_time(own: AnyReport, plan: AttackPlan) -> int:
    """The round in which Byzantine agents are, by the pulls of the one that asks.

    Time 0 is when every arm was pulled once. The round may stand still from one report to the next.
    """
    return max(0, int(np.sum(own.pulls)) - len(plan.arms))


def compiled_attack(plan: AttackPlan) -> Attack:
    """The attack of a plan, its functions compiled; BadInput where one has a mistake."""
    attack = attack_of(plan)
    check_functions(attack.kind, attack.functions())
    return attack


def attacks_for(plan: AttackPlan) -> list[str]:
    """The names of all attacks that can be told over the wire."""
    if plan.contexts is None:
        return list(ATTACKS.entries)
    return [name for name in CONTEXT_ATTACKS.entries if not CONTEXT_ATTACKS.resolve(name).sees_contexts]
