"""A passage names the contributions in it, who proposed them and who accepted them."""

from pathlib import Path

from kb_pipeline.contributions import open_queue
from kb_pipeline.contributions.review import Review
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.trace import Trace, trace
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.contributions.conftest import AT, contribution

LONG = "\n\n".join(f"Pitfall number {number} is described at some length here." for number in range(60))


def accepted(settings: Settings, **changed: object) -> str:
    """Accept a contribution, publish it, and return its id."""
    workspace, one = Workspace(settings), contribution(1, **changed)
    queue = open_queue(settings)
    queue.add(one)
    Review(queue, workspace.staging, lambda: AT).accept(one.id, "bob")
    build_here(settings)
    return one.id


def traces(settings: Settings, article_id: str) -> list[Trace]:
    workspace = Workspace(settings)
    return [trace(workspace, chunk_id) for chunk_id in workspace.reader().index.entries([article_id])[article_id]]


def test_a_passage_names_contribution_author_and_reviewer(settings: Settings) -> None:
    folder = Path(settings.staging) / "cosmos-db"
    folder.mkdir()
    (folder / "index.md").write_text("# Cosmos DB\n\n## Patterns\n\nPartition by tenant, and by day as well.\n")
    contribution_id = accepted(settings, contributed_by="ann_b@example.com")
    by_section = {each.chunk.section_header: each.contributions for each in traces(settings, "cosmos-db")}
    [one] = by_section["Pitfall 1"]
    assert (one.id, one.description, one.is_recorded) == (contribution_id, "Pitfall 1", True)
    assert (one.contributed_by, one.accepted_by) == ("ann_b@example.com", "bob")
    assert one.accepted_at == "2026-01-31T12:00:00+00:00"
    assert by_section["Patterns"] == ()


def test_a_long_contribution_is_named_by_all_its_passages(settings: Settings) -> None:
    settings = settings.model_copy(update={"chunk_max_tokens": 200})
    accepted(settings, content=LONG)
    parts = [each for each in traces(settings, "cosmos-db") if "described at some length" in each.chunk.content]
    sections = [each for each in parts if each.chunk.block_type == "text"]
    assert len(sections) > 2
    assert all([one.id for one in each.contributions] == [contribution().id] for each in sections)


def test_without_the_queue_the_footnote_still_says_who(settings: Settings) -> None:
    accepted(settings, contributed_by="ann_b")
    elsewhere = settings.model_copy(update={"contributions": "./none"})
    named = [one for each in traces(elsewhere, "cosmos-db") for one in each.contributions]
    assert named
    assert {(one.contributed_by, one.accepted_by, one.is_recorded) for one in named} == {("ann_b", "bob", False)}
