"""The state of a network: every number and array of one run, declared once.

Each class below declares what one part of the engine owns; `State` is all of them. Loops read
`state.pulls[agent, arm]`, and Python reads the same attribute. A state allocates only what its experiment needs:
`unless` says when an array is not needed, or shares the memory of another one. docs/decisions/0002-state.md has the
reasons and the numbers.

Reports live in rows of `told_pulls` and `told_means`, one column per arm. The first `history` × `agents` rows hold what
honest agents could have sent in the last `history` rounds (one round unless there is memory or delay). The rest hold
lies, one row for each Byzantine agent and receiver. Where not everything is sent in every round, cached reports stand
between the two, in one row for each sender. Where the neighbours change, there is one row for each receiver and sender
instead, and lies are among them: see `engine/tell.py`.
"""

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.contexts.believe import PAIRS
from byzmab.core.contexts.comparing import TERMS
from byzmab.core.filters.base import NO_BELIEF
from byzmab.core.forgetting import ALL, WINDOW
from byzmab.core.policies.base import NO_SUCH_ARM
from byzmab.core.report import Floats, Integers, Words
from byzmab.engine.dirty import WORD
from byzmab.engine.typed import ANY, TypedState, array, progress, setting, size

# What a plug-in can do wrong without numba noticing.
BAD_CHOICE, BAD_BELIEF, BAD_NEIGHBOUR, BAD_REWARD, BAD_DECISION = 1, 2, 3, 4, 5
FAULTS = {
    BAD_CHOICE: NO_SUCH_ARM,
    BAD_BELIEF: NO_BELIEF,
    BAD_NEIGHBOUR: "graph named neighbours that do not exist, do not ascend, or are the agent itself",
    BAD_REWARD: "rewards gave a value that is no number from 0 to 1; allowed: numbers in [0, 1]",
    BAD_DECISION: NO_SUCH_ARM.replace("policy", "algorithm"),
}


def not_dense(state: "State") -> bool:
    """Return whether reports are not ordered once for all."""
    return bool(state.dense == 0)


def no_contexts(state: "State") -> bool:
    """Return whether rewards depend on no context."""
    return bool(state.context == 0)


def no_memory(state: "State") -> bool:
    """Return whether reports are used in the round in which they are received, and no later."""
    return bool(state.memory == 0)


def hears_all(state: "State") -> bool:
    """Return whether every neighbour is heard in every round."""
    return bool(state.subset == 0)


def forgets_nothing(state: "State") -> bool:
    """Return whether tallies hold all pulls."""
    return bool(state.forgets == ALL)


def no_window(state: "State") -> bool:
    """Return whether tallies hold more than the latest pulls."""
    return bool(state.forgets != WINDOW)


def sends_tallies(state: "State") -> bool:
    """Return whether tallies stand in the rows of reports."""
    return bool(state.tells_tallies == 1)


def caches_nothing(state: "State") -> bool:
    """Return whether everything is sent in every round."""
    return bool(state.kept == 0)


def digests_nothing(state: "State") -> bool:
    """Return whether the filter keeps no digest of reports."""
    return bool(state.digested == 0)


def compares_nothing(state: "State") -> bool:
    """Return whether nobody looks at what was sent before."""
    return bool(state.audits + state.careful == 0)


class Sizes:
    """The sizes that shapes are made of."""

    agents: int = size("N")
    arms: int = size("M")
    byzantine: int = size("B: rows 0..B-1 lie")
    honest: int = size("N - B", of=lambda state: state.agents - state.byzantine)
    bounds: int = size("N + 1", of=lambda state: state.agents + 1)
    dirty_words: int = size("words with a bit for each arm", of=lambda state: (state.arms + WORD - 1) // WORD)
    history: int = size("rounds of reports kept: memory + delay + 1")
    sent_reports: int = size("reports of honest agents that are kept", of=lambda state: state.history * state.agents)
    lie_capacity: int = size("rows of reports behind the history: cached reports, and lies")
    report_rows: int = size("rows of all reports", of=lambda state: state.sent_reports + state.lie_capacity)
    lie_edges: int = size("pairs of a Byzantine agent and a receiver", of=lambda state: state.byzantine * state.agents)
    edge_capacity: int = size("room for edges of the graph")
    inbox_capacity: int = size("room for received reports, all agents together")
    max_inbox: int = size("the most reports that one agent can receive")
    window: int = size("how many of the latest pulls count, where only these do")
    compared: int = size("agents that are compared with each agent: all or none")
    grid_size: int = size("rounds on which regret is recorded")


class Settings:
    """Numbers that stay as they are during a run."""

    run: int = setting("the number of this run")
    f: int = setting("upper bound on Byzantine neighbours; FROM_NEIGHBOURS where it follows from their number")
    consistency: int = setting("1 if the filter has step A, the consistency filter")
    depends_on: int = setting("which changes make a belief out of date: see core/filters/base.py")
    epoch: int = setting("rounds between two decisions")
    delay: int = setting("rounds between sending and receiving a report")
    moves: int = setting("1 if the arms' means change from round to round: see engine/move.py")
    forgets: int = setting("how tallies forget: ALL, FORGET or WINDOW of core/forgetting.py")
    forget_factor: float = setting("γ, by which counts are discounted at every pull")
    memory: int = setting("rounds for which a report is remembered")
    subset: int = setting("how many neighbours are heard in a round; 0 for all")
    time_varying: int = setting("1 if the graph is drawn anew in every round")
    graph_is_ours: int = setting("1 if the graph is not a user's own, and need not be checked in every round")
    hears: int = setting("0 if nobody listens")
    ignores_few: int = setting("1 if an agent with too few neighbours for f = auto ignores all reports")
    expects: int = setting("1 if links are declared reliable and neighbours never change: silence counts against f")
    kept: int = setting("where reports are cached: NOT_KEPT, PER_SENDER or PER_EDGE of engine/tell.py")
    tells_tallies: int = setting("1 if reports are the tallies themselves, so that they share memory")
    audits: int = setting("1 if agents expel whoever sends an impossible sequence of reports: see engine/audit.py")
    careful: int = setting("1 if Byzantine agents send nothing of the kind")
    common_lies: int = setting("1 if each Byzantine agent sends all receivers the same, cached per sender")
    tell_rounds: int = setting("rounds after which a whole report is sent again")
    agent_spread: float = setting("how far agents may differ: AUTO, 0 or ε; see core/differences.py")
    growth: float = setting("δ, the share by which a count grows until it is sent again, or NO_GROWTH")
    stable_inbox: int = setting("1 if reports keep their rows, so that changes can be followed from round to round")
    dense: int = setting("1 if nearly everyone hears everyone, and reports are ordered once for all")
    digested: int = setting("1 if the filter's digest of the reports is kept: see engine/digest.py")
    lists_edges: int = setting("1 if `graph` lists every edge; 0 if, being dense, only those on which lies are sent")
    reward_key: np.uint64 = setting("random numbers of rewards, by agent, arm and pull")
    policy_key: np.uint64 = setting("of decisions, by agent and time")
    graph_key: np.uint64 = setting("of edges, by time and receiver")
    subset_key: np.uint64 = setting("of which neighbours are heard, by time and receiver")
    drift_key: np.uint64 = setting("of how means move, by round")
    attack_key: np.uint64 = setting("of lies, by time, sender and receiver")
    context_key: np.uint64 = setting("of contexts, by agent and number")


class Progress:
    """Numbers that loops change."""

    time: int = progress("t: rounds played")
    clock: int = progress("t as filters see it: time, or what is left of it where tallies forget")
    time_left: float = progress("what is left of t where tallies forget: the sum of an agent's recent counts")
    moved: int = progress("the round for which means are set, where they change")
    entry: int = progress("the table of means that is in force")
    kept_pulls: int = progress("pulls of each agent so far, the first included, where tallies have a window")
    sent: int = progress("the time at which the reports received now were sent")
    begun: int = progress("1 once reports were delivered")
    edges: int = progress("reports received in a round, by all agents")
    most_missing: int = progress("the most honest agents that one agent does not hear, itself included; dense only")
    lies: int = progress("rows of lies handed out so far")
    free: int = progress("how many of them are free again")
    messages: int = progress("reports received so far, by all agents")
    arms_told: int = progress("arms in them")
    told_now: int = progress("arms sent in this round, each once however many hear it; only where reports are cached")
    fault: int = progress("what a plug-in did wrong: one of the constants above, 0 for nothing")
    recorded: int = progress("rounds of the grid recorded so far")
    talks: int = progress("1 if reports are exchanged in the coming round; an algorithm may set it to 0")
    phase: int = progress("the phase, epoch or stage that an algorithm is in, from 1")
    seen: int = progress("rounds whose contexts were seen")
    changes: int = progress("how often any statistics changed: the newest version")


class World:
    """True means, rewards, and what is recorded."""

    numbers: Integers = array("agents", about="the number, from 0, that people know each agent by")
    true_means: Floats = array("arms", about="μ, what agents have in common of it")
    own_means: Floats = array("agents", "arms", about="μ of each agent")
    bests: Integers = array("agents", about="the arm with the largest of these")
    schedule_rounds: Integers = array(ANY, about="from which round on each table of means is in force")
    schedule: Floats = array(ANY, ANY, ANY, about="tables × (1 or agents) × arms: means as given")
    schedule_common: Floats = array(ANY, ANY, about="tables × arms: what agents have in common of them")
    offsets: Floats = array("agents", "arms", about="by how much agents differ besides")
    shifts: Floats = array("arms", about="by how much means have moved")
    losses: Floats = array("agents", about="regret so far, where means change or depend on contexts")
    reward_keys: Words = array("agents", "arms", about="keys of the reward streams")
    reward_kinds: Integers = array("agents", about="which of the functions in `pull_all` rewards them")
    reward_starts: Integers = array("agents", about="where the parameters of each agent's rewards begin")
    reward_ends: Integers = array("agents", about="and where they end")
    reward_params: Floats = array(ANY, about="these parameters, one kind of rewards after the other")
    prepared: Floats = array(
        "agents", "arms", about="what rewards have prepared of μ", unless=lambda s: s.moves == 1, shares="own_means"
    )
    drift_params: Floats = array(ANY, about="the drift's parameters")
    grid: Integers = array("grid_size", about="rounds at which regret is recorded")
    regret: Floats = array("honest", "grid_size", about="of each honest agent")
    third_ends: Integers = array(3, about="the last round of each third of the horizon")
    thirds: Integers = array(3, "honest", "arms", about="pulls up to the end of each third")
    rng: Words = array(1, about="state of the random stream in use")


class Agents:
    """Tallies, beliefs and choices of all agents."""

    pulls: Floats = array("agents", "arms", about="n, own tallies now", unless=sends_tallies, shares="told_pulls")
    means: Floats = array("agents", "arms", about="x̄", unless=sends_tallies, shares="told_means")
    totals: Floats = array("agents", "arms", about="sum of rewards")
    ever_pulls: Floats = array("agents", "arms", about="n, nothing forgotten", unless=forgets_nothing, shares="pulls")
    ever_means: Floats = array("agents", "arms", about="x̄ of the same", unless=forgets_nothing, shares="means")
    ever_totals: Floats = array(
        "agents", "arms", about="and their sum of rewards", unless=forgets_nothing, shares="totals"
    )
    past_arms: Integers = array("agents", "window", about="the latest pulls, a ring", unless=no_window)
    past_values: Floats = array("agents", "window", about="and their rewards", unless=no_window)
    values: Floats = array("agents", about="the latest rewards")
    last: Integers = array("sent_reports", about="the arm that led to these tallies, -1 at t = 0")
    kappas: Floats = array("agents", about="κ")
    estimates: Floats = array("agents", "arms", about="z")
    weights: Floats = array("agents", "arms", about="w = n / g")
    doubts: Floats = array("agents", "arms", about="d")
    own_estimates: Floats = array("agents", "arms", about="what own data alone say", unless=no_contexts, shares="means")
    own_weights: Floats = array("agents", "arms", about="and what they are worth", unless=no_contexts, shares="pulls")
    differences: Floats = array("agents", about="τ², how far each agent is from its neighbours")
    neighbour_differences: Floats = array(
        "agents", "compared", about="τ² of each neighbour of each agent, where neighbours are compared"
    )
    choices: Integers = array("agents", about="the arm each pulls next")
    policy_keys: Words = array("agents", about="keys of the decision streams")
    filter_params: Floats = array(ANY, about="the filter's parameters")
    policy_params: Floats = array(ANY, about="the policy's parameters")
    work_pulls: Floats = array("max_inbox", about="n of the reports on one arm, being filtered")
    work_means: Floats = array("max_inbox", about="x̄ of the same")


class Network:
    """Which agents hear which, and which reports stand in which rows."""

    graph_starts: Integers = array("bounds", about="where each agent's neighbours begin")
    graph: Integers = array("edge_capacity", about="the neighbours, ascending")
    graph_params: Floats = array(ANY, about="the graph's parameters")
    may_hear: Integers = array("agents", about="how many neighbours each agent may hear in some round or other")
    in_edge_starts: Integers = array(
        "bounds", about="as graph_starts, of those heard now", unless=hears_all, shares="graph_starts"
    )
    in_edges: Integers = array(
        "edge_capacity", about="neighbours heard now, ascending", unless=hears_all, shares="graph"
    )
    inbox_starts: Integers = array("bounds", about="where each inbox begins", unless=no_memory, shares="in_edge_starts")
    inbox_senders: Integers = array("inbox_capacity", about="the senders", unless=no_memory, shares="in_edges")
    inbox_rows: Integers = array("inbox_capacity", about="the row that holds the report")
    inbox_times: Integers = array("inbox_capacity", about="when it was sent", unless=no_memory)
    previous_inbox_starts: Integers = array("bounds", about="of the round before", unless=no_memory)
    previous_inbox_senders: Integers = array("inbox_capacity", about="likewise", unless=no_memory)
    previous_inbox_times: Integers = array("inbox_capacity", about="likewise", unless=no_memory)
    previous_inbox_rows: Integers = array("inbox_capacity", about="likewise", unless=no_memory)
    free_rows: Integers = array("lie_capacity", about="rows of lies that are free again, a stack", unless=no_memory)
    told_pulls: Floats = array("report_rows", "arms", about="n as sent")
    told_means: Floats = array("report_rows", "arms", about="x̄ as sent")
    dirty: Words = array("report_rows", "dirty_words", about="on which arms the report changed in this round")


class CachedReports:
    """Reports that are cached between two sendings: see engine/tell.py and engine/digest.py."""

    due_times: Integers = array(
        "report_rows", about="from when on the whole report is due again", unless=caches_nothing
    )
    out_degrees: Integers = array("agents", about="how many hear each agent", unless=caches_nothing)
    digest_limits: Floats = array(
        "agents", "arms", about="the most own pulls for which the digest holds", unless=digests_nothing
    )
    digest_totals: Floats = array(
        "agents", "arms", about="the filter's digest of the reports: its total", unless=digests_nothing
    )
    digest_sizes: Integers = array("agents", "arms", about="and how many reports it is made of", unless=digests_nothing)


class Lies:
    """What attacks keep, and what agents know of earlier lies."""

    attack_params: Floats = array(ANY, about="the attack's parameters")
    attack_scratch: Floats = array(ANY, ANY, about="what the attack keeps for itself")
    lie_pulls: Floats = array("arms", about="n of a lie, being sent")
    lie_means: Floats = array("arms", about="x̄ of the same")
    past_pulls: Floats = array("lie_edges", "arms", about="n as sent last on each edge", unless=compares_nothing)
    past_totals: Floats = array("lie_edges", "arms", about="n x̄ of the same", unless=compares_nothing)
    past_used: Floats = array(
        "lie_edges", about="of M + t pulls, those used up: see engine/audit.py", unless=compares_nothing
    )
    expelled: Integers = array("lie_edges", about="1 if the receiver has expelled the sender", unless=compares_nothing)


class DenseOrder:
    """The shared order of reports where nearly everyone hears everyone: see ordering/, engine/dense.py."""

    honest_bounds: int = size("N - B + 1", of=lambda state: state.honest + 1)
    queue_bounds: int = size("N - B + 2", of=lambda state: state.honest + 2)
    by_pulls: Integers = array("arms", "honest", about="honest agents by decreasing pulls", unless=not_dense)
    missing_starts: Integers = array("bounds", about="where `missing` of each agent begins", unless=not_dense)
    missing: Integers = array("edge_capacity", about="honest agents it does not hear, itself too", unless=not_dense)
    extreme_pulls: Floats = array("honest", about="n of the extremes", unless=not_dense)
    extreme_means: Floats = array("honest", about="x̄ of the same", unless=not_dense)
    extreme_senders: Integers = array("honest", about="whose they are", unless=not_dense)
    extreme_count: Integers = array(1, about="how many there are", unless=not_dense)
    extreme_held: Integers = array("agents", about="1 for agents among them", unless=not_dense)
    droppable_pulls: Floats = array("honest", about="n of reports that a filter may drop", unless=not_dense)
    droppable_means: Floats = array("honest", about="x̄ of the same", unless=not_dense)
    droppable_senders: Integers = array("honest", about="whose they are", unless=not_dense)
    droppable_count: Integers = array(1, about="how many there are", unless=not_dense)
    droppable_ranks: Integers = array("honest", about="1 for ranks among them", unless=not_dense)
    droppable_served: Floats = array(4, about="the range of receivers served", unless=not_dense)
    sorted_means: Floats = array("honest", about="all x̄, growing", unless=not_dense)
    ranks_by_mean: Floats = array("honest", about="their ranks by decreasing pulls, negative", unless=not_dense)
    extra_means: Floats = array("bounds", about="own mean and lies of a receiver, growing", unless=not_dense)
    gap_ranks: Integers = array("agents", about="where means it does not hear stand", unless=not_dense)
    highest_influences: Floats = array("honest", about="bounds, being ordered", unless=not_dense)
    lowest_influences: Floats = array("honest", about="bounds, being ordered", unless=not_dense)
    arm_own_pulls: Floats = array("agents", about="n of the arm in hand", unless=not_dense)
    arm_own_means: Floats = array("agents", about="x̄ of the same", unless=not_dense)
    arm_told_pulls: Floats = array(
        "agents", about="n as sent", unless=lambda s: not_dense(s) or caches_nothing(s), shares="arm_own_pulls"
    )
    arm_told_means: Floats = array(
        "agents", about="x̄ as sent", unless=lambda s: not_dense(s) or caches_nothing(s), shares="arm_own_means"
    )
    ranked_pulls: Floats = array("honest", about="n as sent, decreasing", unless=not_dense)
    ranked_means: Floats = array("honest", about="x̄ in this order", unless=not_dense)
    means_before: Floats = array("honest_bounds", about="the sum of means before a rank", unless=not_dense)
    pulls_from: Floats = array("honest_bounds", about="the sum of pulls from a rank on", unless=not_dense)
    rewards_from: Floats = array("honest_bounds", about="and of pulls × means", unless=not_dense)
    ranked_senders: Integers = array("honest", about="the sender at each rank", unless=not_dense)
    sender_ranks: Integers = array("agents", about="the rank of each sender", unless=not_dense)
    n_consistent: Integers = array("agents", about="how many reports pass step A of a receiver", unless=not_dense)
    n_at_least_own: Integers = array("agents", about="how many have as many pulls as it", unless=not_dense)
    receiver_queue: Integers = array("agents", about="receivers in the order of service", unless=not_dense)
    queue_starts: Integers = array("queue_bounds", about="where those alike begin in it", unless=not_dense)
    admitted: Integers = array(1, about="how many reports were admitted to the extremes", unless=not_dense)
    passing_lie_pulls: Floats = array("byzantine", about="n of the lies that pass", unless=not_dense)
    passing_lie_means: Floats = array("byzantine", about="x̄ of the same", unless=not_dense)
    absent: Integers = array("agents", about="1 for those whom the receiver does not hear", unless=not_dense)


class Contexts:
    """What agents see and know where rewards depend on contexts: see byzmab/contexts."""

    context: int = size("d: dimensions of a context; 0 where there are none")
    row_size: int = size("numbers in a row of statistics")
    factor_size: int = size("numbers in a factor", of=lambda state: state.context * (state.context + 2))
    stamp_size: int = size("stamps of an agent and arm", of=lambda state: PAIRS + state.max_inbox)
    trial_size: int = size("numbers in a trial", of=lambda state: 1 + state.arms)
    shares: int = setting("how reports become pairs at a context: see core/contexts/shares.py")
    vetting: int = setting("1 if reports that contradict one's own data are left out")
    ridge: float = setting("λ")
    contexts: Floats = array("agents", "context", about="the context that each sees now", unless=no_contexts)
    context_totals: Floats = array("agents", "context", about="the sum of those it has seen", unless=no_contexts)
    leans: Floats = array("agents", "context", about="whereto the contexts of each lean", unless=no_contexts)
    constant: Floats = array("context", about="a vector whose product with every context is 1", unless=no_contexts)
    parameters: Floats = array("arms", "context", about="θ", unless=no_contexts)
    context_means: Floats = array("agents", "arms", about="μ at the context that each sees now", unless=no_contexts)
    pool_contexts: Floats = array(ANY, "context", about="contexts of a file of data")
    pool_means: Floats = array(ANY, "arms", about="μ at each of them")
    statistics: Floats = array(
        *("agents", "arms", "row_size"),
        about="own statistics, as core/contexts/statistics.py has them",
        unless=lambda s: no_contexts(s) or sends_tallies(s),
        shares="told_statistics",
    )
    versions: Words = array(
        *("agents", "arms"),
        about="when they changed last",
        unless=lambda s: no_contexts(s) or sends_tallies(s),
        shares="told_versions",
    )
    told_statistics: Floats = array("report_rows", "arms", "row_size", about="as sent", unless=no_contexts)
    told_versions: Words = array("report_rows", "arms", about="when they changed last", unless=no_contexts)
    stamps: Words = array(
        "agents", "arms", "stamp_size", about="this and what follows is a Scratch of core/contexts", unless=no_contexts
    )
    factors: Floats = array("agents", "arms", "factor_size", about="of joint matrices", unless=no_contexts)
    terms: Floats = array("agents", "arms", TERMS, "max_inbox", about="comparisons", unless=no_contexts)
    pairs: Floats = array(3, "max_inbox", about="pairs at a context, being filtered", unless=no_contexts)
    trial: Floats = array("agents", "trial_size", about="see core/contexts/trial.py", unless=no_contexts)
    lie_statistics: Floats = array("arms", "row_size", about="a lie, being sent", unless=no_contexts)


class State(Sizes, Settings, Progress, World, Agents, Network, CachedReports, Lies, DenseOrder, Contexts, TypedState):
    """The state of one run."""

    algorithm_params: Floats = array(ANY, about="the algorithm's parameters")


StateType = State.numba_type


@compiled
def first_row(state: State, time: int) -> int:
    """The row of agent 0's report of a time within the history; no division where there is only one."""
    return 0 if state.history == 1 else (time % state.history) * state.agents
