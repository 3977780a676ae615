"""A failure is told by what happened and what to do, never by a trace."""

import pytest

from app.client import ClientError, ServiceDownError
from app.page import session
from app.page.failures import failure_html
from app.schema.wire import Problem
from app.settings import AppSettings


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ServiceDownError("http://127.0.0.1:8088"), ["not running", "http://127.0.0.1:8088", ">kb serve<"]),
        (
            ClientError(Problem(code="index_unavailable", message="no index; run: kb ingest"), 503),
            [">kb ingest<"],
        ),
        (ClientError(Problem(code="upstream_busy", message="too much to do"), 503), ["Too much to do."]),
        (KeyError("secret detail"), ["Something went wrong", "log"]),
    ],
)
def test_it_says_what_to_do(failure: Exception, told: list[str]) -> None:
    html = failure_html(failure)
    assert all(words in html for words in told)
    assert "secret detail" not in html


def test_who_reads_on_a_machine_of_others_learns_neither_its_address_nor_its_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "page_settings", lambda: AppSettings(easy_auth=True))
    html = failure_html(ServiceDownError("http://10.0.0.7:8088"))
    assert "does not answer at the moment" in html and "Try again in a minute." in html
    assert "10.0.0.7" not in html and "kb serve" not in html


def test_nobody_is_told_to_ingest_into_an_index_of_others() -> None:
    message = "there is no search index docs in …; check KB_SEARCH_INDEX"
    html = failure_html(ClientError(Problem(code="index_unavailable", message=message), 503))
    assert "check KB_SEARCH_INDEX" in html
    assert "kb ingest" not in html


def test_what_a_service_says_is_text() -> None:
    html = failure_html(ClientError(Problem(code="x", message="<script>alert(1)</script>")))
    assert "<script" not in html
