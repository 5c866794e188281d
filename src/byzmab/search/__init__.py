"""Attack search: which lies hurt an experiment most."""

from byzmab.search.judge import Judgement, judge
from byzmab.search.keep import save_search
from byzmab.search.search import Search, Trial, search_attack
from byzmab.search.worst_cases import WorstCase, contestants, worst_cases

__all__ = [
    "Judgement",
    "Search",
    "Trial",
    "WorstCase",
    "contestants",
    "judge",
    "save_search",
    "search_attack",
    "worst_cases",
]
