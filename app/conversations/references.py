"""The stale references of a conversation: those whose section was changed or removed after the answer was given, or
says what another article contradicts."""

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from time import monotonic

from app.callers.principal import Principal
from app.conversations.sections import contradicted, is_as_cited, stale_reference
from app.errors import as_answer_error
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.conversations import Conversation, StaleReference, Standing, Turn
from app.schema.passages import Citation
from kb_pipeline.errors import KnowledgeBaseError

_PATIENCE_SECONDS = 3.0
"""How long a conversation waits for the index before it opens without the comparison."""
_REST_SECONDS = 20.0
"""How long the index is not asked again after it took longer than that."""
_THREADS = 2
"""Looking at a section is a read of the index or two; answers come first."""
_SLOW = "the search index did not answer in time"

_log = logging.getLogger(__name__)


class References:
    """Compares the citations that answers refer to with what their articles say now.

    All citations of a conversation are looked up at once. Only the articles of those that are not found as they were
    are read whole. It has threads of its own, so that an index that hangs keeps nobody from asking.
    """

    def __init__(self, retrieval: Retrieval, articles: Articles) -> None:
        self._retrieval = retrieval
        self._articles = articles
        self._rest_until = 0.0
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="references")

    async def compared(self, conversation: Conversation, who: Principal) -> Conversation:
        """The conversation with its stale references, or with the reason why it could not be compared; never fails.

        ``conversation`` must hold only what this person may see.
        """
        if not any(map(_cited, conversation.turns)):
            return conversation
        if monotonic() < self._rest_until:
            return conversation.model_copy(update={"not_compared": _SLOW})
        try:
            looking = asyncio.get_running_loop().run_in_executor(self._pool, self._compare, conversation.turns, who)
            turns = await asyncio.wait_for(looking, _PATIENCE_SECONDS)
        except TimeoutError:
            self._rest_until = monotonic() + _REST_SECONDS
            return conversation.model_copy(update={"not_compared": _SLOW})
        except KnowledgeBaseError as exc:
            _log.warning("the references of a conversation could not be compared: %s", exc)
            return conversation.model_copy(update={"not_compared": str(as_answer_error(exc))})
        return conversation.model_copy(update={"turns": turns})

    def close(self) -> None:
        """Cancel what waits; do not wait for an index that hangs."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _compare(self, turns: Sequence[Turn], who: Principal) -> tuple[Turn, ...]:
        cited = [citation for turn in turns for citation in _cited(turn)]
        current = {chunk.id: chunk for chunk in self._retrieval.find({citation.chunk_id for citation in cited}, who)}
        differ = {c.article_id for c in cited if not is_as_cited(c, current.get(c.chunk_id))}
        chunks = self._retrieval.chunks_of(differ, who) if differ else []
        by_article = {article_id: [*group] for article_id, group in groupby(chunks, lambda chunk: chunk.article_id)}
        generation = self._retrieval.reader().generation.id

        against = self._articles.contradictions({citation.article_id for citation in cited}, who)

        def stale(citation: Citation) -> StaleReference | None:
            if not is_as_cited(citation, current.get(citation.chunk_id)):
                chunks_now = by_article.get(citation.article_id, ())
                if reference := stale_reference(citation, chunks_now, generation):
                    return reference
            return contradicted(citation, against.get(citation.article_id, ()))

        return tuple(_with_stale(turn, tuple(filter(None, map(stale, _cited(turn))))) for turn in turns)


def _with_stale(turn: Turn, stale: tuple[StaleReference, ...]) -> Turn:
    states = {reference.state for reference in stale}
    standing: Standing = "contradicted" if "contradicted" in states else "changed" if states else "current"
    return turn.model_copy(update={"stale": stale, "standing": standing if _cited(turn) else None})


def _cited(turn: Turn) -> list[Citation]:
    """The citations of the knowledge base that the answer of a turn refers to."""
    citations = turn.answer.citations if turn.answer else ()
    return [citation for citation in citations if citation.used and not citation.is_of_web]
