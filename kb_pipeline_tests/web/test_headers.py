"""Headers that are added to every response: policies beside those of the application, others where it sends none."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from kb_pipeline.web.headers import PRIVATE, AddedHeaders

OWN = {"Content-Security-Policy": "object-src 'none'", "Referrer-Policy": "same-origin"}


def answer(_: Request) -> PlainTextResponse:
    return PlainTextResponse("x", headers=OWN)


@pytest.mark.slow("builds a whole knowledge base")
def test_a_policy_is_added_and_what_the_application_sends_stays() -> None:
    added = {**PRIVATE, "content-security-policy": "frame-ancestors 'none'"}
    app = Starlette(routes=[Route("/", answer)], middleware=[Middleware(AddedHeaders, headers=added)])
    headers = TestClient(app).get("/").headers
    assert headers.get_list("content-security-policy") == ["object-src 'none'", "frame-ancestors 'none'"]
    assert headers.get_list("referrer-policy") == ["same-origin"]
    assert headers.get_list("x-content-type-options") == ["nosniff"]
