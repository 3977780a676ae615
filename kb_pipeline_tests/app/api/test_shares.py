"""An answer is shared by a link: whoever opens it sees what they may read themselves, and nothing else of its asker."""

from pathlib import Path

import httpx
import pytest

from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLine, read_audit
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in
from kb_pipeline_tests.app.publishing import Author

QUESTION = "How do I crop a layer?"
SALARY = "What is the salary of the director?"
ANN, BOB = signed_in("ann", "group-hr"), signed_in("bob")


@pytest.fixture
def service(serve: Serve) -> httpx.Client:
    return serve(easy_auth=True)


def ask(service: httpx.Client, question: str, conversation: str = "conv_1") -> str:
    return openai_of(service, **ANN).responses.create(input=question, conversation=conversation).id


def share(service: httpx.Client, response_id: str, conversation: str = "conv_1") -> str:
    reply = service.post(f"/api/conversations/{conversation}/shares/{response_id}", headers=ANN)
    assert reply.status_code == 200
    return str(reply.json()["id"])


def opened(service: httpx.Client, share_id: str, who: dict[str, str] = BOB) -> httpx.Response:
    return service.get(f"/api/shares/{share_id}", headers=who)


def test_somebody_else_reads_the_answer_with_its_sources_and_nothing_else(service: httpx.Client) -> None:
    ask(service, "How do I clear a paper jam?")
    response_id = ask(service, QUESTION)
    service.post(f"/api/responses/{response_id}/feedback", json={"rating": "down", "comment": "mine"}, headers=ANN)
    share_id = share(service, response_id)
    reply = opened(service, share_id)
    turn = reply.json()["turn"]
    assert (turn["question"], turn["problem"], turn["response_id"]) == (QUESTION, None, share_id)
    assert "Crop to Content" in turn["answer"]["answer"]
    assert {each["article_id"] for each in turn["answer"]["citations"]} == {"layers"}
    assert not any(told in reply.text for told in (response_id, "conv_1", "mine", "paper jam", '"ann"', 'searches":["'))


def test_what_its_reader_may_not_read_is_not_shown_and_they_are_told(service: httpx.Client) -> None:
    share_id = share(service, ask(service, SALARY))
    turn = opened(service, share_id).json()["turn"]
    assert (turn["question"], turn["answer"]) == (SALARY, None)
    assert turn["problem"] == "this answer uses articles that you may not read, so it is not shown"
    assert "12345" not in opened(service, share_id).text
    assert "12345" in opened(service, share_id, ANN).text


def test_of_several_quotations_those_are_left_out_that_its_reader_may_not_read(service: httpx.Client) -> None:
    share_id = share(service, ask(service, f"{QUESTION} {SALARY}"))
    assert all(words in opened(service, share_id, ANN).text for words in ("12345", "Crop to Content"))
    turn = opened(service, share_id).json()["turn"]
    assert "Crop to Content" in turn["answer"]["answer"]
    assert turn["problem"] == "parts of this answer use articles that you may not read, so they are left out"
    assert not any(told in opened(service, share_id).text for told in ("12345", "Salaries", "Table of"))


def test_rights_are_those_of_the_moment(service: httpx.Client, own: Settings, tmp_path: Path) -> None:
    share_id = share(service, ask(service, QUESTION))
    assert opened(service, share_id).json()["turn"]["answer"]
    Author(own, tmp_path / "staging").restricts("layers", "group-hr")
    assert opened(service, share_id).json()["turn"]["answer"] is None
    assert opened(service, share_id, ANN).json()["turn"]["answer"]


def test_a_link_is_taken_back_and_goes_with_its_conversation(service: httpx.Client) -> None:
    first, second = ask(service, QUESTION), ask(service, "How do I clear a paper jam?")
    links = share(service, first), share(service, second)
    turns = service.get("/api/conversations/conv_1", headers=ANN).json()["turns"]
    assert [turn["share"] for turn in turns] == [*links]
    path = f"/api/conversations/conv_1/shares/{first}"
    assert service.delete(path, headers=BOB).status_code == 404
    assert service.delete(path, headers=ANN).status_code == 204
    assert [opened(service, link).status_code for link in links] == [404, 200]
    service.delete("/api/conversations/conv_1", headers=ANN)
    gone = opened(service, links[1])
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "unknown_share")
    assert gone.json() == opened(service, "share_nobody-ever-made-this-link").json()


def test_only_its_asker_shares_an_answer(service: httpx.Client) -> None:
    response_id = ask(service, QUESTION)
    for who, answer in ((BOB, response_id), (ANN, "caresp_none")):
        assert service.post(f"/api/conversations/conv_1/shares/{answer}", headers=who).status_code == 404


def test_a_source_that_has_changed_since_is_said_to_have_as_in_the_conversation(
    service: httpx.Client, own: Settings, tmp_path: Path
) -> None:
    share_id = share(service, ask(service, QUESTION))
    Author(own, tmp_path / "staging").replaces("layers", "Crop to Content", "Crop to Frame")
    turn = opened(service, share_id).json()["turn"]
    (own_turn,) = service.get("/api/conversations/conv_1", headers=ANN).json()["turns"]
    assert turn["stale"] == own_turn["stale"] != []


def test_the_audit_log_says_who_opened_what_and_not_by_which_link(serve: Serve, own: Settings) -> None:
    service = serve(own.model_copy(update={"audit": "all"}), easy_auth=True)
    share_id = share(service, ask(service, QUESTION))
    opened(service, share_id)
    lines = [line for line in read_audit(own.home_path / "audit") if isinstance(line, AuditLine)]
    assert [(line.action, line.who, line.articles) for line in lines][-2:] == [
        ("share", "ann", ()),
        ("open", "bob", ("layers",)),
    ]
    assert share_id not in str(lines)
