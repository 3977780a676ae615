"""What a reader asks: a question, the picture that may come with it, and which of several documents is meant."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.client import ClientError, SentPicture
from app.grounding.clarification import facts_of
from app.page import session
from app.page.labels import label
from app.schema.answers import Clarification
from app.schema.asking import ABOUT_A_PICTURE
from app.schema.conversations import Turn
from kb_pipeline.asking import AskOptions

LONGEST = 8000
"""Characters of a question."""

_TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp"}
_MB = 1_000_000
_NEXT = "asked-next"


@dataclass(frozen=True, slots=True)
class SentQuestion:
    """A question, and what was attached to it; ``options`` if they are not those that the page shows."""

    question: str
    picture: SentPicture | None = None
    options: AskOptions | None = None


def typed(*, is_disabled: bool) -> SentQuestion | None:
    """Show the box for a question, and return what was typed and attached once it is sent."""
    most = session.page_settings().picture_bytes
    value = st.chat_input(
        "Ask a question, or attach a screenshot" if most else "Ask a question",
        key="question",
        max_chars=LONGEST,
        disabled=is_disabled,
        submit_mode="disable",
        accept_file=bool(most),
        file_type=list(_TYPES),
        max_upload_size=max(1, most // _MB),
    )
    if not value:
        return None
    text, files = (value, []) if isinstance(value, str) else (value.text or "", value.files)
    picture = None
    if files:  # the service looks into the file, whatever its name says
        ending = files[0].name.rpartition(".")[2].lower()
        picture = SentPicture(files[0].getvalue(), _TYPES.get(ending, "image/png"))
    question = text.strip() or (ABOUT_A_PICTURE if picture else "")
    return SentQuestion(question, picture) if question else None


def ask_next(asked: SentQuestion) -> None:
    """Have the page of the conversation ask this when it is shown next."""
    st.session_state[_NEXT] = asked


def taken_next() -> SentQuestion | None:
    """What :func:`ask_next` left, once."""
    left: SentQuestion | None = st.session_state.pop(_NEXT, None)
    return left


def again(turn: Turn, **changed: Any) -> SentQuestion:
    """The question of a turn, to be asked again as it was asked, but for what is changed."""
    return SentQuestion(turn.question, sent_with(turn), turn.options.model_copy(update=changed))


def sent_with(turn: Turn) -> SentPicture | None:
    """The picture that came with a stored question, to be sent again; none if it is gone."""
    if turn.picture is None:
        return None
    try:
        return session.client().picture(turn.response_id)
    except ClientError as exc:
        if exc.status != 404:
            raise
        return None


_ALL, _NONE = "All of them", "None of these"
_LONGEST_TITLE, _LONGEST_FACTS = 120, 160
"""Characters on a button: two lines of each."""


def show_options(clarification: Clarification) -> str | None:
    """Show the documents that may be meant; the reply of the reader who chose, as one could type it."""
    place = st.empty()
    with place.container(key="options", gap="small"):
        chosen = _chosen(clarification)
    if chosen:
        place.empty()
    return chosen


def _chosen(clarification: Clarification) -> str | None:
    reply = None
    for option in clarification.options:
        facts = facts_of(option)
        words = f"**{label(option.title, _LONGEST_TITLE)}**"
        if facts:
            words += f"  \n{label(facts, _LONGEST_FACTS)}"
        if st.button(words, key=f"option-{option.number}", width="stretch"):
            reply = option.reply or str(option.number)
    with st.container(horizontal=True, gap="small", key="options-others"):
        if clarification.allows_all and st.button(_ALL, key="option-all", type="tertiary"):
            reply = _ALL
        if st.button(_NONE, key="option-none", type="tertiary"):
            reply = _NONE
    return reply
