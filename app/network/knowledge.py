"""Runbooks and tickets as the knowledge base has them: searched as the person who asks, quoted word for word.

They are articles of the scenario's topics. What is quoted joins the investigation's citations.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from app.answering.confidence import evidence_of
from app.answering.extractive.answer import quotations
from app.answering.extractive.blocks import PassageBlock, blocks_of, heading_of
from app.answering.extractive.choosing import lead_of
from app.answering.extractive.quoting import PassageImage
from app.answering.nearness import nearness_of
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.language.sentences import Unit
from app.library.retrieval import Retrieval
from app.network.diagnosing import Diagnosis
from app.network.pasted import NAMED
from app.network.report import Quotation
from app.schema.passages import Citation
from kb_pipeline.network.knowledge import DIAGNOSIS, INCIDENT, LESSONS, RESOLUTION, RUNBOOK, TICKET, topic
from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.topology import Topology
from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import SearchFilter

_MOST = 3
"""Runbooks or tickets of a report: as many as somebody reads during an outage."""
_TOP = 12
"""Passages of a search, out of which several documents come."""
_KINDS = 4
"""Types of alerts in the words of a search; more of them would drown the element."""
_WORDS = 300
"""Characters of a text that is searched for as it is: a sentence or two."""
_LONGEST = 1600
"""Characters of a ticket that a report quotes: half a page."""
_TOLD = (DIAGNOSIS, RESOLUTION, LESSONS)


class NotIndexedError(Exception):
    """No runbook, or no ticket, of the scenario is in the index, or nobody may see them."""


class KnowledgeSearch:
    """Searches for one person and one investigation."""

    def __init__(self, retrieval: Retrieval, who: Principal, scenario: str, book: CitationBook) -> None:
        self._retrieval, self._who, self._scenario, self.book = retrieval, who, scenario, book

    async def procedures(self, queries: Sequence[str]) -> list[Quotation]:
        """The steps of the runbooks that fit best.

        Raises:
            NotIndexedError: there are none to search in.
            KnowledgeBaseError: the index cannot be searched.
        """
        found = []
        for query, hits in await self._fitting(queries, RUNBOOK):
            if markdown := await self._steps(query, hits[0]):
                found.append(Quotation(hits[0].chunk.title, markdown))
        return found

    async def precedents(self, queries: Sequence[str]) -> list[Quotation]:
        """What was found and done in the tickets that fit best.

        Raises:
            NotIndexedError: there are none to search in.
            KnowledgeBaseError: the index cannot be searched.
        """
        found = []
        for _, hits in await self._fitting(queries, TICKET):
            article_id = hits[0].chunk.article_id
            if markdown := self._told(await self._retrieval.passages([article_id], self._who)):
                found.append(Quotation(hits[0].chunk.title, markdown))
        return found

    async def _fitting(self, queries: Sequence[str], kind: str) -> list[tuple[str, list[SearchHit]]]:
        """The query and the hits of each article that fits, best first: what surely fits, else the nearest."""
        topics = [topic(self._scenario, kind)]
        filters = SearchFilter(document_type=(INCIDENT,)) if kind == TICKET else None
        sure: dict[str, tuple[str, list[SearchHit]]] = {}
        near: dict[str, tuple[str, list[SearchHit]]] = {}
        is_there = False
        for query in queries:
            hits = await self._retrieval.search(query, self._who, top=_TOP, filters=filters, topics=topics)
            is_there = is_there or bool(hits)
            by_article: dict[str, list[SearchHit]] = {}
            for hit in hits:
                by_article.setdefault(hit.chunk.article_id, []).append(hit)
            for article_id, some in by_article.items():
                evidence = evidence_of(query, some)
                if evidence in ("answers", "closest"):
                    (sure if evidence == "answers" else near).setdefault(article_id, (query, some))
        if queries and not is_there:
            raise NotIndexedError
        return [*sure.values()][:_MOST] or [*near.values()][:1]

    async def _steps(self, query: str, best: SearchHit) -> str:
        """The numbered steps nearest to a hit in its article; what fits best of its text where there are none."""
        chunk = best.chunk
        passages = await self._retrieval.passages([chunk.article_id], self._who)
        after = [hit for hit in passages if hit.chunk.chunk_index >= chunk.chunk_index]
        before = [hit for hit in reversed(passages) if hit.chunk.chunk_index < chunk.chunk_index]
        for hit in (*after, *before):
            if not any(block.steps for block in blocks_of(_alone(hit))):
                continue
            section = await self._retrieval.section(chunk.article_id, hit.chunk.id) or [hit]
            with_steps = [each for each in section if any(block.steps for block in blocks_of(_alone(each)))]
            cited = self.book.add(with_steps)
            return _quoted(block for passage in cited for block in blocks_of(passage) if block.steps)
        nearness = nearness_of(self._retrieval.reader().embedder)
        lead = await asyncio.to_thread(lead_of, query, self.book.add([best])[0], nearness)
        return "\n\n".join(quotations(lead.citation, lead.units, [])) if lead else ""

    def _told(self, passages: Sequence[SearchHit]) -> str:
        """The sections of a ticket that help, as far as there is room."""
        told, room = list[PassageBlock](), _LONGEST
        for hit in passages:
            if not any(heading_of(block) in _TOLD for block in blocks_of(_alone(hit))):
                continue
            for block in blocks_of(self.book.add([hit])[0]):
                room -= sum(block.lengths)
                if heading_of(block) in _TOLD and room > 0:
                    told.append(block)
        return _quoted(told)


def queries_of(network: Topology, diagnosis: Diagnosis, symptoms: Mapping[str, Symptom], text: str) -> list[str]:
    """What to search for: the type of each cause, with its own alerts, or else with those that it explains; or else
    with the text that names it, and with the alerts by which its type says that it failed."""
    queries: dict[str, None] = {}
    for cause in diagnosis.ranking.chosen:
        own = [sign.kind for sign in diagnosis.signs if sign.vertex == cause.vertex and sign.meaning != "nothing"]
        touched = {**cause.hypothesis.failed, **cause.hypothesis.weakened}
        others = [sign.kind for sign in diagnosis.signs if sign.vertex in touched]
        kinds = list(dict.fromkeys(kind for kind in own or others if kind != NAMED))[:_KINDS]
        if not kinds:
            queries[f"{network.types[cause.vertex]} {' '.join(text.split())[:_WORDS]}"] = None
            kinds = [kind for kind, symptom in symptoms.items() if network.types[cause.vertex] in symptom.own][:_KINDS]
        queries[" ".join([network.types[cause.vertex], *kinds])] = None
    return list(queries)


def _alone(hit: SearchHit) -> Citation:
    return CitationBook().add([hit])[0]


def _quoted(blocks: Iterable[PassageBlock]) -> str:
    shown: list[PassageImage] = []
    pieces: list[str] = []
    for citation, some in groupby(blocks, key=lambda block: block.citation):
        units: list[Unit] = [unit for block in some for unit in (*block.terms, *block.units)]
        pieces += quotations(citation, units, shown)
    return "\n\n".join(pieces)
