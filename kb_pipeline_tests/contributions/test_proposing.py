"""What is proposed is checked, and compared with what is known; nothing is written by that."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.contributions.base import TYPES
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.contributions.proposing import Proposal, ProposalPreview, handed_in_on, preview
from kb_pipeline.errors import ContributionError, InvalidArticleIdError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.contributions.conftest import AT, contribution

TEXT = "Serverless accounts answer requests above 5,000 RU/s with 429."


def seen(
    settings: Settings, queue: FolderQueue, *, visible: SearchFilter | None = None, **changed: Any
) -> ProposalPreview:
    fields = {"service": "cosmos-db", "description": "RU throttling", "content": TEXT, "contributed_by": "ann"}
    proposal = Proposal(**(fields | changed))
    return preview(Workspace(settings), queue, proposal, visible=visible, now=lambda: AT)


def files(*folders: str | Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in Path(folder).rglob("*") if path.is_file()}


def test_a_proposal_names_its_place_and_writes_nothing(settings: Settings, queue: FolderQueue) -> None:
    found = seen(settings, queue).contribution
    assert (found.article_id, found.target_section, found.state) == ("cosmos-db", "Common Pitfalls", "pending")
    assert found.id.startswith("20260131-")
    assert (found.contributed_by, found.contributed_at) == ("ann", "2026-01-31T12:00:00+00:00")
    assert found.content == TEXT
    assert len(found.content_hash) == 64
    assert files(settings.staging, queue.folder) == {}
    assert not queue.folder.exists()


def test_the_place_says_what_would_be_new(settings: Settings, queue: FolderQueue) -> None:
    folder = Path(settings.staging) / "cosmos-db"
    assert seen(settings, queue).place == "cosmos-db/index.md (new), section 'Common Pitfalls' (new)"
    folder.mkdir()
    (folder / "index.md").write_text("# Cosmos DB\n\n## Patterns\n")
    assert seen(settings, queue).place == "cosmos-db/index.md, section 'Common Pitfalls' (new)"
    assert seen(settings, queue, type="Service pattern update").place == "cosmos-db/index.md, section 'Patterns'"
    assert seen(settings, queue, section="Patterns").place == "cosmos-db/index.md, section 'Patterns'"
    assert seen(settings, queue, service="key-vault", type="New service").place == "key-vault/index.md (new)"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"type": "pitfall"}, f"must be one of: {', '.join(TYPES)}"),
        ({"description": " \n"}, "description is empty"),
        ({"description": "x" * 201}, "at most 200"),
        ({"section": "x" * 201}, "at most 200"),
        ({"content": "\n"}, "content is empty"),
    ],
)
def test_what_is_wrong_is_refused(
    settings: Settings, queue: FolderQueue, changed: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ContributionError, match=problem):
        seen(settings, queue, **changed)


@pytest.mark.parametrize("service", ["../etc", "", ".hidden", "a/b", "x" * 300])
def test_a_service_is_the_name_of_an_article(settings: Settings, queue: FolderQueue, service: str) -> None:
    with pytest.raises(InvalidArticleIdError):
        seen(settings, queue, service=service)


def test_published_passages_about_the_same_are_shown_to_those_who_may_read_them(
    settings: Settings, queue: FolderQueue, article: Article
) -> None:
    article("limits", f"<h1>Limits</h1><h2>RU throttling</h2><p>{TEXT}</p>")
    article(
        "secret", f"<h1>Secret</h1><p>{TEXT} RU throttling.</p>", {"metadata.json": b'{"access_control_list": ["hr"]}'}
    )
    build_here(settings)
    everything = seen(settings, queue)
    assert {passage.article_id for passage in everything.neighbours.nearest} == {"limits", "secret"}
    assert everything.neighbours.is_known
    public = seen(settings, queue, visible=SearchFilter(principals=()))
    assert [(passage.article_id, passage.section) for passage in public.contribution.nearest] == [
        ("limits", "RU throttling")
    ]
    other = seen(settings, queue, description="Colours", content="The logo is green, its border is thin.")
    assert not other.neighbours.is_known


def test_the_same_again_is_recognised(settings: Settings, queue: FolderQueue, article: Article) -> None:
    first = seen(settings, queue).contribution
    queue.add(first)
    again = seen(settings, queue, description="RU  Throttling!", content=f"**{TEXT}**")
    assert [(double.id, double.similarity) for double in again.neighbours.doubles] == [(first.id, 1.0)]
    article("one", "<h1>One</h1><p>Something else is published.</p>")
    build_here(settings)
    paraphrase = seen(settings, queue, content=TEXT.replace("answer", "always answer"))
    assert [double.id for double in paraphrase.neighbours.doubles] == [first.id], "made before there was a model"
    assert 0.9 <= paraphrase.neighbours.doubles[0].similarity < 1
    queue.add(paraphrase.contribution)
    assert len(seen(settings, queue).neighbours.doubles) == 2
    assert seen(settings, queue, description="Colours", content="The logo is green.").neighbours.doubles == ()


def test_what_the_service_hands_in_is_counted_by_day() -> None:
    own = [contribution(number, source="feedback") for number in (1, 2)]
    assert handed_in_on([*own, contribution(3)], "2026-01-31") == 2
    assert handed_in_on(own, datetime(2026, 2, 1, tzinfo=UTC).date().isoformat()) == 0
