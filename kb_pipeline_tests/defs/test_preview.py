"""The job that previews a change: its run shows the report, and nothing is published."""

from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import listing
from kb_pipeline_tests.defs.runs import execute, logged, reason


@pytest.fixture
def ingested(instance: dg.DagsterInstance, three: list[str]) -> list[str]:
    assert execute(instance, "ingest_articles").success
    return three


@pytest.mark.slow("a run of Dagster")
def test_the_report_stands_at_the_output(instance: dg.DagsterInstance, ingested: list[str], settings: Settings) -> None:
    published = listing(Path(settings.home) / "versions")
    result = execute(instance, "preview_changes", set={"KB_CHUNK_MAX_TOKENS": "100"}, sample=2)
    assert result.success
    (output,) = [event for event in result.all_events if event.is_successful_output]
    metadata = output.step_output_data.metadata
    assert metadata["articles"].value == 2
    assert "# Preview: `KB_CHUNK_MAX_TOKENS=100`" in str(metadata["report"].value)
    assert listing(Path(settings.home) / "versions") == published


@pytest.mark.parametrize(
    "changes",
    [
        {"KB_IMAGE_PROMPT_FILE": "/etc/passwd"},
        {"KB_SOURCES": '["os:system"]'},
        {"KB_ANALYZER": "os:system"},
        {"KB_EMBEDDER": "onnx//etc"},
        {"KB_EMBEDDER": "os:system"},
    ],
)
def test_a_run_names_no_file_and_no_code(instance: dg.DagsterInstance, changes: dict[str, str]) -> None:
    result = execute(instance, "preview_changes", set=changes)
    assert not result.success
    assert "a run may not choose" in f"{reason(result)}{logged(instance, result)}"
