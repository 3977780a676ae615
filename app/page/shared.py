"""The page of an answer that somebody shared: one question with its answer and sources, to read only."""

import streamlit as st

from app.client import ClientError
from app.page import bridge, places, session, source
from app.page.chat import TAKE_ALONG, answer_html, not_compared_html, show_question
from app.page.failures import panel, sentence
from app.page.labels import moment


def show() -> None:
    """Show the answer of the link in the URL, as far as this reader may read it."""
    clicked = bridge.clicked(at=st.query_params.get(places.SOURCE))
    st.html('<h1 class="kb-shared">A shared answer</h1>')
    try:
        shared = session.client().shared(st.query_params.get(places.ANSWER, ""))
    except ClientError as exc:
        if exc.status != 404:
            raise
        advice = "The link was taken back, or its conversation was deleted. Ask whoever sent it to you."
        st.html(panel("Nothing is shared here any more", advice, kind="note"))
        return
    turn = shared.turn
    st.html(f'<p class="kb-how">Asked on {moment(turn.asked_at)}. You see what you may read yourself.</p>')
    with st.container(key="turn-0", gap="small"):
        show_question(turn.question)
        if turn.problem:
            title = "Parts are left out" if turn.answer else "There is no answer for you"
            st.html(panel(title, sentence(turn.problem), kind="note"))
        if turn.answer:
            st.html(answer_html(turn.answer, 0, turn.stale, turn.asked_at, turn.standing))
            st.html(TAKE_ALONG, width="content")
    if shared.not_compared:
        st.html(not_compared_html(shared.not_compared))
    if clicked and clicked[0] == "source":
        source.open_source((turn,), clicked[1])
    source.show_source((turn,))
