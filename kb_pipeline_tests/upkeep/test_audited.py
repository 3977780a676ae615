"""What the pipeline does to articles is in the audit log: access lists, versions that are put back, removals."""

from pathlib import Path

import pytest

from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLine, os_user, read_audit
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline.upkeep.versions import list_versions, pin, release
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.conftest import Article


@pytest.mark.slow("builds a whole knowledge base")
def test_changes_of_articles_are_recorded_as_those_of_the_user_of_the_machine(
    settings: Settings, article: Article
) -> None:
    article("pay", "<h1>Pay</h1><p>The pay is high.</p>", {"metadata.json": b'{"access_control_list": ["hr"]}'})
    article("open", "<h1>Open</h1><p>Everybody reads this.</p>")
    build_here(settings)
    metadata = Path(settings.staging) / "pay" / "metadata.json"
    metadata.write_text('{"access_control_list": ["hr", "boss"]}')
    build_here(settings)
    build_here(settings)
    metadata.write_text("{")
    build_here(settings)
    workspace = Workspace(settings)
    pin(workspace, "open", workspace_version(settings, "open"), Run("run-1", "2026-01-01T00:00:00+00:00"))
    assert release(workspace, "open")
    assert not release(workspace, "open")
    remove_all(workspace, ["open"])
    lines = [line for line in read_audit(workspace.audit.folder) if isinstance(line, AuditLine)]
    assert {(line.who, line.via) for line in lines} == {(os_user(), "pipeline")}
    assert [(line.action, *line.articles) for line in lines] == [
        *([("access", "pay")] * 3),
        ("rollback", "open"),
        ("release", "open"),
        ("remove", "open"),
    ]
    assert [line.about for line in lines[:2]] == ["everybody -> hr", "hr -> hr, boss"]


def workspace_version(settings: Settings, article_id: str) -> str:
    return list_versions(Workspace(settings), article_id)[0].version.id
