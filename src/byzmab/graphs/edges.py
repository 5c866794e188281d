"""A graph written down edge by edge in one line, so that a flag, a file or a link can hold it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from byzmab.graphs.given import Given

EDGE = re.compile(r"(\d+)([->])(\d+)")


@dataclass(frozen=True)
class Edges(Given):
    """The edges themselves, between agents numbered from 1: 1-2 hear each other, 1>2 is heard one way."""

    parameters = "edges:4:1-2,2-3,4>1, the number of agents, then the edges; 4>1 where 4 tells and 1 hears"

    @classmethod
    def from_text(cls, text: str) -> Self:
        count, _, listed = text.partition(":")
        agents = int(count) if re.fullmatch(r"\d{1,6}", count) else 0
        found = [EDGE.fullmatch(edge) for edge in listed.split(",")] if listed else []
        edges = [(int(edge[1]), int(edge[3]), edge[2]) for edge in found if edge is not None]
        wrong = any(a == b or not (1 <= a <= agents and 1 <= b <= agents) for a, b, _ in edges)
        if agents < 1 or len(edges) < len(found) or wrong:
            raise cls.misunderstood(text)
        return cls.from_edges(agents, _both_ways(edges), f"edges:{text}")

    def to_text(self) -> str:
        told = {(teller, hearer) for hearer, tellers in enumerate(self.listed) for teller in tellers}
        words = [
            f"{a + 1}{'-' if (b, a) in told else '>'}{b + 1}" for a, b in sorted(told) if a < b or (b, a) not in told
        ]
        return f"{len(self.listed)}:{','.join(words)}"


def _both_ways(edges: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    for teller, hearer, sign in edges:
        yield teller, hearer
        if sign == "-":
            yield hearer, teller
