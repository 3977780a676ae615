"""What a reader sees before the first question: what can be asked, and questions to begin with."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.client import Client
from app.page.failures import panel, sentence
from app.page.labels import count, label, moment
from app.schema import Health

_COLUMNS = 2
_GREETING = (
    '<div class="kb-welcome"><h1>What would you like to know?</h1>'
    "<p>Answers say only what your articles say, with the screenshots that show it, "
    "and every sentence leads to its source.</p></div>"
)


def show(client: Client, place: DeltaGenerator) -> str | None:
    """Show it until a question is chosen, which is answered."""
    health = client.health()
    with place.container():
        st.html(_GREETING)
        if not health.index.reachable or not health.index.chunks:
            _show_empty(health)
            return None
        chosen = _suggestions(client)
        st.html(f'<p class="kb-how kb-centre">{_state(health)}</p>')
    if chosen:
        place.empty()
    return chosen


def _suggestions(client: Client) -> str | None:
    questions = client.suggestions().questions
    with st.container(key="suggestions"):
        for at in range(0, len(questions), _COLUMNS):
            for place, question in zip(st.columns(_COLUMNS), questions[at : at + _COLUMNS], strict=False):
                if place.button(label(question, 120), key=f"suggestion-{question}", width="stretch"):
                    return question
    return None


def _show_empty(health: Health) -> None:
    said = sentence(health.index.problem or "there are no articles in the index yet")
    st.html(panel("Nothing can be asked yet", said, "kb ingest", kind="note"))


def _state(health: Health) -> str:
    parts = [count(health.index.chunks, "passage"), f"last change {moment(health.last_published_at)}"]
    if health.answered_by == "extractive":
        parts.append("answers are quoted, without a language model")
    return " · ".join(parts)
