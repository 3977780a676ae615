"""Knowledge gaps over HTTP: words for reviewers only, articles for those who may read them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
import pytest

from app.application import AgentApplication
from app.conversations.entries import now
from app.conversations.loose_questions import NOBODY
from app.conversations.sqlite import SQLiteConversations
from app.schema.answers import ChatAnswer
from app.schema.conversations import Turn
from kb_pipeline.evaluation.gaps import Gap, KnowledgeGaps, save_gaps
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLine, read_audit
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in
from kb_pipeline_tests.conditions import wait_until

Result = TypeVar("Result")
GAPS = KnowledgeGaps(
    made_at="2026-03-01T00:00:00+00:00",
    questions=4,
    cited={"secret": 7, "printing": 2},
    records_content=True,
    gaps=(
        Gap(
            id="00000000000000aa",
            whole="Dear Ms Smith, what does the director earn in Rome? password=hunter2-abc",
            question="What does the director earn in Rome?",
            count=3,
            reasons={"refused": 2, "disliked": 1},
            last_asked="2026-02-02T00:00:00+00:00",
            article_id="secret",
            title="Salaries",
        ),
        Gap(
            id="00000000000000bb",
            question="Is there a jam alarm?",
            count=1,
            reasons={"closest": 1},
            last_asked="2026-02-01T00:00:00+00:00",
            article_id="printing",
            title="Printing",
        ),
    ),
)


def test_before_they_were_looked_for_there_are_none(serve: Serve) -> None:
    found = serve().get("/api/gaps").json()
    assert (found["made_at"], found["gaps"], found["is_reviewer"]) == (None, [], True)


def test_the_local_user_reviews_but_may_not_read_every_article(serve: Serve, own: Settings) -> None:
    save_gaps(own, GAPS)
    secret, printing = serve().get("/api/gaps").json()["gaps"]
    assert (secret["question"], secret["article_id"], secret["title"]) == (GAPS.gaps[0].question, None, None)
    assert (secret["count"], secret["refused"], secret["closest"], secret["disliked"]) == (3, 2, 0, 1)
    assert (printing["article_id"], printing["title"]) == ("printing", "Printing")


def test_words_of_others_are_for_reviewers(serve: Serve, own: Settings) -> None:
    save_gaps(own, GAPS)
    client = serve(own.model_copy(update={"reviewers": ("editors", "ann")}), easy_auth=True)
    for headers, reviews in (
        (signed_in("ann"), True),
        (signed_in("bob", "editors"), True),
        (signed_in("bob", "group-hr"), False),
    ):
        found = client.get("/api/gaps", headers=headers).json()
        assert found["is_reviewer"] is reviews
        assert [bool(gap["question"]) for gap in found["gaps"]] == [reviews, reviews]
    assert found["gaps"][0]["title"] == "Salaries", "who may read the article sees its name"
    assert "director" not in str(found)


def test_signed_in_people_review_only_if_they_are_named(serve: Serve, own: Settings) -> None:
    save_gaps(own, GAPS)
    found = serve(easy_auth=True).get("/api/gaps", headers=signed_in("ann")).json()
    assert not found["is_reviewer"] and not any(gap["question"] for gap in found["gaps"])


def test_reviewers_look_for_them_now_and_they_are_kept(serve: Serve, own: Settings) -> None:
    client = serve()
    client.post("/chat", json={"question": "zxqv wvut"}).raise_for_status()
    wait_until(lambda: len(AgentApplication(own).asked("2000").unanswered) == 1)
    found = client.get("/api/gaps", params={"now": "true"}).json()
    assert [(gap["question"], gap["count"], gap["refused"]) for gap in found["gaps"]] == [("zxqv wvut", 1, 1)]
    assert client.get("/api/gaps").json() == found


@pytest.mark.slow("builds a whole knowledge base")
def test_a_follow_up_is_a_gap_with_what_its_conversation_was_about(serve: Serve) -> None:
    client = serve()
    for question in ("zxqv wvut bgth", "And on Windows?"):
        openai_of(client).responses.create(input=question, conversation="conv_1")
    asked = [turn["answer"] for turn in client.get("/api/conversations/conv_1").json()["turns"]]
    assert [answer.get("continues") for answer in asked] == [None, ["zxqv wvut bgth"]]
    found = client.get("/api/gaps", params={"now": "true"}).json()
    assert "zxqv wvut bgth And on Windows?" in [gap["question"] for gap in found["gaps"]]


def test_nobody_else_looks_for_them_now(serve: Serve) -> None:
    refused = serve(easy_auth=True).get("/api/gaps", params={"now": "true"}, headers=signed_in("ann"))
    assert refused.status_code == 403
    assert "KB_REVIEWERS" in refused.text


@pytest.mark.slow("builds a whole knowledge base")
def test_how_an_article_was_used_is_told_to_those_who_may_read_it(serve: Serve, own: Settings) -> None:
    assert serve().get("/api/articles/printing/use").json() == {"made_at": None, "days": 30, "cited": 0, "gaps": []}
    save_gaps(own, GAPS)
    client = serve(own.model_copy(update={"reviewers": ("ann",)}), easy_auth=True)
    used = client.get("/api/articles/printing/use", headers=signed_in("ann")).json()
    assert (used["cited"], [gap["question"] for gap in used["gaps"]]) == (2, ["Is there a jam alarm?"])
    assert client.get("/api/articles/secret/use", headers=signed_in("ann")).status_code == 404
    used = client.get("/api/articles/secret/use", headers=signed_in("bob", "group-hr")).json()
    assert (used["cited"], [(gap["question"], gap["count"]) for gap in used["gaps"]]) == (7, [("", 3)])


@pytest.mark.slow("builds a whole knowledge base")
def test_a_question_of_post_chat_is_among_the_gaps_with_its_words(serve: Serve, own: Settings) -> None:
    client = serve()
    client.post("/chat", json={"question": "zxqv wvut"}).raise_for_status()
    client.post("/chat", json={"question": "How do I crop a layer?"}).raise_for_status()
    client.post("/chat", json={"question": "zxqv wvut"}).raise_for_status()
    # they are kept after their answers were given
    wait_until(lambda: len(AgentApplication(own).asked("2000").unanswered) == 2)
    found = AgentApplication(own).asked("2000").unanswered
    assert [(each.question, each.reason, each.is_unnamed) for each in found] == [("zxqv wvut", "refused", True)] * 2
    assert client.get("/api/conversations").json()["conversations"] == []


def test_a_question_of_post_chat_by_somebody_who_signed_in_leaves_no_trace(serve: Serve, own: Settings) -> None:
    client = serve(easy_auth=True)
    client.post("/chat", json={"question": "zxqv wvut"}, headers=signed_in("ann")).raise_for_status()
    assert AgentApplication(own).asked("2000").unanswered == ()


def test_what_only_means_nothing_is_no_gap_either(serve: Serve) -> None:
    client = serve()
    for question in ("foo bar baz", "zxqv wvut", "asdf!!"):
        client.post("/chat", json={"question": question}).raise_for_status()
    wait_until(lambda: client.get("/api/gaps", params={"now": "true"}).json()["questions"] == 1)
    assert [gap["question"] for gap in client.get("/api/gaps").json()["gaps"]] == ["zxqv wvut"]


SECRET, JAM = (gap.id for gap in GAPS.gaps)
NO_GAP = {"dismissed": True, "reason": "We never tell."}


@pytest.fixture
def reviewed(serve: Serve, own: Settings) -> httpx.Client:
    """A service whose reviewers are editors, with gaps."""
    save_gaps(own, GAPS)
    return serve(own.model_copy(update={"reviewers": ("editors",), "audit": "all"}), easy_auth=True)


ANN = signed_in("ann", "editors")


def test_a_reviewer_assigns_and_dismisses_a_gap(reviewed: httpx.Client) -> None:
    put = reviewed.put(f"/api/gaps/{JAM}", json={"assigned_to": "  bob  "}, headers=ANN).json()
    assert (put["assigned_to"], put["dismissed"], put["decided_by"]) == ("bob", False, "ann")
    assert reviewed.get(f"/api/gaps/{JAM}", headers=ANN).json() == put
    put = reviewed.put(f"/api/gaps/{SECRET}", json=NO_GAP, headers=ANN).json()
    assert (put["dismissed"], put["reason"]) == (True, "We never tell.")
    found = reviewed.get("/api/gaps", headers=ANN).json()
    assert ([gap["id"] for gap in found["gaps"]], found["dismissed"]) == ([JAM], 1)
    found = reviewed.get("/api/gaps", params={"dismissed": "true"}, headers=ANN).json()
    assert [gap["id"] for gap in found["gaps"]] == [SECRET]


def test_what_was_decided_is_for_reviewers(reviewed: httpx.Client) -> None:
    reviewed.put(f"/api/gaps/{JAM}", json={"assigned_to": "carl"}, headers=ANN).raise_for_status()
    told = reviewed.get("/api/gaps", headers=signed_in("bob", "group-hr")).text
    assert "carl" not in told and "director" not in told


@pytest.mark.parametrize("headers", [signed_in("bob", "group-hr"), signed_in("editor")])
def test_nobody_else_sees_one_gap_or_decides(reviewed: httpx.Client, own: Settings, headers: dict[str, str]) -> None:
    for gap_id in (SECRET, "no-such"):
        for reply in (
            reviewed.get(f"/api/gaps/{gap_id}", params={"whole": "true"}, headers=headers),
            reviewed.put(f"/api/gaps/{gap_id}", json=NO_GAP, headers=headers),
        ):
            assert reply.status_code == 403 and "KB_REVIEWERS" in reply.text
    assert not (own.home_path / "evaluation" / "gaps").exists()


@pytest.mark.parametrize(
    "body",
    [{"dismissed": True}, {"dismissed": True, "reason": "  "}, {"assigned_to": "x" * 201}, {"reason": "a\u0000b"}],
)
def test_a_decision_must_be_whole(reviewed: httpx.Client, body: dict[str, object]) -> None:
    assert reviewed.put(f"/api/gaps/{JAM}", json=body, headers=ANN).status_code == 422


@pytest.mark.parametrize("gap_id", ["0" * 16, "..%2F..%2Fconversations", "x" * 3000])
def test_there_must_be_such_a_gap(reviewed: httpx.Client, gap_id: str) -> None:
    assert reviewed.get(f"/api/gaps/{gap_id}", headers=ANN).status_code == 404
    assert reviewed.put(f"/api/gaps/{gap_id}", json=NO_GAP, headers=ANN).status_code == 404


def test_what_was_written_is_shown_on_request_where_it_may_be_kept_and_never_its_secrets(
    serve: Serve, own: Settings
) -> None:
    save_gaps(own, GAPS)
    for client, whole in (
        (serve(), ""),
        (serve(whole_questions=True), "Dear Ms Smith, what does the director earn in Rome? password=***"),
    ):
        assert "Smith" not in client.get("/api/gaps").text
        assert client.get(f"/api/gaps/{SECRET}").json()["whole"] == ""
        assert client.get(f"/api/gaps/{SECRET}", params={"whole": "true"}).json()["whole"] == whole


def test_decisions_and_what_is_opened_are_recorded(reviewed: httpx.Client, own: Settings) -> None:
    for body in (NO_GAP, {"assigned_to": "bob"}, {}):
        reviewed.put(f"/api/gaps/{JAM}", json=body, headers=ANN)
    reviewed.get(f"/api/gaps/{JAM}", params={"whole": "true"}, headers=ANN)
    reviewed.put(f"/api/gaps/{JAM}", json=NO_GAP, headers=signed_in("bob"))
    lines = [line for line in read_audit(own.home_path / "audit") if isinstance(line, AuditLine)]
    assert [(line.action, line.who, line.outcome, line.about) for line in lines if JAM in line.about] == [
        ("decide", "ann", "done", f"{JAM} dismissed"),
        ("decide", "ann", "done", f"{JAM} assigned to bob"),
        ("decide", "ann", "done", f"{JAM} open"),
        ("open", "ann", "done", f"{JAM} whole"),
        ("decide", "bob", "refused", JAM),
    ]


def test_a_mail_of_post_chat_is_kept_by_its_question_alone(serve: Serve, own: Settings) -> None:
    client = serve()
    mail = "Dear Ms Smith,\nthis is Jane Doe.\nDoes the zxqv wvut bgth quack on jane@example.com?\nYours\nJane"
    client.post("/chat", json={"question": mail}).raise_for_status()
    wait_until(lambda: len(AgentApplication(own).asked("2000").unanswered) == 1)
    (gap,) = client.get("/api/gaps", params={"now": "true"}).json()["gaps"]
    assert gap["question"] == "Does the zxqv wvut bgth quack on [e-mail address]?"
    kept = [path.read_bytes() for path in own.home_path.rglob("*") if path.is_file() and "index" not in path.parts]
    assert not any(b"Jane" in each for each in kept)


def test_what_an_earlier_release_kept_is_masked_when_the_service_starts(serve: Serve, own: Settings) -> None:
    path, mail = own.home_path / "conversations.db", "Dear Ms Smith,\nthis is Jane.\nDoes it quack?\nYours\nJane"
    refused = ChatAnswer(answer="", citations=(), answered_by="extractive", refused=True)
    turn = Turn(response_id="loose_1", asked_at=now(), question=mail, answer=refused)

    async def with_store(work: Callable[[SQLiteConversations], Awaitable[Result]]) -> Result:
        store = SQLiteConversations(path)
        try:
            return await work(store)
        finally:
            await store.close()

    asyncio.run(with_store(lambda store: store.keep_turn(NOBODY, f"asked-{turn.asked_at[:10]}", turn)))
    assert b"Jane" in path.read_bytes()
    serve()
    wait_until(lambda: b"Jane" not in path.read_bytes() + path.with_name("conversations.db-wal").read_bytes())
    (masked,) = asyncio.run(with_store(lambda store: store.turns_since("2000")))
    assert (masked.question, masked.asked_at) == ("Does it quack?", turn.asked_at)
