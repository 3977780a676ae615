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
_BOX, _NEXT = "question", "asked-next"


@dataclass(frozen=True, slots=True)
class SentQuestion:
    """A question, and what was attached to it; ``options`` if they are not those that the page shows."""

    question: str
    picture: SentPicture | None = None
    options: AskOptions | None = None


def show_box(*, is_disabled: bool) -> None:
    """Show the box for a question; what is sent is asked next."""
    most = session.page_settings().picture_bytes
    # in Streamlit's own place for it, a page would follow the end of what is added, and answers are read from their top
    st.bottom.chat_input(
        "Ask a question, or attach a screenshot" if most else "Ask a question",
        key=_BOX,
        max_chars=LONGEST,
        disabled=is_disabled,
        submit_mode="disable",
        accept_file=bool(most),
        file_type=list(_TYPES),
        max_upload_size=max(1, most // _MB),
        on_submit=_ask_typed,
    )


def _ask_typed() -> None:
    value = st.session_state[_BOX]
    if not value:
        return
    text, files = (value, []) if isinstance(value, str) else (value.text or "", value.files)
    picture = None
    if files:  # the service looks into the file, whatever its name says
        ending = files[0].name.rpartition(".")[2].lower()
        picture = SentPicture(files[0].getvalue(), _TYPES.get(ending, "image/png"))
    if question := text.strip() or (ABOUT_A_PICTURE if picture else ""):
        ask_next(SentQuestion(question, picture))


def ask_next(asked: SentQuestion) -> None:
    """Have the page of the conversation ask this when it is shown next.

    What a reader sends or clicks comes here by a callback: whatever else the browser reports may end the run that draws
    the page, and begin another one that knows nothing of the click.
    """
    st.session_state[_NEXT] = asked


def next_question() -> SentQuestion | None:
    """What is to be asked, until :func:`forget_next`."""
    waiting: SentQuestion | None = st.session_state.get(_NEXT)
    return waiting


def forget_next() -> None:
    """Forget what was to be asked, which is being answered by now."""
    st.session_state.pop(_NEXT, None)


def ask_again(turn: Turn, **changed: Any) -> None:
    """Ask the question of a turn again as it was asked, but for the options that are changed."""
    ask_next(SentQuestion(turn.question, sent_with(turn), turn.options.model_copy(update=changed)))


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


def show_options(clarification: Clarification) -> None:
    """Show the documents that may be meant, to click; what is clicked is asked as one could type it."""
    with st.container(key="options", gap="small"):
        for option in clarification.options:
            facts = facts_of(option)
            words = f"**{label(option.title, _LONGEST_TITLE)}**"
            if facts:
                words += f"  \n{label(facts, _LONGEST_FACTS)}"
            reply = SentQuestion(option.reply or str(option.number))
            st.button(words, key=f"option-{option.number}", width="stretch", on_click=ask_next, args=(reply,))
        with st.container(horizontal=True, gap="small", key="options-others"):
            for words, key in ((_ALL, "option-all"), (_NONE, "option-none")):
                if words == _NONE or clarification.allows_all:
                    st.button(words, key=key, type="tertiary", on_click=ask_next, args=(SentQuestion(words),))
