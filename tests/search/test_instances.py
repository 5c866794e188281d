"""Instances: the same for the same seed, and such that nobody hears more liars than it defends itself against."""

import numpy as np
import pytest

from benchmarks.instances import excess_of, surely
from byzmab.core.errors import BadInput
from byzmab.core.liars import FEWEST
from byzmab.experiment.listening import f_of_agents, may_hear
from byzmab.search.instances import MEANS, TELLING, draw_instances, kinds_of


def test_an_instance_follows_from_its_set_seed_and_number():
    first = draw_instances("test", 12)
    assert [item.experiment for item in draw_instances("test", 4)] == [item.experiment for item in first[:4]]
    for other in (draw_instances("tuning", 12), draw_instances("test", 12, seed=1)):
        assert not {str(item.experiment) for item in other} & {str(item.experiment) for item in first}


def test_no_agent_that_listens_hears_more_liars_than_its_f():
    instances = draw_instances("tuning", 150)
    assert set(MEANS) | set(TELLING) <= set(kinds_of(instances))
    for item in instances:
        experiment = item.experiment
        listens = may_hear(experiment) >= (FEWEST if experiment.f == "auto" else 0)
        assert (f_of_agents(experiment)[listens] >= experiment.parts.byzantine).all(), item.name


def test_a_set_that_is_not_there_is_refused_in_one_sentence():
    with pytest.raises(BadInput, match="set 'judge'"):
        draw_instances("judge", 1)


def test_holms_correction_keeps_what_is_there_and_drops_what_chance_makes():
    rng = np.random.default_rng(0)
    _, chances = excess_of(rng.standard_normal((20, 1000)))
    assert (chances < 0.025).sum() > 10  # by chance
    assert surely(chances) == 0
    _, found = excess_of(rng.standard_normal((20, 10)) + 5.0)
    assert surely([*chances, *found]) == 10
