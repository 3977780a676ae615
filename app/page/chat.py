"""Questions and answers: one conversation, the one that the address names."""

import uuid

import streamlit as st

from app.client import Client, ServiceError
from app.page import bridge, live, places, session, source, turns, welcome
from app.page.failures import panel
from app.page.running import Running, runnings
from app.schema import Turn

_LONGEST = 8000


def show() -> None:
    """Show the conversation, and let more be asked."""
    clicked = bridge.clicked()
    client, conversation_id = session.client(), st.query_params.get(places.CONVERSATION)
    running = runnings().find(session.asker(), conversation_id) if conversation_id else None
    stored = _stored(client, conversation_id, running) if conversation_id else ()
    if stored is None:
        st.html(panel("This conversation is not here", "It was deleted, or it is somebody else's.", kind="note"))
        return
    if running and _is_told(running, stored):
        runnings().forget(session.asker(), conversation_id or "")
        running = None
    stored = _without(running, stored)
    busy = running is not None and not running.done
    asked = st.chat_input("Ask a question", key="question", max_chars=_LONGEST, disabled=busy, submit_mode="disable")
    for at, turn in enumerate(stored):
        turns.show_turn(turn, at)
    if stored and not (running or asked) and stored[-1].answer is None and live.ask_again():
        asked = stored[-1].question
    greeting = st.empty()
    if not (stored or running or asked):
        asked = welcome.show(client, greeting)
    match clicked:
        case ("source", which):
            source.open_source(stored, which)
        case ("article", article_id):
            places.go_to_article(article_id)
    if asked and asked.strip():
        running = _ask(client, conversation_id, asked.strip())
    if running and live.show(running, len(stored)):
        _ask(client, conversation_id, running.question)
        st.rerun()


def _stored(client: Client, conversation_id: str, running: Running | None) -> tuple[Turn, ...] | None:
    """The turns that the service has; ``None`` where it has no such conversation, nor is one about to begin."""
    try:
        return client.conversation(conversation_id).turns
    except ServiceError as exc:
        if exc.status != 404:
            raise
        return () if running else None


def _is_told(running: Running, stored: tuple[Turn, ...]) -> bool:
    """Whether the service tells the answer as a turn, so that we need not keep it any more."""
    return running.done and any(turn.response_id == running.response_id and _has_ended(turn) for turn in stored)


def _without(running: Running | None, stored: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns before the one that is under way, whose question the service keeps from its beginning."""
    begun = running and stored and not _has_ended(stored[-1]) and stored[-1].question == running.question
    return stored[:-1] if begun else stored


def _has_ended(turn: Turn) -> bool:
    return turn.answer is not None or turn.problem is not None


def _ask(client: Client, conversation_id: str | None, question: str) -> Running:
    conversation_id = conversation_id or f"conv_{uuid.uuid4().hex}"
    st.query_params[places.CONVERSATION] = conversation_id
    return runnings().ask(client, session.asker(), conversation_id, question)
