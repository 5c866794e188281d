"""A node keeps to the schema of its HTTP, whatever is asked."""

import pytest
from hypothesis import HealthCheck, given, settings
from waiting import LONG

EXAMPLES = 15  # of every operation; a mistake in what it answers shows in the first few
JUDGED = (
    "/v1/select",
    "/v1/selects",
    "/v1/arms",
    "/v1/reset",
    "/v1/pardon",
    "/v1/handover",
)  # by more than a schema can say


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_the_schema_is_kept(node, mode):
    """Every answer is one that the schema announces, to requests that follow it and to requests that do not."""
    schemathesis = pytest.importorskip("schemathesis", minversion="4.0")  # takes seconds
    from schemathesis import GenerationMode
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    mode = GenerationMode[mode.upper()]
    schema = schemathesis.openapi.from_url(f"{node.url}/schema/openapi.json").exclude(path="/v1/stream")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 17
    for operation in operations:
        if mode is GenerationMode.NEGATIVE and (operation.method == "get" or operation.path == "/v1/reload"):
            continue  # they have no body in which something can be wrong

        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case):
            told = [positive_data_acceptance] if case.operation.path in JUDGED else []
            case.call_and_validate(excluded_checks=told, timeout=LONG)

        check()
