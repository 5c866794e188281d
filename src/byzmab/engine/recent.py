"""Recent: tallies that forget, so that they follow arms that change.

What was pulled ever is counted by `pull_all` as always. Here the tallies that agents believe in and tell are kept
beside it: discounted by γ at every pull (`forget:γ`), or of the last n pulls alone (`window:n`). An arm of which
nothing is left keeps a count of almost nothing: any width then is large, and the arm is pulled again.
"""

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.forgetting import FORGET, LEAST_LEFT, NEUTRAL, after_forgetting
from byzmab.core.report import Floats
from byzmab.engine.dirty import ALL_BITS, fill, mark
from byzmab.engine.state import State


@compiled
def clock_of(state: State) -> int:
    """t, as policies see it."""
    return int(state.time)


@compiled
def recent_clock_of(state: State) -> float:
    """What is left of t: the sum of an agent's recent counts, the same for all."""
    return float(state.time_left)


@compiled
def set_recent(pulls: Floats, means: Floats, arm: int, count: float, total: float) -> None:
    """Set an arm's recent tally to so many pulls and their total."""
    pulls[arm] = count if count > 0.0 else LEAST_LEFT
    means[arm] = min(max(total / count, 0.0), 1.0) if count > 0.0 else NEUTRAL


@compiled_noinline
def discount(state: State) -> None:
    """Discount everybody's counts by γ, and count the latest pulls."""
    agents, arms = state.agents, state.arms
    pulls, means = state.pulls, state.means
    choices, values, dirty = state.choices, state.values, state.dirty
    factor = state.forget_factor
    state.time_left = factor * state.time_left + 1.0
    for agent in range(agents):
        chosen = choices[agent]
        for arm in range(arms):
            pulls[agent, arm] = after_forgetting(pulls[agent, arm], factor)
        count = pulls[agent, chosen] + 1.0
        pulls[agent, chosen] = count
        means[agent, chosen] += (values[agent] - means[agent, chosen]) / count
        fill(dirty[agent], ALL_BITS)


@compiled_noinline
def slide(state: State) -> None:
    """Count everybody's latest pull, and leave out the one that the window has passed."""
    agents, window = state.agents, state.window
    pulls, means = state.pulls, state.means
    totals = state.totals
    choices, values, dirty = state.choices, state.values, state.dirty
    past_arms, past_values = state.past_arms, state.past_values
    cell, full = state.kept_pulls % window, state.kept_pulls >= window
    for agent in range(agents):
        arm = choices[agent]
        count = (pulls[agent, arm] if pulls[agent, arm] >= 1.0 else 0.0) + 1.0
        totals[agent, arm] += values[agent]
        set_recent(pulls[agent], means[agent], arm, count, totals[agent, arm])
        if full:
            passed = past_arms[agent, cell]
            count = pulls[agent, passed] - 1.0
            totals[agent, passed] = totals[agent, passed] - past_values[agent, cell] if count > 0.0 else 0.0
            set_recent(pulls[agent], means[agent], passed, count, totals[agent, passed])
            mark(dirty[agent], passed)
        past_arms[agent, cell], past_values[agent, cell] = arm, values[agent]
    state.kept_pulls += 1
    state.time_left = min(state.kept_pulls, window)


@compiled_noinline
def keep_recent(state: State) -> None:
    """Bring everybody's recent tallies up to date after a pull, where tallies forget."""
    if state.forgets == FORGET:
        discount(state)
    else:
        slide(state)
    state.clock = int(state.time_left)
