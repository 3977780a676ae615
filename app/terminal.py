"""Asks a question in the terminal: streams the answer, then lists its sources."""

import shlex
from collections.abc import Iterator
from contextlib import aclosing
from urllib.parse import unquote

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.markup import escape

from app.answering.base import Searched, Text, ToolStarted
from app.answering.grounded import GroundedAnswer
from app.grounding.citations import IMAGE_ROUTE
from app.grounding.source_style import SourceStyle, in_source_style
from app.principal import Principal
from app.schema import AnswerThenAndNow, ChatAnswer, Citation
from app.service import open_service
from app.settings import AppSettings
from kb_pipeline.settings import Settings


async def ask(
    question: str, top: int, settings: AppSettings, knowledge_base: Settings, console: Console | None
) -> ChatAnswer:
    """Ask as the local user; with a console, stream the answer to it.

    Raises:
        AnswerError: the question is not valid, or a service failed.
        KnowledgeBaseError: the index cannot be searched.
    """
    service = open_service(settings, knowledge_base)
    try:
        checked = service.question(question, Principal(), top=top)
        answer = GroundedAnswer(service.answerer, checked, service.book())
        style = SourceStyle(answer.citations) if settings.citation_style == "source" else None
        if console is None:
            whole = await answer.whole()
            return whole if style is None else _in_words(whole)
        await _show(answer, checked.text, console, style)
        console.print()
        for line in _sources(answer.so_far().citations, str(service.articles.layout.serving_root)):
            console.print(line, soft_wrap=True)
        for instead in filter(None, (answer.so_far().did_you_mean, *answer.so_far().ask_instead)):
            console.print(f"[dim]kb ask[/] {escape(shlex.quote(instead))}", soft_wrap=True)
        return answer.so_far() if style is None else _in_words(answer.so_far())
    finally:
        await service.close()


async def ask_again(
    answer_id: str, top: int | None, settings: AppSettings, knowledge_base: Settings, console: Console | None
) -> AnswerThenAndNow:
    """Ask the question of a stored answer of the local user again; with a console, print both answers.

    Raises:
        UnknownAnswerError: the local user has no such answer, or may not see it any more.
        KnowledgeBaseError: the question cannot be answered now.
    """
    from app.revisiting.asking_again import ask_again  # it imports the protocol's server, which takes a second
    from app.revisiting.terminal import print_then_and_now

    service = open_service(settings, knowledge_base)
    try:
        compared = await ask_again(service, answer_id, Principal(), top=top)
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
                    case Text(delta):
                        text += style.feed(delta) if style else delta
                        live.update(Markdown(text), refresh=console.is_terminal)
                    case Searched(query) if query != question:
                        console.print(f"searched: {query}", style="dim", markup=False)
                    case ToolStarted(_, name, arguments):
                        said = ", ".join(f"{each}={value}" for each, value in arguments.items())
                        console.print(f"called: {name}({said})", style="dim", markup=False)
        live.update("")
    console.print(Markdown(text + (style.finish() if style else "")))


def _sources(citations: tuple[Citation, ...], serving: str) -> Iterator[str]:
    """Lines for the cited passages, with the files of their images."""
    for citation in citations:
        if citation.used:
            path = " › ".join(citation.heading_path) or citation.title
            yield f"[bold]\\[Ref #{citation.number}][/] {escape(path)}"
            if citation.source_url:
                yield f"  {escape(citation.source_url)}"
            for image in citation.images:
                yield f"  [cyan]{escape(serving)}/{escape(unquote(image.url.removeprefix(IMAGE_ROUTE)))}[/]"
            yield f"  [dim]kb trace {escape(citation.chunk_id)}[/]"
