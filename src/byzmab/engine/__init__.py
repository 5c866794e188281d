"""The compiled round: a whole network, one run, advanced round by round.

Read it in the order of a round:

1. `state.py`      the data: all arrays of a run behind one pointer
2. `round.py`      `advance`, the loop over rounds, and what it calls in this order; `baseline_round.py` for algorithms
3. `draw.py`       which agents hear which
4. `deliver.py`    who is heard now, which reports are remembered, and in which rows they stand
5. `tell.py`       what honest agents tell, where that is not everything in every round
6. `lie.py`        what Byzantine agents tell
7. `believe.py`    what every agent believes; `dense.py` does the same where nearly everyone hears everyone
8. `choose.py`     which arm every agent pulls next
9. `pull.py`       pulls, rewards, and what is recorded
10. `recent.py`    what is left of tallies that forget

Before all that `move.py` sets the means of the round, where they change.

A plug-in's author writes a small function for one agent, arm or message. Each of the loops in `move.py`, `draw.py`,
`lie.py`, `believe.py`, `choose.py` and `pull.py` is written with such a function of ours by name; `specialize` compiles
a copy of the loop with the plug-in's function in its place. These copies enter `advance` as function pointers, called
once a round. So a new plug-in compiles alone, and yet costs no call per agent or arm.
"""
