"""Asks a question in the terminal: streams the answer, then lists its sources, or asks which document is meant.

An alert is investigated in the same way, step by step."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from urllib.parse import unquote

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.markup import escape

from app.answering.base import Message, Searched, TextPart, ToolStarted
from app.answering.grounded import GroundedAnswer
from app.callers.picture import bytes_in
from app.grounding.citations import IMAGE_ROUTE, CitationBook
from app.grounding.source_style import SourceStyle, in_source_style
from app.library.retrieval import Retrieval
from app.logs.auditing import note_answer, recording
from app.network.networks import Networks
from app.network.opening import open_investigator
from app.schema.answers import ChatAnswer
from app.schema.conversations import AnswerThenAndNow
from app.schema.passages import Citation
from app.schema.steps import tool_in_words
from app.service import open_service
from app.settings import AppSettings
from kb_pipeline.application import Investigated
from kb_pipeline.asking import AskOptions
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import os_user


async def ask(
    question: str,
    options: AskOptions,
    settings: AppSettings,
    knowledge_base: Settings,
    console: Console | None,
    *,
    picture: Path | None = None,
) -> ChatAnswer:
    """Ask as the local user; with a console, stream the answer to it. ``picture`` belongs to the question.

    If the answer asks back which document is meant, a person at a terminal is asked for it, and gets the next answer.

    Raises:
        AnswerError: the question is not valid, or a service failed.
        KnowledgeBaseError: the index cannot be searched.
    """
    service = open_service(settings, knowledge_base)
    try:
        who = settings.local_principal
        shown = await service.picture_reader.read(bytes_in(picture, settings.picture_bytes)) if picture else None
        checked = service.question(question, who, options, picture=shown)
        while True:
            answer = GroundedAnswer(service.answerer, checked, service.book())
            style = SourceStyle(answer.citations) if settings.citation_style == "source" else None
            with recording(service.audit, "ask", os_user(), "terminal"):
                if console is None:
                    whole = await answer.whole()
                else:
                    await _show(answer, checked.text, console, style)
                    whole = answer.so_far()
                note_answer(checked.text, whole)
            if console is not None:
                _show_more(whole, checked.text, console, str(service.articles.layout.serving_root))
            service.loose_questions.answered(checked.text, who, whole)
            reply = _reply(whole, console)
            if not reply:
                return whole if style is None else _in_words(whole)
            said = (*checked.history, Message("user", checked.text), Message("assistant", whole.answer))
            checked = service.question(
                reply,
                checked.who,
                options.model_copy(update={"document_ids": (), "web": False}),
                history=said,
                clarification=whole.clarification,
                picture=checked.picture,
            )
    finally:
        await service.close()


def _show_more(answer: ChatAnswer, question: str, console: Console, serving: str) -> None:
    """Print the sources of an answer, and what else can be asked."""
    console.print()
    for line in source_lines(answer.citations, serving):
        console.print(line, soft_wrap=True)
    instead = [*filter(None, (answer.did_you_mean, *answer.ask_instead))]
    if questions := instead or answer.follow_ups:
        console.print("Ask instead:" if instead else "Ask next:", style="dim")
    for asked in questions:
        console.print(f"[dim]kb ask[/] {escape(shlex.quote(asked))}", soft_wrap=True)
    if answer.offers_web:
        command = f"kb ask --web {shlex.quote(question)}"
        console.print(f"To search {escape(answer.offers_web)} for this: [dim]{escape(command)}[/]", soft_wrap=True)
    if answer.clarification and not _answers(console):
        console.print("Ask again about the one that you mean:", style="dim")
        for option in answer.clarification.options:
            command = shlex.join([answer.clarification.asked, "--document", option.article_id])
            console.print(f"[dim]{option.number}.[/] [dim]kb ask[/] {escape(command)}", soft_wrap=True)


def _reply(answer: ChatAnswer, console: Console | None) -> str:
    """What a person replies to a question that is asked back; nothing if it is none, or nobody is there to reply."""
    if answer.clarification is None or console is None or not _answers(console):
        return ""
    numbers = f"1-{len(answer.clarification.options)}"
    choices = f"{numbers}, all or none" if answer.clarification.allows_all else f"{numbers} or none"
    try:
        return console.input(f"[bold]Which one?[/] ({choices}; Enter ends) ").strip()
    except (EOFError, KeyboardInterrupt):
        console.print()
        return ""


def _answers(console: Console) -> bool:
    """Whether a person reads the console and can type."""
    return console.is_terminal and sys.stdin.isatty()


async def ask_again(
    answer_id: str, top: int | None, settings: AppSettings, knowledge_base: Settings, console: Console | None
) -> AnswerThenAndNow:
    """Ask the question of a stored answer of the local user again; with a console, print both answers.

    Raises:
        UnknownAnswerError: the local user has no such answer, or may not see it any more.
        KnowledgeBaseError: the question cannot be answered now.
    """
    from app.application.asking_again import ask_again  # it imports the protocol's server, which takes a second
    from app.application.comparison import print_then_and_now

    service = open_service(settings, knowledge_base)
    try:
        with recording(service.audit, "ask", os_user(), "terminal", answer_id):
            compared = await ask_again(service, answer_id, settings.local_principal, top=top)
    finally:
        await service.close()
    if console is not None:
        print_then_and_now(compared, console)
    return compared


def _in_words(answer: ChatAnswer) -> ChatAnswer:
    """The answer with its references as sources."""
    return answer.model_copy(update={"answer": in_source_style(answer.answer, answer.citations)})


async def _show(answer: GroundedAnswer, question: str, console: Console, style: SourceStyle | None) -> None:
    text = ""
    with Live(console=console, auto_refresh=False, transient=True, vertical_overflow="visible") as live:
        async with aclosing(answer.events()) as events:
            async for event in events:
                match event:
                    case TextPart(delta):
                        text += style.feed(delta) if style else delta
                        live.update(Markdown(text), refresh=console.is_terminal)
                    case Searched(query) if query != question:
                        console.print(f"searched: {query}", style="dim", markup=False)
                    case ToolStarted(_, name, arguments):
                        console.print(tool_in_words(name, arguments), style="dim", markup=False)
        live.update("")
    console.print(Markdown(text + (style.finish() if style else "")))


def source_lines(citations: Sequence[Citation], serving: str) -> Iterator[str]:
    """Lines for the cited passages, with file and pages of documents, and the files of their images."""
    for citation in citations:
        if citation.used:
            path = " › ".join(dict.fromkeys((citation.title, *citation.heading_path)))
            place = ", ".join(filter(None, (path, citation.file_for_readers, citation.pages_in_words)))
            yield f"[bold]\\[Ref #{citation.number}][/] {escape(place)}"
            if citation.source_url:
                yield f"  {escape(citation.source_url)}"
            if citation.is_of_web:
                yield f"  [dim]from the web, fetched {citation.fetched}[/]"
                continue
            for image in citation.images:
                yield f"  [cyan]{escape(serving)}/{escape(unquote(image.url.removeprefix(IMAGE_ROUTE)))}[/]"
            yield f"  [dim]kb trace {escape(citation.chunk_id)}[/]"


async def investigate(
    alert: str, scenario: str, app_settings: AppSettings, settings: Settings, console: Console | None
) -> Investigated:
    """Investigate an alert for the local user; with a console, print each step when it is done."""
    report, events, citations = "", [], []
    async with AsyncExitStack() as opened:
        networks = Networks(settings)
        opened.push_async_callback(networks.close)
        network = await networks.open_for(alert, None, scenario)
        retrieval = Retrieval(open_workspace(settings))
        opened.callback(retrieval.close)
        who = app_settings.local_principal
        investigator = open_investigator(app_settings, settings, network, retrieval, who, CitationBook())
        opened.push_async_callback(investigator.close)
        async for event in investigator.investigate(alert):
            events.append({"event": event.event, **event.data})
            if event.event == "message":
                report = event.data["text"]
                citations = [each.model_dump(mode="json") for each in event.citations if each.used]
            elif event.event == "step_complete" and console:
                word = "[red]failed[/] " if event.data.get("error") else ""
                first = event.data["response"].partition("\n")[0]
                console.print(f"{event.data['step']}  {event.data['agent']}  {word}{escape(first)}", soft_wrap=True)
    return Investigated(report=report, events=events, citations=citations)
