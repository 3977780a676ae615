"""The agent in a Python program, side by side with others, with sessions."""

import asyncio

import app
from app.answering.base import Searched, TextPart
from app.application.in_python import Answered
from app.callers.principal import Principal
from app.settings import AppSettings
from kb_pipeline.flow.access import Access
from kb_pipeline.settings import Settings


def test_it_answers_with_steps_text_and_at_last_the_answer(own: Settings) -> None:
    async def asked() -> list[object]:
        async with app.documents_agent(AppSettings(), Principal.of("ann"), knowledge_base=own) as agent:
            return [event async for event in agent.execute("How do I crop a layer?", "s1")]

    events = asyncio.run(asked())
    assert any(isinstance(event, Searched) for event in events)
    assert isinstance(events[-1], Answered)
    text = "".join(event.delta for event in events if isinstance(event, TextPart))
    assert events[-1].answer.answer == text
    assert "Crop to Content" in text


def test_each_user_is_answered_from_what_they_may_see(own: Settings) -> None:
    async def asked(user: Principal) -> str:
        async with app.documents_agent(AppSettings(), user, knowledge_base=own) as agent:
            return "".join([str(event) async for event in agent.execute("What is the salary of the director?")])

    assert "12345" in asyncio.run(asked(Principal("eve", ("group-hr",))))
    assert "12345" not in asyncio.run(asked(Principal.of("ann")))


def test_a_session_remembers_what_was_said(own: Settings) -> None:
    async def asked() -> list[str]:
        async with app.documents_agent(AppSettings(), knowledge_base=own) as agent:
            for message in ("How do I crop a layer?", "And how do I undo it?"):
                events = [event async for event in agent.execute(message, "s1")]
            return [event.query for event in events if isinstance(event, Searched)]

    assert "crop" in asyncio.run(asked())[0]


def test_a_session_says_nothing_more_of_what_was_restricted(own: Settings) -> None:
    async def asked() -> list[str]:
        async with app.documents_agent(AppSettings(), knowledge_base=own) as agent:
            [_ async for _ in agent.execute("How do I crop a layer?", "s1")]
            agent.service.articles.access.record("layers", Access(readers=("group-hr",)), pending=True)
            events = [event async for event in agent.execute("And how do I undo it?", "s1")]
            return [event.query for event in events if isinstance(event, Searched)]

    assert "crop" not in asyncio.run(asked())[0]
