"""The stale references of a conversation: found with few look-ups, for who may see them, and never in the way."""

import asyncio
from collections.abc import Collection
from threading import Event

import pytest

from app.callers.principal import Principal
from app.conversations import references
from app.conversations.references import References
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.answers import ChatAnswer
from app.schema.conversations import Conversation, Turn
from app.schema.passages import Citation
from kb_pipeline.errors import SearchError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.citing import citation

ANYBODY = Principal()


class CountingRetrieval(Retrieval):
    """Retrieval that counts its look-ups."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.lookups: list[str] = []

    def find(self, chunk_ids: Collection[str], who: Principal) -> list[Chunk]:
        self.lookups.append("find")
        return super().find(chunk_ids, who)


class FailingRetrieval(Retrieval):
    """Retrieval whose index cannot be reached."""

    def find(self, chunk_ids: Collection[str], who: Principal) -> list[Chunk]:
        raise SearchError("the search service does not answer; try again later")


class HangingRetrieval(Retrieval):
    """Retrieval whose index takes until it is told to answer."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.answers = Event()
        self.asked = 0

    def find(self, chunk_ids: Collection[str], who: Principal) -> list[Chunk]:
        self.asked += 1
        self.answers.wait(60)
        return []


@pytest.fixture
def workspace(knowledge_base: Settings) -> Workspace:
    return Workspace(knowledge_base)


def conversation(*turns: tuple[Citation, ...]) -> Conversation:
    made = tuple(
        Turn(
            response_id=f"caresp_{number}",
            asked_at="",
            question="?",
            answer=ChatAnswer(answer="!", citations=citations, answered_by="agent"),
        )
        for number, citations in enumerate(turns)
    )
    return Conversation(id="conv_1", title="", created_at="", updated_at="", turns=made)


def standing(workspace: Workspace) -> list[Citation]:
    """Citations of what stands in the index."""
    chunks = Retrieval(workspace).chunks_of(["layers", "printing"], ANYBODY)
    return [
        citation(number, chunk_id=chunk.id, article_id=chunk.article_id, passage=chunk.content)
        for number, chunk in enumerate(chunks, 1)
        if not chunk.image_urls
    ]


def references_of(retrieval: Retrieval) -> References:
    return References(retrieval, Articles(retrieval.workspace.layout))


def compared(retrieval: Retrieval, *turns: tuple[Citation, ...]) -> Conversation:
    return asyncio.run(references_of(retrieval).compared(conversation(*turns), ANYBODY))


def test_all_citations_of_a_conversation_are_looked_up_at_once(workspace: Workspace) -> None:
    retrieval = CountingRetrieval(workspace)
    cited = standing(workspace)
    assert cited
    result = compared(retrieval, *((each,) for each in cited))
    assert [turn.stale for turn in result.turns] == [()] * len(cited)
    assert {turn.standing for turn in result.turns} == {"current"}
    assert retrieval.lookups == ["find"]


def test_only_what_differs_is_read_whole_and_at_once(workspace: Workspace) -> None:
    retrieval = CountingRetrieval(workspace)
    gone = [citation(number, heading_path=("No such",), passage="Nothing like it.") for number in (1, 2, 3)]
    result = compared(retrieval, *((each,) for each in gone))
    assert [[each.state for each in turn.stale] for turn in result.turns] == [["gone"]] * 3
    assert {turn.standing for turn in result.turns} == {"changed"}
    assert retrieval.lookups == ["find", "find"]


def test_a_conversation_without_references_asks_the_index_nothing(workspace: Workspace) -> None:
    unused = conversation((citation(used=False),))
    retrieval = CountingRetrieval(workspace)
    assert asyncio.run(references_of(retrieval).compared(unused, ANYBODY)) == unused
    assert retrieval.lookups == []


def test_a_section_that_somebody_may_not_see_is_gone_for_them(workspace: Workspace) -> None:
    def state(who: Principal) -> list[str]:
        cited = citation(1, chunk_id="none", article_id="secret", passage="The salary of the director is 1.")
        result = asyncio.run(references_of(Retrieval(workspace)).compared(conversation((cited,)), who))
        return [each.state for each in result.turns[0].stale]

    assert state(Principal("ann", ("group-hr",))) == ["changed"]
    assert state(ANYBODY) == ["gone"]


def test_an_index_that_fails_keeps_no_conversation_closed(workspace: Workspace) -> None:
    result = compared(FailingRetrieval(workspace), (citation(),))
    assert result.not_compared == "the search service does not answer; try again later"
    assert result.turns[0].answer is not None
    assert result.turns[0].standing is None


def test_an_index_that_hangs_is_waited_for_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "_PATIENCE_SECONDS", 0.0)
    retrieval = HangingRetrieval(workspace)
    patient = references_of(retrieval)

    async def open_twice() -> list[str | None]:
        opened = [await patient.compared(conversation((citation(),)), ANYBODY) for _ in range(2)]
        return [each.not_compared for each in opened]

    assert asyncio.run(open_twice()) == ["the search index did not answer in time"] * 2
    assert retrieval.asked <= 1
    retrieval.answers.set()
    patient.close()
