"""The compiled round of a network whose rewards depend on contexts. Graphs, delivery and choice are the engine's.

Read it in the order of a round:

1. `round.py`      `advance_contexts`, the loop over rounds, and what it calls in this order
2. `see.py`        the context that every agent sees now, and the means of its arms there
3. `tell.py`       what honest agents tell: statistics of a ridge regression for every arm
4. `lie.py`        what Byzantine agents tell
5. `believe.py`    what every agent believes at its context; with a filter, or by one of the algorithms
6. `pull.py`       pulls, rewards, regret against the best arm at each context, and what is recorded

`core/contexts/` has what one agent does, which is compiled into these loops as well as into a live agent.
"""
