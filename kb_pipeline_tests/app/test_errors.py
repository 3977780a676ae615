"""What a reader is told about failures below the service."""

import pytest

from app.errors import as_answer_error
from kb_pipeline.errors import (
    IndexMissingError,
    KnowledgeBaseError,
    SearchError,
    ServiceError,
    ServiceRefusedError,
    SettingsError,
    StorageError,
    TransientError,
)


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (IndexMissingError("x"), 503, "index_unavailable"),
        (SearchError("x"), 503, "index_unavailable"),
        (ServiceRefusedError("x"), 502, "upstream_refused"),
        (ServiceError("x"), 502, "upstream_error"),
        (SettingsError("x"), 502, "upstream_error"),
        (StorageError("x"), 503, "store_unavailable"),
        (TransientError("x", 7), 503, "upstream_busy"),
    ],
)
def test_each_cause_has_its_status(problem: KnowledgeBaseError, status: int, code: str) -> None:
    answer = as_answer_error(problem)
    assert (answer.status, answer.code) == (status, code)


def test_the_time_to_wait_is_passed_on() -> None:
    assert as_answer_error(TransientError("x", 7)).retry_after == 7
