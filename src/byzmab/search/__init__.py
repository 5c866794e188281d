"""Attack search: which lies hurt an experiment most."""

from byzmab.search.judge import Judgement, judge
from byzmab.search.keep import save_search
from byzmab.search.search import Search, Trial, search_attack

__all__ = ["Judgement", "Search", "Trial", "judge", "save_search", "search_attack"]
