"""A question and its answer as they are shown: text with references, sources, what the reader may do with it."""

from collections.abc import Sequence
from html import escape
from typing import Literal

import streamlit as st

from app.page import session
from app.page.failures import panel, sentence
from app.page.markup import Chip, answer_blocks, plain_chip
from app.schema import ChatAnswer, Citation, Feedback, Turn

Rating = Literal["up", "down"]
_RATINGS: tuple[Rating, Rating] = ("down", "up")
_LOST = "what came of this question is not known: the service stopped before it was answered; ask again"
_COPY = (
    '<button type="button" class="kb-action" data-kb="copy"><span aria-hidden="true">content_copy</span>Copy</button>'
)


def show_question(question: str) -> None:
    """What was asked."""
    st.html(f'<div class="kb-question"><p>{escape(question)}</p></div>')


def show_turn(turn: Turn, at: int) -> None:
    """A turn of a stored conversation; ``at`` is its place there."""
    with st.container(key=f"turn-{at}", gap="small"):
        show_question(turn.question)
        if turn.answer:
            _show_answer(turn.answer, at)
            _show_actions(turn)
        if turn.problem and turn.answer:
            st.html(panel("The answer is not complete", sentence(turn.problem), kind="note"))
        elif turn.problem or not turn.answer:
            st.html(panel("There is no answer", sentence(turn.problem or _LOST)))


def used(answer: ChatAnswer) -> Sequence[Citation]:
    """The passages that the answer refers to."""
    return [citation for citation in answer.citations if citation.used]


def answer_html(answer: ChatAnswer, at: int) -> str:
    """An answer with its references, and the list of what they lead to."""
    chip = _chips(answer.citations, at)
    sources = "".join(_source(citation, at) for citation in used(answer))
    listed = f'<div class="kb-sources" role="list" aria-label="Sources">{sources}</div>' if sources else ""
    text = "".join(answer_blocks(answer.answer, chip))
    how = f'<p class="kb-how">{escape(said)}</p>' if (said := _how(answer)) else ""
    return f'<div class="kb-answer">{text}</div>{listed}{how}'


def _show_answer(answer: ChatAnswer, at: int) -> None:
    st.html(answer_html(answer, at))


def _chips(citations: Sequence[Citation], at: int) -> Chip:
    titles = {citation.number: _name(citation) for citation in citations}

    def chip(number: int) -> str:
        if number not in titles:
            return plain_chip(number)
        title = escape(titles[number])
        return (
            f'<button type="button" class="kb-ref" data-kb="source:{at}.{number}" title="{title}" '
            f'aria-label="Source {number}: {title}">{number}</button>'
        )

    return chip


def _source(citation: Citation, at: int) -> str:
    section = citation.section if citation.section != citation.title else ""
    name = escape(f"[{citation.number}] {_name(citation)}")
    return (
        f'<span role="listitem"><button type="button" class="kb-source" data-kb="source:{at}.{citation.number}" '
        f'aria-label="{name}"><span class="kb-ref">{citation.number}</span><span class="kb-source-name">'
        f"<b>{escape(citation.title)}</b>{f'<i>{escape(section)}</i>' if section else ''}</span></button></span>"
    )


def _name(citation: Citation) -> str:
    return " › ".join(dict.fromkeys((citation.title, *citation.heading_path)))


def _how(answer: ChatAnswer) -> str:
    """Who worded it, from how many searches; a quoting answer says itself that it quotes."""
    if answer.answered_by == "extractive":
        return ""
    searches = "1 search" if len(answer.searches) == 1 else f"{len(answer.searches)} searches"
    return f"Worded by {answer.model or 'a language model'} from {searches}"


def _show_actions(turn: Turn) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"actions-{turn.response_id}"):
        st.html(_COPY, width="content")
        key = f"rating-{turn.response_id}"
        given = _RATINGS.index(turn.feedback.rating) if turn.feedback else None
        rated = st.feedback("thumbs", key=key, default=given, on_change=_rate, args=(turn, key))
        if rated is not None:
            _show_comment(turn, rated)


def _rate(turn: Turn, key: str) -> None:
    rated = st.session_state[key]
    if rated is not None:
        comment = turn.feedback.comment if turn.feedback else ""
        session.client().feedback(turn.response_id, Feedback(rating=_RATINGS[rated], comment=comment))
        st.toast("Thank you, that is stored with the answer.")


def _show_comment(turn: Turn, rated: int) -> None:
    said = turn.feedback.comment if turn.feedback else ""
    form = st.popover("Comment", type="tertiary", icon=":material/add_comment:").form(
        f"comment-{turn.response_id}", border=False
    )
    comment = form.text_area("What was good, what was missing?", said, max_chars=4000)
    if form.form_submit_button("Send"):
        session.client().feedback(turn.response_id, Feedback(rating=_RATINGS[rated], comment=comment))
        st.toast("Thank you, your comment is stored with the answer.")
