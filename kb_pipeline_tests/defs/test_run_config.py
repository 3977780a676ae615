"""What the configuration of a run may choose, and what it may never reach."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._config import ConfigType, Shape

from kb_pipeline.definitions import defs
from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD
from kb_pipeline_tests.defs.runs import execute, materialized
from kb_pipeline_tests.pictures import screenshot

JOBS = list(defs().resolve_all_job_defs())
SECRET = "sk-0123456789abcdef"

# where a run's code is, its caches and its options; a new entry has to be looked at from outside
KNOWN = {
    *("resources/kb/config/analyzer", "resources/kb/config/workers"),
    *("loggers/console/config/log_level", "loggers/console/config/name"),
    *(f"execution/config/retries/{name}" for name in ("enabled", "disabled")),
    *("execution/config/marker_to_close", "execution/config/step_dependency_config/require_upstream_step_success"),
}
OF_OPS = {
    "articles",
    "article",
    "version",
    "release",
    "old",
    "new",
    "generation",
    "parts",
    "accept",
    "graded",
    "paid",
} | {"confirm_mass_removal", "set", "sample", "first_layer", "last_layer"}


def leaves(kind: ConfigType, *path: str) -> Iterator[str]:
    """The paths of all values that a run can be given."""
    if not isinstance(kind, Shape) and not hasattr(kind, "fields"):
        yield "/".join(path)
        return
    for name, field in kind.fields.items():  # type: ignore[attr-defined]
        yield from leaves(field.config_type, *path, name)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_run_can_be_given_no_place_and_no_code(job: dg.JobDefinition) -> None:
    paths = set(leaves(job.run_config_schema.config_type))
    of_ops = {path for path in paths if path.startswith("ops/")}
    without_fields = {f"resources/{name}/config" for name in ("progress", "io_manager", "intake_watcher")}
    assert paths - of_ops <= KNOWN | without_fields
    assert {path.rpartition("/")[2] for path in of_ops if "/config/" in path} <= OF_OPS


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_every_run_opens_the_resource_that_looks_at_its_configuration(job: dg.JobDefinition) -> None:
    assert all("kb" in node.definition.required_resource_keys for node in job.nodes)


def test_staging_cannot_be_pointed_elsewhere(
    instance: dg.DagsterInstance, settings: Settings, tmp_path: Path, article: Article
) -> None:
    article("alpha", GOOD, {"a.image": screenshot("A")})
    elsewhere = tmp_path / "private" / "diary"
    elsewhere.mkdir(parents=True)
    (elsewhere / "index.html").write_text("<h1>Diary</h1><p>Nobody may read this.</p>")
    with pytest.raises(dg.DagsterInvalidConfigError, match='unexpected config entry "staging"'):
        execute(instance, "ingest_articles", choosing={"staging": str(elsewhere.parent)})
    assert execute(instance, "ingest_articles").success
    assert materialized(instance, "search_index") == {"alpha"}


@pytest.mark.slow("a run of Dagster")
@pytest.mark.parametrize(
    "article_id",
    [
        *("../private", ""),
        *(
            pytest.param(name, marks=pytest.mark.rare("as the others, with another name"))
            for name in ("a/../../private", "/etc", "..", "~")
        ),
    ],
)
def test_an_article_is_never_looked_for_outside_staging(
    instance: dg.DagsterInstance, settings: Settings, tmp_path: Path, article: Article, article_id: str
) -> None:
    article("alpha", GOOD, {"a.image": screenshot("A")})
    private = tmp_path / "private"
    private.mkdir()
    (private / "index.html").write_text("<h1>Diary</h1><p>Nobody may read this.</p>")
    for job, config in CONFIGURED.items():
        execute(instance, job, **{name: [article_id] if name == "articles" else article_id for name in config})
    everything = [path for path in Path(settings.home).rglob("*") if path.is_file()]
    assert not [path for path in everything if b"Nobody may read" in path.read_bytes()]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["history", "home", "private", "staging"]


CONFIGURED = {
    "ingest_articles": ("articles",),
    "retry_failing_articles": ("articles",),
    "remove_articles": ("articles",),
    "reconcile": ("articles",),
    "verify_published": ("articles",),
    "rollback_article": ("article", "version"),
    "compare_article_versions": ("article", "old", "new"),
    "preview_changes": ("articles",),
    "switch_generation": ("generation",),
}


@pytest.mark.slow("a run of Dagster")
def test_a_run_chooses_among_the_analyzers_that_there_are(instance: dg.DagsterInstance, three: list[str]) -> None:
    for analyzer in ("os:system", "antigravity:fly", "kb_pipeline_tests.doubles:RenamedAnalyzer", "nothing"):
        result = execute(instance, "ingest_articles", choosing={"analyzer": analyzer})
        assert not result.success, analyzer
        assert "may choose among the analyzers content-understanding, local, mistral-doc-ai" in error_of(result)
        assert "set KB_ANALYZER" in error_of(result)
    assert execute(instance, "ingest_articles", choosing={"analyzer": "local"}).success


@pytest.mark.slow("a run of Dagster")
def test_an_analyzer_of_ones_own_is_chosen_where_it_is_the_instances(
    instance: dg.DagsterInstance, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "kb_pipeline_tests.doubles:RenamedAnalyzer"
    monkeypatch.setenv("KB_ANALYZER", own)
    assert execute(instance, "ingest_articles", choosing={"analyzer": own}).success


@pytest.mark.parametrize(
    ("job", "op", "choosing"),
    [
        ("ingest_articles", {"articles": [{"env": "KB_OPENAI_API_KEY"}]}, {}),
        ("rollback_article", {"article": {"env": "KB_OPENAI_API_KEY"}}, {}),
        ("switch_generation", {"generation": {"env": "KB_OPENAI_API_KEY"}}, {}),
        ("ingest_articles", {}, {"analyzer": {"env": "KB_OPENAI_API_KEY"}}),
        ("ingest_articles", {}, {"workers": {"env": "KB_OPENAI_API_KEY"}}),
    ],
)
def test_a_run_does_not_read_the_environment_where_keys_are(
    instance: dg.DagsterInstance,
    three: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    job: str,
    op: Mapping[str, Any],
    choosing: Mapping[str, Any],
) -> None:
    monkeypatch.setenv("KB_OPENAI_API_KEY", SECRET)
    try:
        result = execute(instance, job, choosing=choosing, **op)
    except dg.DagsterInvalidConfigError as refused:  # it is no number, and Dagster itself does not show it
        assert SECRET not in str(refused)
        return
    assert not result.success
    assert "asks for the environment variable 'KB_OPENAI_API_KEY', which no run may read" in error_of(result)
    logged = [str(entry) for entry in instance.all_logs(result.run_id)]
    assert SECRET not in "".join([*logged, *capfd.readouterr()])


def error_of(result: dg.ExecuteInProcessResult) -> str:
    """All that the failed step, or the run that had none yet, says; causes included."""
    said = ""
    steps = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    (error,) = steps or [event.job_failure_data.error for event in result.all_events if event.is_job_failure]
    while error:
        said, error = f"{said}\n{error.message}", error.cause
    return said
