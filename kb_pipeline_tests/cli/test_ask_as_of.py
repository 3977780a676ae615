"""``kb ask --as-of``: what was said and what would be said now."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.server import create_app
from app.callers.principal import LOCAL_USER
from app.conversations import open_conversations
from app.schema.conversations import Turn
from app.settings import AppSettings
from kb_pipeline.cli import console
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.citing import ORIGIN, answer, citation
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.building import build_here, made_once
from kb_pipeline_tests.cli.conftest import Run, page, publish_two_articles

pytestmark = pytest.mark.slow("runs whole commands")

QUESTION = "How do I reset a password?"
FOLLOW_UP = "And where is that?"
HERS = {"X-MS-CLIENT-PRINCIPAL-ID": "ann"}


@pytest.fixture
def built(settings: Settings) -> Settings:
    made_once(publish_two_articles, settings)
    return settings


def stored(built: Settings, *questions: str, headers: dict[str, str] | None = None, **settings: Any) -> str:
    """The id of the service's answer to the last of these questions of one conversation."""
    with serving_app(create_app(AppSettings(**settings), built)) as url:
        for question in questions:
            request = {"model": "knowledge-base", "input": question, "conversation": "conv_1"}
            reply = httpx.post(f"{url}/v1/responses", json=request, headers=headers, timeout=30)
            assert reply.raise_for_status().json()["status"] == "completed"
    return str(reply.json()["id"])


def rewrite(built: Settings, old: str, new: str) -> None:
    html = Path(built.staging) / "passwords" / "index.html"
    html.write_text(html.read_text().replace(old, new))
    build_here(built, "passwords", run_id="run-2")


def test_an_answer_of_unchanged_articles_is_the_same_now(run: Run, built: Settings) -> None:
    said = run("ask", "--as-of", stored(built, QUESTION))
    assert said.code == 0
    assert QUESTION in said.words
    assert "Then and now the same" in said.words
    assert said.words.count("choose Reset password") == 1
    assert "[1 → 1] Passwords › Reset a password unchanged" in said.words


def test_a_rewritten_section_is_shown_with_both_answers(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION)
    rewrite(built, "Open the profile menu", "Open the account menu")
    said = run("ask", "--as-of", answer_id)
    assert "Open the profile menu" in said.words
    assert "Open the account menu" in said.words
    assert "[1 → 1] Passwords › Reset a password changed since" in said.words
    assert "[-profile-]{+account+}" in said.words


def test_in_a_narrow_terminal_the_answers_follow_each_other(
    run: Run, built: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_id = stored(built, QUESTION)
    rewrite(built, "Open the profile menu", "Open the account menu")
    monkeypatch.setattr(console.out, "width", 80)
    said = run("ask", "--as-of", answer_id)
    assert said.out.index("Then ─") < said.out.index("profile menu") < said.out.index("Now ─")
    assert said.out.index("Now ─") < said.out.rindex("account menu")
    assert max(map(len, said.out.splitlines())) <= 80


def test_a_program_gets_then_and_now_in_one_object(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION)
    rewrite(built, "Open the profile menu", "Open the account menu")
    compared = run("ask", "--as-of", answer_id, "--json").json
    assert (compared["response_id"], compared["question"]) == (answer_id, QUESTION)
    assert "profile menu" in compared["then"]["answer"]
    assert "account menu" in compared["now"]["answer"]
    [section] = [each for each in compared["sections"] if each["number_then"] == 1]
    assert (section["article_id"], section["state"]) == ("passwords", "changed")
    generation = compared["circumstances"][0]
    assert generation["name"] == "index generation"
    assert generation["then"] == generation["now"]
    assert generation["now"]


def test_another_generation_model_and_prompt_are_named(run: Run, built: Settings) -> None:
    origin = ORIGIN.model_copy(update={"generation": "earlier"})
    then = answer(
        "Choose Reset. [Ref #1]", citation(origin=origin), answered_by="agent", model="m-1", prompt_version="2"
    )
    asyncio.run(
        keep(built, Turn(response_id="caresp_1", asked_at="2026-01-01T00:00:00", question=QUESTION, answer=then))
    )
    said = run("ask", "--as-of", "caresp_1").words
    for changed in ("answered by agent → extractive", "model m-1 → none", "prompt version 2 → none"):
        assert changed in said
    assert "index generation earlier → " in said


async def keep(built: Settings, turn: Turn) -> None:
    store = open_conversations(AppSettings(), built)
    await store.begin_turn(LOCAL_USER, "conv_1", turn.response_id, turn.question)
    await store.finish_turn(LOCAL_USER, "conv_1", turn)
    await store.close()


def test_a_follow_up_is_asked_after_the_same_messages(run: Run, built: Settings) -> None:
    compared = run("ask", "--as-of", stored(built, QUESTION, FOLLOW_UP), "--json").json
    assert compared["question"] == FOLLOW_UP
    assert compared["now"]["searches"] == compared["then"]["searches"]
    assert QUESTION in compared["now"]["searches"][0]
    assert compared["now"]["answer"] == compared["then"]["answer"]


def test_a_question_about_one_document_is_asked_about_it_again(run: Run, built: Settings) -> None:
    with serving_app(create_app(AppSettings(), built)) as url:
        request = {"model": "knowledge-base", "input": QUESTION, "document_ids": ["invoices"], "top_k": 1}
        answer_id = httpx.post(f"{url}/v1/responses", json=request, timeout=30).raise_for_status().json()["id"]
    compared = run("ask", "--as-of", answer_id, "--json").json
    assert {each["article_id"] for each in compared["now"]["citations"]} <= {"invoices"}
    assert compared["now"]["answer"] == compared["then"]["answer"]


def test_a_removed_section_is_not_available_any_more(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION)
    (Path(built.staging) / "passwords" / "index.html").write_text(page("Passwords", "They live in the vault now."))
    build_here(built, "passwords", run_id="run-2")
    assert "Passwords › Reset a password not available any more" in run("ask", "--as-of", answer_id).words


def test_a_mistyped_answer_is_recognised(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION)
    said = run("ask", "--as-of", f"{answer_id[:-1]}!")
    assert said.code == 2
    assert f"did you mean {answer_id} ({QUESTION})?" in said.words


def test_an_unknown_answer_is_told_with_the_latest_ones(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION)
    said = run("ask", "--as-of", "somewhere")
    assert said.code == 2
    assert f"there is no answer 'somewhere' of the user local; the latest are {answer_id} ({QUESTION})" in said.words


def test_a_conversation_is_told_with_its_answers(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION)
    said = run("ask", "--as-of", "conv_1")
    assert (said.code, f"name one of its answers: {answer_id} ({QUESTION})" in said.words) == (2, True)


def test_without_stored_answers_it_says_which_ones_are_stored(run: Run, built: Settings) -> None:
    said = run("ask", "--as-of", "caresp_1")
    assert (said.code, "those of the chat page and of the API are" in said.words) == (2, True)


def test_an_answer_of_somebody_who_signed_in_is_theirs_alone(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION, headers=HERS, easy_auth=True)
    said = run("ask", "--as-of", answer_id)
    assert (said.code, QUESTION in said.words) == (2, False)


def test_an_answer_from_an_article_that_was_hidden_since_is_not_shown(run: Run, built: Settings) -> None:
    answer_id = stored(built, QUESTION)
    (Path(built.staging) / "passwords" / "metadata.json").write_text('{"access_control_list": ["group-hr"]}')
    build_here(built, "passwords", run_id="run-2")
    said = run("ask", "--as-of", answer_id)
    assert (said.code, "you may no longer read" in said.words, "profile" in said.words) == (2, True, False)


@pytest.mark.parametrize("arguments", [(), ("--as-of", "caresp_1", "Why?")])
def test_it_takes_either_a_question_or_an_answer(run: Run, built: Settings, arguments: tuple[str, ...]) -> None:
    said = run("ask", *arguments)
    assert (said.code, "ask either a question" in said.words) == (2, True)
