"""What a reader is told about failures below the service."""

import pytest

from app.errors import as_answer_error, without_places
from kb_pipeline.errors import (
    IndexMissingError,
    IndexNotThereError,
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
        (IndexNotThereError("x"), 503, "index_unavailable"),
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


def test_only_an_index_of_ours_is_to_be_ingested() -> None:
    assert str(as_answer_error(IndexMissingError("x"))).endswith(": kb ingest")
    assert str(as_answer_error(IndexNotThereError("check KB_SEARCH_INDEX"))) == "check KB_SEARCH_INDEX"


def test_the_time_to_wait_is_passed_on() -> None:
    assert as_answer_error(TransientError("x", 7)).retry_after == 7


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("cannot read /srv/kb/state/x.json: Permission denied", "cannot read …: Permission denied"),
        (
            "could not search the search index at abfs://kb@store.example/index: x",
            "could not search the search index at …: x",
        ),
        ("no database in .kb/index, run: kb ingest", "no database in …, run: kb ingest"),
        (r"cannot write C:\\Users\\ann\\kb; make room", "cannot write …; make room"),
        ("[Errno 2] No such file: '/home/Ann van B/kb/x'", "[Errno 2] No such file: …"),
        ('lock "/home/Ann van B/x.lock" is held', "lock … is held"),
        ("not found: data/1.lance, /root/.cargo/registry/src/lance-1.0/io.rs:12:5", "not found: …, …"),
        ("disk I/O error", "disk I/O error"),
        ("it's in the user's folder", "it's in the user's folder"),
    ],
)
def test_a_reader_is_told_no_place_of_the_server(said: str, told: str) -> None:
    assert without_places(said).removesuffix("; the service's log says where") == told
    for problem in (
        StorageError(said),
        SearchError(said),
        SettingsError(said),
        ServiceError(said),
        TransientError(said),
    ):
        assert str(as_answer_error(problem)).startswith(told)
