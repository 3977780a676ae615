"""Documents that a request names, or that it is asked back about: what the asker may not see does not exist."""

import httpx
import pytest

from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in

AMBIGUOUS = "Summarise the document"


def chat(service: httpx.Client, question: str, *documents: str) -> dict[str, object]:
    return service.post("/chat", json={"question": question, "document_ids": documents}).raise_for_status().json()


@pytest.mark.parametrize("question", [AMBIGUOUS, "What is the salary of the director?", "How do I crop a layer?"])
def test_a_forbidden_document_is_answered_about_as_an_unknown_one(service: httpx.Client, question: str) -> None:
    forbidden, unknown = (chat(service, question, each) for each in ("secret", "nothing"))
    assert forbidden == unknown
    assert "Salar" not in str(forbidden["answer"]) and "12345" not in str(forbidden)


def test_only_the_documents_that_are_named_are_answered_from(service: httpx.Client) -> None:
    answer = chat(service, "How do I clear a paper jam?", "layers")
    assert {citation["article_id"] for citation in answer["citations"]} <= {"layers"}  # type: ignore[attr-defined]
    assert chat(service, AMBIGUOUS, "printing")["citations"][0]["article_id"] == "printing"  # type: ignore[index]


def test_the_options_are_those_that_the_asker_may_read(serve: Serve) -> None:
    service = serve(easy_auth=True)
    for user, groups, sees in (("ann", ("group-hr",), True), ("bob", (), False)):
        reply = service.post("/chat", json={"question": AMBIGUOUS}, headers=signed_in(user, *groups)).json()
        titles = [option["title"] for option in reply["clarification"]["options"]]
        assert ("Salaries" in titles, "Layers" in titles) == (sees, True)
        assert ("Salaries" in reply["answer"]) == sees


def test_an_option_that_was_withdrawn_meanwhile_is_not_answered_about(serve: Serve, own: Settings) -> None:
    service = serve(easy_auth=True)
    ann = openai_of(service, **signed_in("ann"))
    first = ann.responses.create(input=AMBIGUOUS)
    options = first.output[0].output["clarification"]["options"]
    number = next(option["number"] for option in options if option["article_id"] == "printing")
    AccessLists(Layout.of(own)).record("printing", Access(readers=("group-it",)), pending=True)
    reply = openai_of(serve(easy_auth=True), **signed_in("ann"))
    said = reply.responses.create(input=str(number), previous_response_id=first.id).to_json()
    assert "paper" not in said and "Printing" not in said
