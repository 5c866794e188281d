"""Contexts: one agent whose arms' rewards depend on a context x, told before every choice.

The loop is the same: reports → filter → belief (z, w, d) → policy. Only what is reported differs, per arm the
statistics of a ridge regression, and at x every report becomes a pair (pulls, mean) before the filter.

1. `statistics.py`  own statistics: a table arms × `row_size(d)`, zeros at first, but A⁻¹ (`empty_statistics`);
                    `observe(own[arm], x, reward, ridge)` counts a pull
2. `reports.py`     `report_of(own, d, arms)` is what an agent tells; `checked_context_report`, `check_growth` and
                    `checked_context` refuse what is impossible; `row_of(n, b, G, ridge)` is the row that a report on
                    an arm becomes when it is heard; `triangle_of`, `matrix_of` make symmetric matrices small
3. `comparing.py`   how reports compare with one's own statistics; vetting
4. `centre.py`      the centre from which reports are measured, and how much each counts
5. `shares.py`      reports become pairs at x: equal, information, projection
6. `trial.py`       whether what is heard predicts one's own rewards better than oneself
7. `believe.py`     `believe_at`: pairs → filter → belief, for all arms of one agent
8. `decide.py`      `context_decision(filter, policy)` is the one compiled call of a live agent
9. `model.py`       what a report is here, as `core/model.py` asks for it; `workspace.py` keeps the arrays of that call
                    for a live agent; `pairs.py` tells people which pairs the reports became

A live agent keeps `own` and, for reports heard, `told` (rows × arms × numbers), with a version number for every arm of
both. It changes that number with what stands there. It also keeps the arrays of `scratch_shapes(arms, d, reports)`,
zeros at first. It calls, as `decide_at` lists them,

    context_decision(filter, policy)(own, own_versions, beliefs, inbox, x, reading, params, scratch, rng, pick)

with plain tuples in the order of `Inbox`, `Reading` and `Scratch` (`believe.py`), and of the two plug-ins' parameters.

New arrays need new scratch, or zeros in `stamps`. An arm without a reward is infinitely attractive, as in `decide`.
"""
