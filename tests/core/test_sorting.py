"""Lists are sorted, and ranks are found, as Python's own sort would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from byzmab.core.sorting import sort_few, split_reports, value_at

# few different values, so that many are equal
reports = st.lists(st.tuples(st.integers(0, 5).map(float), st.integers(1, 4).map(float)), min_size=1, max_size=40)


@given(reports, st.data())
def test_the_value_at_a_rank_is_that_of_the_sorted_list(told, data):
    rank = data.draw(st.integers(0, len(told) - 1))
    means = np.array([mean for mean, _ in told])
    assert value_at(rank, means) == sorted(mean for mean, _ in told)[rank]
    assert max(means[: rank + 1]) <= min(means[rank:])


@given(reports, st.data())
def test_splitting_puts_those_first_that_sorting_would(told, data):
    rank = data.draw(st.integers(0, len(told) - 1))
    means, pulls = np.array(told).T.copy()
    split_reports(pulls, means, rank)
    found = list(zip(means, pulls, strict=True))
    assert sorted(found[:rank]) == sorted(told)[:rank]
    assert sorted(found) == sorted(told)


@given(reports)
def test_a_few_reports_are_sorted_by_mean_and_keep_their_counts(told):
    means, pulls = np.array(told).T.copy()
    sort_few(pulls, means)
    assert means.tolist() == sorted(mean for mean, _ in told)
    assert sorted(zip(means, pulls, strict=True)) == sorted(told)
