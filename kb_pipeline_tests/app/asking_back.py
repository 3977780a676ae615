"""An answerer that asks back which document is meant, plans, and calls tools, over the articles of the tests."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from dataclasses import replace

from fastapi import FastAPI

from app.answering.base import (
    Answerer,
    AnswerEvent,
    AskedBack,
    Finished,
    ItemChanged,
    Planned,
    Question,
    Searched,
    TextPart,
    ToolEnded,
    ToolStarted,
)
from app.api.server import application
from app.errors import UpstreamBusyError
from app.grounding.citations import CitationBook
from app.library.retrieval import Retrieval
from app.schema.answers import Clarification, DocumentOption, Plan, PlanItem
from app.service import open_service
from app.settings import AppSettings
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings

AMBIGUOUS = "Summarise the guide"
LAYERS = DocumentOption(
    number=1,
    article_id="layers",
    title="Layers",
    filename="layers.pdf",
    document_type="Manual",
    upload_date="2026-05-01",
    page_count=12,
    reply="Layers",
)
PRINTING = DocumentOption(number=2, article_id="printing", title="Printing", filename="printing.docx", reply="Printing")
CLARIFICATION = Clarification(
    question="Which guide do you mean?", asked=AMBIGUOUS, options=(LAYERS, PRINTING), allows_all=True
)
PLAN = Plan(
    kind="DOCUMENT_SUMMARY",
    items=(
        PlanItem(position=1, description="Find the document", acceptance_criteria="Exactly one document"),
        PlanItem(
            position=2, description="Say what it holds", acceptance_criteria="Each has a source", dependencies=(1,)
        ),
    ),
)


class AskingBack(Answerer):
    """Asks back about "the guide", and answers a number, a title, or the documents that were chosen."""

    answered_by = "extractive"

    def __init__(self, retrieval: Retrieval) -> None:
        self.questions: list[Question] = []
        self.go_on = threading.Event()
        """While it is clear, the tool does not return."""
        self.go_on.set()
        self._retrieval = retrieval

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        self.questions.append(question)
        chosen = question.options.document_ids or self._chosen(question)
        if "guide" in question.text and not chosen:
            yield AskedBack(CLARIFICATION)
            return
        yield Planned(PLAN)
        yield ItemChanged(1, "IN_PROGRESS")
        yield ToolStarted("call_1", "rag_get_document", {"doc_id": ", ".join(chosen)})
        await asyncio.to_thread(self.go_on.wait, 60)
        yield ToolEnded("call_1", "rag_get_document", "1 document")
        yield ItemChanged(1, "COMPLETED")
        yield ItemChanged(2, "IN_PROGRESS")
        hits = await self._retrieval.search(
            "guide", question.who, top=5, filters=SearchFilter(article_ids=chosen) if chosen else None
        )
        book.add(hits)
        yield Searched("guide", len(hits))
        for number, hit in enumerate(hits, start=1):
            yield TextPart(f"{hit.chunk.title}: {hit.chunk.section_header}. [Ref #{number}]\n\n")
            if "fail" in question.text:
                yield ItemChanged(2, "FAILED")
                raise UpstreamBusyError("too much to do")
        yield ItemChanged(2, "COMPLETED")
        yield Finished()

    def _chosen(self, question: Question) -> tuple[str, ...]:
        options = question.clarification.options if question.clarification else ()
        return tuple(
            each.article_id for each in options if question.text in (str(each.number), each.title, "All of them")
        )


def asking_back(settings: AppSettings, knowledge_base: Settings) -> tuple[FastAPI, AskingBack]:
    """The service with this answerer, which keeps the questions that reach it."""
    service = open_service(settings, knowledge_base)
    answerer = AskingBack(service.retrieval)
    return application(replace(service, usual_answerer=answerer)), answerer
