"""Imported by the process that nodes are forked from: it loads the machine code of the recommended setting for all."""

from byzmab.core.agent import Agent
from byzmab.core.recommended import FILTER, POLICY

_agent = Agent(2, 0, filter=FILTER, policy=POLICY)
for _ in range(3):
    _agent.reward(_agent.select(), 0.0)
_agent.hear("neighbour", _agent.report())
_agent.explain()
