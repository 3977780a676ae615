"""Usage over HTTP: counts for reviewers, as JSON and as CSV, of what they may read."""

import csv
from io import StringIO

import httpx

from app.application import AgentApplication
from app.client import Client
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in


def ask(client: httpx.Client) -> None:
    said = openai_of(client).responses
    said.create(input="How do I crop a layer?", conversation="conv_1")
    refused = said.create(input="zxqv wvut bgth", conversation="conv_2")
    client.post(f"/api/responses/{refused.id}/feedback", json={"rating": "down"}).raise_for_status()


def test_what_was_asked_is_counted_at_once_and_in_one_way(serve: Serve, own: Settings) -> None:
    client = serve()
    ask(client)
    found = client.get("/api/usage").json()
    assert (found["total"]["asked"], found["total"]["answered"], found["total"]["refused"]) == (2, 1, 1)
    assert (found["total"]["down"], found["weeks"][-1]["asked"], found["days"][-1]["asked"]) == (1, 2, 2)
    with Client(str(client.base_url)) as ours:
        assert ours.usage().total == AgentApplication(own).usage().total
    rows = list(csv.DictReader(StringIO(client.get("/api/usage.csv").text)))
    assert [(row["asked"], row["refused"]) for row in rows if row["of"] == "all"] == [("2", "1")]
    assert "zxqv" not in str(found) + str(rows)


def test_articles_that_no_answer_used_are_named_to_those_who_may_read_them(serve: Serve, own: Settings) -> None:
    named = own.model_copy(update={"reviewers": ("ann", "bob")})
    client = serve(named, easy_auth=True)
    for headers, sees in ((signed_in("ann"), False), (signed_in("bob", "group-hr"), True)):
        found = client.get("/api/usage", headers=headers).json()
        assert ("secret" in [each["article_id"] for each in found["unused"]]) is sees
        assert ("Salaries" in client.get("/api/usage.csv", headers=headers).text) is sees
    assert "secret" in [each.article_id for each in AgentApplication(own).usage().unused]


def test_nobody_else_sees_them(serve: Serve) -> None:
    client = serve(easy_auth=True)
    for path in ("/api/usage", "/api/usage.csv"):
        refused = client.get(path, headers=signed_in("ann"))
        assert refused.status_code == 403
        assert "KB_REVIEWERS" in refused.text
