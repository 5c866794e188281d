"""A node keeps to the schema of its HTTP, whatever is asked."""

import pytest
from hypothesis import HealthCheck, given, settings

schemathesis = pytest.importorskip("schemathesis", minversion="4.0")
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

JUDGED = (
    "/v1/select",
    "/v1/selects",
    "/v1/arms",
    "/v1/reset",
    "/v1/pardon",
    "/v1/handover",
)  # by more than a schema can say


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
def test_the_schema_is_kept(node, mode):
    """Every answer is one that the schema announces, to requests that follow it and to requests that do not."""
    schema = schemathesis.openapi.from_url(f"{node.url}/schema/openapi.json").exclude(path="/v1/stream")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 16
    for operation in operations:
        if mode is GenerationMode.NEGATIVE and (operation.method == "get" or operation.path == "/v1/reload"):
            continue  # they have no body in which something can be wrong

        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case):
            told = [positive_data_acceptance] if case.operation.path in JUDGED else []
            case.call_and_validate(excluded_checks=told)

        check()
