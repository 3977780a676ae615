"""Knowledge gaps over HTTP: words for reviewers only, articles for those who may read them."""

import pytest

from app.application import AgentApplication
from kb_pipeline.evaluation.gaps import Gap, KnowledgeGaps, save_gaps
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in
from kb_pipeline_tests.conditions import wait_until

GAPS = KnowledgeGaps(
    made_at="2026-03-01T00:00:00+00:00",
    questions=4,
    cited={"secret": 7, "printing": 2},
    records_content=True,
    gaps=(
        Gap(
            question="What does the director earn in Rome?",
            count=3,
            reasons={"refused": 2, "disliked": 1},
            last_asked="2026-02-02T00:00:00+00:00",
            article_id="secret",
            title="Salaries",
        ),
        Gap(
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


def test_reviewers_look_for_them_now_and_nothing_is_kept(serve: Serve, own: Settings) -> None:
    client = serve()
    client.post("/chat", json={"question": "zxqv wvut"}).raise_for_status()
    wait_until(lambda: len(AgentApplication(own).asked("2000").unanswered) == 1)
    found = client.get("/api/gaps", params={"now": "true"}).json()
    assert [(gap["question"], gap["count"], gap["refused"]) for gap in found["gaps"]] == [("zxqv wvut", 1, 1)]
    assert client.get("/api/gaps").json()["made_at"] is None


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
