"""The nodes of a testbed: one process each, started, killed, cut off, hung and stopped from here.

>>> from pathlib import Path
>>> from byzmab import Experiment
>>> from byzmab.testbed.network import Network
>>> with Network(Experiment(agents=5, byzantine=1), Path("net")) as network:  # doctest: +SKIP
...     network.kill(3)
...     network.restart(3)
"""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self, cast

import httpx
import msgspec

from byzmab.core.errors import BadInput
from byzmab.experiment.assumptions import warn_of
from byzmab.experiment.experiment import Experiment
from byzmab.node.config import Neighbour, read_config, write_config
from byzmab.testbed.node_process import NodeProcess
from byzmab.testbed.plan import AttackPlan, compiled_attack, with_liars, write_plan
from byzmab.testbed.provision import PLAN, Equivocators, Member, Options, check_equivocators, provision
from byzmab.testbed.rewards import stream_of

START = 120.0  # seconds that nodes may take to be ready
STOP = 10.0  # seconds that they may take to end before they are killed
POLL = 0.05


class Network:
    """The nodes of one network. Agents are numbered from 1, and those up to `byzantine` lie."""

    def __init__(self, experiment: Experiment, directory: Path, options: Options = Options()) -> None:  # noqa: B008
        self.deployment = provision(experiment, directory, options)
        warn_of([experiment], stacklevel=2)
        self.members = self.deployment.members
        self._plan = self.deployment.plan
        self._liars = {member.number for member in self.members if member.lies}
        self.equivocators = options.equivocators
        self.on_plan: Callable[[AttackPlan], None] = lambda plan: None  # called when Byzantine agents change their plan
        self._processes: dict[int, NodeProcess] = {}
        self._frozen: set[int] = set()
        self._cut: dict[int, tuple[Neighbour, ...]] = {}  # neighbours of agents that are cut off, as they were

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start all nodes, and return when they are ready."""
        self._compile()
        try:
            for member in self.members:
                self._spawn(member)
            for member in self.members:
                self._wait_until_ready(member)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all nodes, cleanly where they are able to."""
        for number, process in self._processes.items():
            self.thaw(number)
            process.signal(signal.SIGTERM)
        end = time.monotonic() + STOP
        for process in self._processes.values():
            process.stop(end - time.monotonic())
        self._processes.clear()
        if self.deployment.claim is not None:
            self.deployment.claim.close()

    def member(self, number: int) -> Member:
        """The agent of a number, or BadInput."""
        if not isinstance(number, int) or not 1 <= number <= len(self.members):
            raise BadInput(f"agent {number!r} does not exist; allowed: 1 to {len(self.members)}")
        return self.members[number - 1]

    def state(self, number: int) -> str:
        """The state of an agent: up, down, hung or cut off."""
        member = self.member(number)
        process = self._processes.get(member.number)
        if process is None or process.ended:
            return "down"
        if number in self._frozen:
            return "hung"
        return "cut off" if number in self._cut else "up"

    def kill(self, number: int) -> None:
        """End an agent's process at once, as by a power cut."""
        process = self._processes.get(self.member(number).number)
        if process is not None:
            process.signal(signal.SIGKILL)
            process.stop(STOP)
            self._frozen.discard(number)

    def restart(self, number: int) -> None:
        """Start an agent's process again, and return when it is ready; it goes on from its data."""
        member = self.member(number)
        self.kill(number)
        self._spawn(member)
        self._wait_until_ready(member)

    def freeze(self, number: int) -> None:
        """Hang an agent: its process stops where it is, its connections stay open."""
        if self.state(number) == "up":
            self._signal(number, signal.SIGSTOP)
            self._frozen.add(number)

    def thaw(self, number: int) -> None:
        """Let a hung agent go on."""
        if number in self._frozen:
            self._signal(number, signal.SIGCONT)
            self._frozen.discard(number)

    def partition(self, number: int) -> None:
        """Cut an agent off from all its neighbours; its application still reaches it."""
        file = self.member(number).file
        if number not in self._cut:
            config = read_config(file)
            self._cut[number] = config.neighbours
            write_config(msgspec.structs.replace(config, neighbours=()), file)
            self._signal(number, signal.SIGHUP)

    def heal(self, number: int) -> None:
        """Give an agent that is cut off its neighbours back."""
        file = self.member(number).file
        if number in self._cut:
            write_config(msgspec.structs.replace(read_config(file), neighbours=self._cut.pop(number)), file)
            self._signal(number, signal.SIGHUP)

    @property
    def attack(self) -> str:
        """The attack in use."""
        return self._plan.attack

    def set_attack(self, attack: str) -> None:
        """Change the attack; Byzantine agents use it from their next report on."""
        plan = msgspec.structs.replace(self._plan, attack=attack)
        compiled_attack(plan)
        self._agree(plan)

    def lies(self, number: int) -> bool:
        """Whether an agent lies."""
        return self.member(number).number in self._liars

    def turn(self, number: int) -> None:
        """Make an honest agent Byzantine, or a Byzantine agent honest; its process restarts with its key and data."""
        member = self.member(number)
        if self._liars == {m.number for m in self.members} - {number}:
            raise BadInput(f"agent {number} is the last honest one; allowed: any other")
        self._liars ^= {number}
        self._agree(with_liars(self.deployment.plan, self._plan.attack, self._liars))
        self._configure(member)
        self.restart(number)

    def set_equivocators(self, equivocators: str) -> None:
        """What honest nodes do from now on with neighbours that are proven to lie: expel or keep."""
        check_equivocators(equivocators)
        self.equivocators = equivocators
        for member in self.members:
            self._configure(member)
            if self.state(member.number) in ("up", "cut off"):
                self._signal(member.number, signal.SIGHUP)

    def _configure(self, member: Member) -> None:
        """Write into an agent's settings what becomes of proven Byzantine agents; Byzantine agents stay together."""
        what = cast(Equivocators, "keep" if member.number in self._liars else self.equivocators)
        write_config(msgspec.structs.replace(read_config(member.file), equivocators=what), member.file)

    def _agree(self, plan: AttackPlan) -> None:
        self._plan = plan
        write_plan(plan, self.deployment.directory / PLAN)
        self.on_plan(plan)

    def _compile(self) -> None:
        """Compile what all processes then load from the cache."""
        plan = self._plan
        agent, rewards = read_config(self.members[0].file).agent(0), stream_of(plan, 0)
        for _ in range(len(plan.arms) + 1):
            x = rewards.context
            agent.reward(agent.select(x), 0.0, x)
        agent.hear("neighbour", agent.report())  # fates are told of what is heard
        agent.explain()
        compiled_attack(plan)

    def _spawn(self, member: Member) -> None:
        arguments = ["node", str(member.file)]
        if member.number in self._liars:
            arguments += ["--attack-plan", str(self.deployment.directory / PLAN)]
        self._processes[member.number] = NodeProcess(arguments, member.directory / "log")

    def _wait_until_ready(self, member: Member) -> None:
        process, end = self._processes[member.number], time.monotonic() + START
        while not _is_ready(member):
            if process.ended or time.monotonic() > end:
                last = (member.directory / "log").read_text(errors="replace").strip().splitlines()[-1:]
                raise BadInput(f"{member.name} did not start: {last[0] if last else 'it said nothing'}")
            time.sleep(POLL)

    def _signal(self, number: int, what: signal.Signals) -> None:
        process = self._processes.get(number)
        if process is not None:
            process.signal(what)


def _is_ready(member: Member) -> bool:
    """Whether a node answers at the agent's port, and it is that agent's: not one of another testbed."""
    try:
        with httpx.Client(base_url=member.url, timeout=2.0, trust_env=False, verify=False) as client:
            state = client.get("/v1/state") if client.get("/readyz").status_code == 200 else None
        return state is not None and state.json().get("key") == member.key
    except (httpx.TransportError, ValueError):
        return False
