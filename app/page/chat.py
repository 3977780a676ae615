"""The page of a conversation: welcome, questions, answers with references, feedback."""

import textwrap
import uuid
from collections.abc import Callable, Sequence
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.client import Client, ClientError, ServiceDownError
from app.grounding.clarification import asked_back_in_markdown
from app.page import asking, away, backlog, bridge, places, scope, session, sharing, source
from app.page.asking import SentQuestion, show_options
from app.page.failures import failure_html, ingest_if_advised, panel, sentence
from app.page.folding import begin_of_fold
from app.page.labels import label, moment
from app.page.markup import Chip, answer_blocks, plain_chip
from app.page.running import Running, runnings
from app.page.sections import STATES, CitedSection, cited_sections, since_then
from app.page.steps import FollowedPlan
from app.page.templates import render
from app.schema.answers import ChatAnswer
from app.schema.asking import picture_path
from app.schema.conversations import Conversation, Feedback, StaleReference, Standing, Turn
from app.schema.health import Health
from app.schema.passages import Citation
from kb_pipeline.asking import AskOptions
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.wording import counted

Rating = Literal["up", "down"]
_LONGEST_PREVIEW = 240
"""Characters of a preview: three or four lines, which are read at a glance."""
_RATINGS: tuple[Rating, Rating] = ("down", "up")
_GIVEN_HERE = "answers-given-here"
"""The ids of the answers that the reader has seen being given, in this session of the page."""
_LOST = "the service stopped before it answered this question; ask again"
TAKE_ALONG = (
    '<button type="button" class="kb-action" data-kb="copy"><span aria-hidden="true">content_copy</span>Copy</button>'
    '<button type="button" class="kb-action" data-kb="print"><span aria-hidden="true">print</span>Print</button>'
)
"""Buttons of an answer, which the browser follows without us."""


def show_question(question: str, picture_url: str = "", read: str = "") -> None:
    """Show a question, and the picture that came with it with what was ``read`` on it."""
    st.html(render("answer", "question", question, picture_url, read))


def show_turn(turn: Turn, at: int, *, has_buttons: bool = False) -> None:
    """Show a turn of a stored conversation; ``at`` is its position there, from 0.

    ``has_buttons``: it is the last one. The options of a question that it asks back follow as buttons, and the text
    leaves them out; its question can be worded differently.
    """
    with st.container(key=f"turn-{at}", gap="small"):
        picture = turn.picture
        show_question(turn.question, picture_path(turn.response_id) if picture else "", picture.text if picture else "")
        if has_buttons and turn.answer and (asked_back := turn.answer.clarification):
            st.html(answer_html(turn.answer.model_copy(update={"answer": asked_back.question}), at))
        elif turn.answer:
            options = turn.answer.clarification
            said = {"answer": asked_back_in_markdown(options)} if options else {}
            shown = turn.answer.model_copy(update=said)
            st.html(answer_html(shown, at, turn.stale, turn.asked_at, _standing_of(turn)))
            if turn.problem or not _is_courtesy(turn.answer):
                _show_actions(turn, can_edit=has_buttons)
        if turn.problem and turn.answer:
            st.html(panel("The answer is not complete", sentence(turn.problem), kind="note"))
        elif turn.problem or not turn.answer:
            st.html(panel("There is no answer", sentence(turn.problem or _LOST)))


def _is_courtesy(answer: ChatAnswer) -> bool:
    """Whether an answer tells nothing that anybody takes along, shares or rates, such as "You're welcome."."""
    return not (answer.citations or answer.refused or answer.plan or answer.tools or answer.clarification)


def _standing_of(turn: Turn) -> Standing | None:
    """What became of an answer since; that it is current says nothing to who has just seen it being given."""
    is_new = turn.response_id in st.session_state.get(_GIVEN_HERE, ())
    return None if is_new and turn.standing == "current" else turn.standing


def answer_html(
    answer: ChatAnswer,
    at: int,
    stale: Sequence[StaleReference] = (),
    asked_at: str = "",
    standing: Standing | None = None,
) -> str:
    """An answer with its references, the list of the sections that are its sources, and whether they still stand.

    With ``asked_at`` it has the list for paper, too.
    """
    sections = cited_sections(answer, stale)
    chips = _chips(answer.citations, stale, at)
    start, end = answer.folded or (len(answer.answer),) * 2
    start = begin_of_fold(answer.answer, start, end)
    parts = (answer.answer[:start], answer.answer[start:end], answer.answer[end:])
    first, folded, last = (answer_blocks(part, chips) for part in parts)
    more = [render("answer", "folded", "".join(folded))] if folded else []
    text = "".join((*first, *more, *last))
    how = ""
    if answer.answered_by != "extractive":  # the text of an extractive answer says that it quotes
        how = f"Written by {answer.model or 'a language model'}"
        if searches := len(answer.searches):
            how += f" from {counted(searches, 'search', 'searches')}"
    if answer.scope and not answer.refused:  # a refusal says it in its text
        how += f"{'. ' if how else ''}Searched in {answer.scope.in_words} only"
    plan = FollowedPlan(answer.plan) if answer.plan else None
    return render("answer", "answer", text, sections, at, how, plan, asked_at, standing, since_then(sections))


def label_of_quotes(quotes: Sequence[str]) -> str:
    """The beginning of what bears out a statement, as plain text, for whoever points at its reference."""
    return textwrap.shorten(" ".join(map(plain_text, quotes)).replace(" | ", ", "), _LONGEST_PREVIEW, placeholder=" …")


def _chips(citations: Sequence[Citation], stale: Sequence[StaleReference], at: int) -> Chip:
    titles = {each.number: CitedSection((each,), "").path for each in citations}
    quoted = {each.number: label_of_quotes(each.quotes) for each in citations}
    states = {reference.number: STATES[reference.state] for reference in stale}

    def chip(number: int) -> str:
        if number not in titles:
            return plain_chip(number)
        return render("answer", "reference", at, number, titles[number], states.get(number, ""), quoted[number])

    return chip


def _show_actions(turn: Turn, *, can_edit: bool) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"actions-{turn.response_id}"):
        st.html(TAKE_ALONG, width="content")
        sharing.offer(turn, st.query_params.get(places.CONVERSATION))
        if can_edit and st.button("Reword", icon=":material/edit:", type="tertiary", key=f"edit-{turn.response_id}"):
            _reword(turn)
        rating = _show_rating(turn) if session.client().keeps_answers else None
        if (answer := turn.answer) and (answer.refused or answer.is_closest or rating == _RATINGS.index("down")):
            _show_proposal(answer.in_full(turn.question), answer, f"propose-{turn.response_id}")


def _show_rating(turn: Turn) -> int | None:
    key = f"rating-{turn.response_id}"
    stored = _RATINGS.index(turn.feedback.rating) if turn.feedback else None
    rating = st.feedback("thumbs", key=key, default=stored, on_change=_rate, args=(turn, key))
    if rating is not None:
        _show_comment(turn, rating)
    return rating


def _show_proposal(question: str, answer: ChatAnswer, key: str) -> None:
    """Let a reader write what the answer lacks, beginning with their question and the closest article."""
    if st.button("Propose an answer", icon=":material/rate_review:", type="tertiary", key=key):
        closest = next((each.article_id for each in answer.citations if not each.is_of_web), None)
        places.go_to("contributions", {places.QUESTION: question, **({places.ARTICLE: closest} if closest else {})})


@st.dialog("Reword the question")
def _reword(turn: Turn) -> None:
    st.text_area("Question", turn.question, max_chars=asking.LONGEST, key="reworded")
    is_asked = st.button(
        "Ask", type="primary", icon=":material/arrow_upward:", key="ask-reworded", on_click=_ask_reworded, args=(turn,)
    )
    if is_asked:
        st.rerun()


def _ask_reworded(turn: Turn) -> None:
    if question := st.session_state["reworded"].strip():
        asking.ask_next(SentQuestion(question, asking.sent_with(turn)))


def _rate(turn: Turn, key: str) -> None:
    rating = st.session_state[key]
    if rating is not None:
        comment = turn.feedback.comment if turn.feedback else ""
        session.client().feedback(turn.response_id, Feedback(rating=_RATINGS[rating], comment=comment))
        st.toast("Thank you, your rating is stored with the answer.")


def _show_comment(turn: Turn, rating: int) -> None:
    stored = turn.feedback.comment if turn.feedback else ""
    form = st.popover("Comment", type="tertiary", icon=":material/add_comment:").form(
        f"comment-{turn.response_id}", border=False
    )
    comment = form.text_area("What was good, what was missing?", stored, max_chars=4000)
    if form.form_submit_button("Send"):
        session.client().feedback(turn.response_id, Feedback(rating=_RATINGS[rating], comment=comment))
        st.toast("Thank you, your comment is stored with the answer.")


_LIVE = "turn-live"
"""The turn whose answer is being written."""
_TICK_SECONDS = 0.06
"""Sixteen times a second: text seems to flow."""
_SILENT_TICK_SECONDS = 0.25
"""Four times a second, for a step or a second that changed."""


def show_running(running: Running, *, was_done: bool) -> None:
    """Show the answer until it is complete.

    ``was_done``: it was complete already when the conversation was read. One that ended since is shown as it is stored,
    with its options and references.
    """
    with st.container(key=_LIVE, gap="small"):
        show_question(running.question, running.picture.url if running.picture else "")
        view = AnswerView()
        if was_done:
            view.write(running.text)
            _show_end(running)
            return
        status = st.empty()
        st.button("Stop", icon=":material/stop_circle:", key="stop", on_click=running.stop)
        while not running.done:
            text = running.text
            view.write(text)
            step = "Writing" if text else running.step or _first_step(running)
            # sent in every round: Streamlit ends this run here when the reader does something else
            status.html(render("answer", "pulse", step))
            running.wait(_TICK_SECONDS if text else _SILENT_TICK_SECONDS, seen=len(text))
    st.rerun()


def _first_step(running: Running) -> str:
    if running.picture:
        return "Reading the picture"
    return f"Searching the {'web' if running.options.web else 'articles'}"


def _show_end(running: Running) -> None:
    if running.stopped:
        st.html(panel("You stopped this answer", "The part above was already written.", kind="note"))
    elif running.problem:
        st.html(failure_html(ClientError(running.problem)))
        asked = SentQuestion(running.question, running.picture, running.options)
        _offer_again(asking.ask_next, asked)


def _offer_again(ask: Callable[..., None], *asked: object) -> None:
    """Offer to ask the same question again."""
    st.button("Ask again", icon=":material/refresh:", key="again", on_click=ask, args=asked)


class AnswerView:
    """Shows a growing answer; only the paragraphs that changed are sent to the browser."""

    def __init__(self) -> None:
        self._container = st.container(key="paper", gap=None)
        self._places: list[DeltaGenerator] = []
        self._blocks: list[str] = []

    def write(self, text: str) -> None:
        """Show the text as it is now."""
        for at, block in enumerate(answer_blocks(text)):
            if at == len(self._places):
                self._places.append(self._container.empty())
                self._blocks.append("")
            if self._blocks[at] != block:
                self._places[at].html(f'<div class="kb-answer">{block}</div>')
                self._blocks[at] = block


_COLUMNS = 2
"""Suggestions beside each other; a third would break most questions into three lines."""


def _welcome(client: Client) -> None:
    """Show the greeting, and questions to click."""
    health = client.health()
    st.html(render("answer", "welcome", st.query_params.get(places.NOWHERE)))
    if not health.index.reachable or not health.index.chunks:
        problem = health.index.problem or "there are no articles in the index yet"
        command = ingest_if_advised(problem)
        st.html(panel("You cannot ask questions yet", sentence(problem), command, kind="note"))
        return
    _suggest(client.suggestions().questions)
    st.html(f'<p class="kb-how kb-centre">{_state(health)}</p>')


def _suggest(questions: Sequence[str]) -> None:
    """Show questions to click."""
    with st.container(key="suggestions"):
        for at in range(0, len(questions), _COLUMNS):
            for place, question in zip(st.columns(_COLUMNS), questions[at : at + _COLUMNS], strict=False):
                words, key, asked = label(question, 120), f"suggestion-{question}", SentQuestion(question)
                place.button(words, key=key, width="stretch", on_click=asking.ask_next, args=(asked,))


def _suggest_next(answer: ChatAnswer) -> None:
    """Show what a reader may ask next, or instead if nothing answers."""
    instead = dict.fromkeys((*filter(None, [answer.did_you_mean]), *answer.ask_instead))
    if questions := instead or answer.follow_ups:
        st.html(f'<p class="kb-how kb-next">{"Ask instead" if instead else "Ask next"}:</p>')
        _suggest([*questions])


def _state(health: Health) -> str:
    parts = [counted(health.index.chunks, "section"), f"last change {moment(health.last_published_at)}"]
    if health.answered_by == "extractive":
        parts.append("answers are quotations, without a language model")
    return " · ".join(parts)


def show() -> None:
    """Show the conversation of the URL and the box for the next question."""
    client, conversation_id = session.client(), st.query_params.get(places.CONVERSATION)
    running = runnings().find(session.asker(), conversation_id) if conversation_id else None
    was_done = running is not None and running.done
    conversation, is_away = _stored(client, conversation_id, running) if conversation_id else (None, False)
    sent = asking.next_question()
    if conversation_id and not (conversation or running or sent):
        st.html(panel("This conversation was not found", "It was deleted, or it is not yours.", kind="note"))
        return
    stored = conversation.turns if conversation else ()
    if running and _is_stored(running, stored):
        runnings().forget(session.asker(), conversation_id or "")
        st.session_state.setdefault(_GIVEN_HERE, set()).add(running.response_id)
        running = None
    stored = _without_running_turn(running, stored)
    if sent or conversation_id not in (None, st.session_state.get(_SHOWN)):
        # answers are read from their top
        bridge.reveal(_LIVE, f"turn-{len(stored) if sent or running else len(stored) - 1}")
    clicked = bridge.clicked(at=st.query_params.get(places.SOURCE))
    waits = running is not None and running.was_refused
    if is_away:
        st.bottom.html(away.line(has_question=waits))
    wanted = scope.choose(conversation_id, stored[-1] if stored else None)
    is_disabled = waits or (running is not None and not was_done)
    asking.show_box(is_disabled=is_disabled)
    is_over = not (running or sent or is_away)
    for at, turn in enumerate(stored):
        show_turn(turn, at, has_buttons=is_over and at == len(stored) - 1)
    if conversation and conversation.not_compared:
        st.html(not_compared_html(conversation.not_compared))
    offers = st.empty()  # all of them go at once when something is asked
    if stored and is_over:
        with offers.container():
            _offer_web(stored[-1])
            scope.offer_everywhere(stored[-1], conversation_id)
            _offer_next(stored[-1])
    elif not (stored or running or sent):
        with offers.container():
            _welcome(client)
    if clicked and clicked[0] == "source":
        source.open_source(stored, clicked[1])
    source.show_source(stored)
    if sent:
        options = sent.options or AskOptions(mode=backlog.wanted(), scope=wanted)
        running = _ask(client, conversation_id, sent, options)
        asking.forget_next()
        was_done = False
    st.session_state[_SHOWN] = st.query_params.get(places.CONVERSATION)
    if running and waits:
        if _show_waiting(running, len(stored), conversation_id or "", is_away=is_away):
            _ask(client, conversation_id, SentQuestion(running.question, running.picture), running.options)
            st.rerun()
    elif running:
        show_running(running, was_done=was_done)
    if is_away or waits:
        away.go_on_when_back()


def _show_waiting(running: Running, at: int, conversation_id: str, *, is_away: bool) -> bool:
    """Show a question that the service was not there to take; whether it is time to send it again."""
    with st.container(key=f"turn-{at}", gap="small"):
        show_question(running.question, running.picture.url if running.picture else "")
        forget = runnings().forget
        back = ":material/undo:"
        st.button("Take it back", icon=back, key="take-back", on_click=forget, args=(session.asker(), conversation_id))
    return not is_away and running.may_be_sent_again


def _offer_web(last: Turn) -> None:
    """Offer to search the web if nothing answers and it may be searched."""
    if name := last.answer.offers_web if last.answer else None:
        words, icon = f"Search {label(name)} for this", ":material/travel_explore:"
        st.button(words, icon=icon, key="search-web", on_click=asking.ask_again, args=(last,), kwargs={"web": True})


def _offer_next(last: Turn) -> None:
    """Offer to ask again if there is no answer, something else or more, or the documents that may be meant."""
    if last.answer is None:
        _offer_again(asking.ask_again, last)
    elif asked_back := last.answer.clarification:
        show_options(asked_back)
    else:
        _suggest_next(last.answer)


_SHOWN = "conversation-shown"
"""The conversation whose last turn the browser was told to show."""
_READ = "conversation-read"
"""The conversation that the reader has before them."""


def _stored(client: Client, conversation_id: str, running: Running | None) -> tuple[Conversation | None, bool]:
    """The stored conversation; ``None`` if there is none, because it was deleted or its first answer is in progress.

    While the service does not answer it is as it was read, which is told beside it.
    """
    try:
        conversation = client.conversation(conversation_id)
    except ServiceDownError:
        read: Conversation | None = st.session_state.get(_READ)
        read = read if read and read.id == conversation_id else None
        if not (read or running):
            raise
        return read, True
    except ClientError as exc:
        st.session_state.pop(_READ, None)
        if exc.status != 404:
            raise
        return None, False
    st.session_state[_READ] = conversation
    return conversation, False


def not_compared_html(reason: str) -> str:
    """A note that nobody knows whether the sources have changed, and why."""
    return panel("It is not known whether the sources have changed since", sentence(reason), kind="note")


def _is_stored(running: Running, stored: tuple[Turn, ...]) -> bool:
    return running.done and any(turn.response_id == running.response_id and turn.has_ended for turn in stored)


def _without_running_turn(running: Running | None, stored: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns before the one in progress, whose question the service stores when it begins."""
    begun = running and stored and not stored[-1].has_ended and stored[-1].question == running.question
    return stored[:-1] if begun else stored


def _ask(client: Client, conversation_id: str | None, asked: SentQuestion, options: AskOptions) -> Running:
    conversation_id = conversation_id or f"conv_{uuid.uuid4().hex}"
    st.query_params[places.CONVERSATION] = conversation_id
    st.query_params.pop(places.NOWHERE, None)
    return runnings().ask(client, session.asker(), conversation_id, asked.question, options, asked.picture)
