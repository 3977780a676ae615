"""No secret is in what Dagster records of a run: its config, its tags, its events."""

import dagster as dg
import pytest

from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.runs import execute
from kb_pipeline_tests.quoting_server import SECRET, quoting_server


@pytest.mark.slow("a run of Dagster")
def test_no_secret_is_in_a_run_or_its_events(
    instance: dg.DagsterInstance, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("layers", "<h1>Layers</h1><p>Crop a layer to what it shows.</p>")
    with quoting_server(401) as url:
        for name, value in {"EMBEDDER": "openai", "OPENAI_AZURE_ENDPOINT": url, "OPENAI_API_KEY": SECRET}.items():
            monkeypatch.setenv(f"KB_{name}", value)
        result = execute(instance, "ingest_articles")
    run = instance.get_run_by_id(result.run_id)
    assert run
    recorded = dg.serialize_value(run)
    events = "".join(entry.to_json() for entry in instance.all_logs(result.run_id))
    assert not result.success
    assert "check KB_OPENAI_API_KEY" in events
    assert SECRET not in recorded + events
