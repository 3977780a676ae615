"""Unanswered questions through Dagster: an asset with a history, read from the conversations of the service."""

import asyncio

import dagster as dg
import pytest

from app.conversations import open_conversations
from app.conversations.entries import now
from app.schema.answers import ChatAnswer
from app.schema.conversations import Turn
from app.settings import AppSettings
from kb_pipeline.evaluation.gaps import load_gaps
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.runs import execute, shown


def refuse(settings: Settings, *questions: str) -> None:
    """Store conversations of two people in which these questions were refused."""

    async def store() -> None:
        conversations = open_conversations(AppSettings(), settings)
        for number, question in enumerate(questions):
            user = f"user-{number % 2}"
            await conversations.begin_turn(user, f"c{number}", f"r{number}", question)
            answer = ChatAnswer(answer="No.", citations=(), answered_by="extractive", refused=True)
            turn = Turn(response_id=f"r{number}", asked_at=now(), question=question, answer=answer)
            await conversations.finish_turn(user, f"c{number}", turn)
        await conversations.close()

    asyncio.run(store())


def test_the_groups_are_counted_and_kept(
    instance: dg.DagsterInstance, things_published: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_RECORD_CONTENT", "true")
    refuse(settings, "Is there a mobile app?", "is there a mobile app?", "Where are my invoices?")
    assert execute(instance, "find_knowledge_gaps").success
    told = shown(instance, "unanswered_questions")
    assert (told["questions"], told["gaps"], told["refused"], told["closest"], told["disliked"]) == (3, 2, 3, 0, 0)
    assert told["most_asked"][0]["asked"] == 2
    assert "mobile app" in told["most_asked"][0]["question"]
    found = load_gaps(settings)
    assert found and [gap.count for gap in found.gaps] == [2, 1]
    assert "user-" not in found.model_dump_json() + str(told)


def test_no_word_is_recorded_unless_it_may_be(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    refuse(settings, "Is Zebulon there?")
    assert execute(instance, "find_knowledge_gaps").success
    told = shown(instance, "unanswered_questions")
    found = load_gaps(settings)
    assert told["questions"] == 1 and found and "Zebulon" not in found.model_dump_json() + str(told)


@pytest.mark.slow("a run of Dagster")
def test_a_question_is_no_gap_once_an_article_answers_it(
    instance: dg.DagsterInstance, things_published: None, settings: Settings, article: Article
) -> None:
    refuse(settings, "How is the zebra alarm muted?", "Is Zebulon there?")
    assert execute(instance, "find_knowledge_gaps").success
    assert shown(instance, "unanswered_questions")["questions"] == 2
    article("alarms", "<h1>Alarms</h1><h2>The zebra alarm</h2><p>The zebra alarm is muted at night.</p>")
    later = Run("run-2", "2100-01-01T00:00:00+00:00")
    publish(open_workspace(settings), [build_article(settings, "alarms", LAYER_NAMES, later)], LAYER_NAMES, later)
    assert execute(instance, "find_knowledge_gaps").success
    assert shown(instance, "unanswered_questions")["questions"] == 1


@pytest.mark.slow("a run of Dagster")
def test_usage_is_counted_with_it(instance: dg.DagsterInstance, things_published: None, settings: Settings) -> None:
    refuse(settings, "Is Zebulon there?", "Where are my invoices?")
    assert execute(instance, "find_knowledge_gaps").success
    told = shown(instance, "usage")
    assert (told["asked"], told["refused"], told["answered"], told["answered_share"]) == (2, 2, 0, 0)
    assert told["articles"] == told["unused_articles"] > 0
    assert (told["weeks"][0]["asked"], told["by_day"][0]["refused"]) == (2, 2)
    assert told["unused"][0]["days"] >= 0
    assert "Zebulon" not in str(told)


def test_without_conversations_there_are_no_gaps(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    assert execute(instance, "find_knowledge_gaps").success
    assert shown(instance, "unanswered_questions")["gaps"] == 0
