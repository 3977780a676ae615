"""Routes of the widget that other sites embed: its script, an answer for it to draw, and the pictures of answers."""

import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.answering.grounded import GroundedAnswer
from app.api.answer_nodes import answer_nodes
from app.api.gate import WIDGET, WIDGET_SCRIPT, TheService, Who
from app.api.originals import image
from app.api.served import is_known
from app.logs.auditing import note, note_answer
from app.schema.answers import ChatAnswer
from app.schema.passages import Citation
from app.schema.widget import WidgetAnswer, WidgetOption, WidgetQuestion, WidgetSource
from kb_pipeline.asking import AskOptions
from kb_pipeline.steps.chunk import plain_text

router = APIRouter(tags=["widget"])
_IMAGES = f"{WIDGET.removeprefix('/')}images/"
_SCRIPT_HEADERS = {
    "cache-control": "public, max-age=3600",
    "cross-origin-resource-policy": "cross-origin",  # pages that are isolated load nothing else
}


@router.get(WIDGET_SCRIPT, response_class=Response)
async def script(request: Request, service: TheService) -> Response:
    """The widget, for a ``script`` element of another site."""
    if not service.settings.widget_origins:
        raise HTTPException(404, "the widget is off; to allow sites to embed it, name them in KB_WIDGET_ORIGINS")
    text, etag = _script()
    headers = {**_SCRIPT_HEADERS, "etag": etag}
    if is_known(request, etag):
        return Response(status_code=304, headers=headers)
    return Response(text, media_type="text/javascript", headers=headers)


@router.post(f"{WIDGET}answer")
async def widget_answer(asked: WidgetQuestion, service: TheService, who: Who) -> WidgetAnswer:
    """Answer one question outside of any conversation, from what a visitor of the site may read."""
    question = service.question(asked.question, who, AskOptions(document_ids=asked.document_ids))
    note(text=question.text)
    answer = await GroundedAnswer(service.answerer, question, service.book()).whole()
    note_answer(question.text, answer)
    service.loose_questions.answered(question.text, who, answer)
    return drawn(answer)


@router.get(f"{WIDGET}images/{{article_id}}/{{image_path:path}}")
async def widget_image(request: Request, article_id: str, image_path: str, service: TheService, who: Who) -> Response:
    """A picture of an answer."""
    return await image(request, article_id, image_path, service, who)


def drawn(answer: ChatAnswer) -> WidgetAnswer:
    """The answer as the widget draws it."""
    asked_back = answer.clarification
    text = asked_back.question if asked_back else answer.answer
    start, end = (not asked_back and answer.folded) or (len(text),) * 2
    instead = dict.fromkeys((*filter(None, [answer.did_you_mean]), *answer.ask_instead))
    return WidgetAnswer(
        answer=answer_nodes(f"{text[:start]}\n\n{text[end:]}", _IMAGES),
        more=answer_nodes(text[start:end], _IMAGES),
        sources=tuple(_source(each) for each in answer.citations if each.used),
        options=tuple(
            WidgetOption(article_id=each.article_id, title=each.title)
            for each in (asked_back.options if asked_back else ())
        ),
        ask_instead=tuple(instead) if answer.refused else (),
    )


def _source(citation: Citation) -> WidgetSource:
    path = " › ".join(dict.fromkeys((citation.title, *citation.heading_path)))
    pages = f", {citation.pages_in_words}" if citation.pages_in_words else ""
    url = citation.source_url if (citation.source_url or "").startswith(("https://", "http://")) else None
    return WidgetSource(
        number=citation.number, name=path + pages, quotes=tuple(map(plain_text, citation.quotes)), url=url
    )


@cache
def _script() -> tuple[bytes, str]:
    text = Path(__file__).with_name("widget.js").read_bytes()
    return text, f'"{hashlib.sha256(text).hexdigest()[:32]}"'
