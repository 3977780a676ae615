"""An answer in the terminal: as it is worded, then where it comes from."""

from collections.abc import Iterator
from contextlib import aclosing
from urllib.parse import unquote

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.markup import escape

from app.answering.base import Searched
from app.answering.grounded import GroundedAnswer
from app.grounding.citations import IMAGE_ROUTE
from app.principal import Principal
from app.schema import ChatAnswer, Citation
from app.service import open_service
from app.settings import AppSettings
from kb_pipeline.settings import Settings


async def ask(
    question: str, top: int, settings: AppSettings, knowledge_base: Settings, console: Console | None
) -> ChatAnswer:
    """Ask as the person at the machine; with a console, the answer is shown on it as it is worded.

    Raises:
        AnswerError: the question cannot be asked, or a service below failed.
        KnowledgeBaseError: the index cannot be searched.
    """
    service = open_service(settings, knowledge_base)
    try:
        asked = service.question(question, Principal(), top=top)
        answer = GroundedAnswer(service.answerer, asked, service.book())
        if console is None:
            return await answer.whole()
        await _show(answer, asked.text, console)
        console.print()
        for line in _sources(answer.so_far().citations, str(service.articles.layout.serving_root)):
            console.print(line, soft_wrap=True)
        return answer.so_far()
    finally:
        await service.close()


async def _show(answer: GroundedAnswer, question: str, console: Console) -> None:
    text = ""
    with Live(console=console, auto_refresh=False, transient=True, vertical_overflow="visible") as live:
        async with aclosing(answer.events()) as events:
            async for event in events:
                if not isinstance(event, Searched):
                    text += event.delta
                    live.update(Markdown(text), refresh=console.is_terminal)
                elif event.query != question:
                    console.print(f"searched: {event.query}", style="dim", markup=False)
        live.update("")
    console.print(Markdown(text))


def _sources(citations: tuple[Citation, ...], serving: str) -> Iterator[str]:
    """The passages that the answer refers to, with their images as files."""
    for citation in citations:
        if citation.used:
            path = " › ".join(citation.heading_path) or citation.title
            yield f"[bold]\\[Ref #{citation.number}][/] {escape(path)}"
            if citation.source_url:
                yield f"  {escape(citation.source_url)}"
            for image in citation.images:
                yield f"  [cyan]{escape(serving)}/{escape(unquote(image.url.removeprefix(IMAGE_ROUTE)))}[/]"
            yield f"  [dim]kb trace {escape(citation.chunk_id)}[/]"
