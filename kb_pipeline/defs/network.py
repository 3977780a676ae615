"""Networks as assets: one partition per scenario, from its manifest to the store that readers get."""

from contextlib import closing
from pathlib import Path

import dagster as dg

from kb_pipeline.defs.control_room import OWNERS
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.network.knowledge import are_written, write_articles
from kb_pipeline.network.loading import CODE_VERSION, Loading, Stage
from kb_pipeline.network.opening import configured_scenario, loaded_version, open_loader
from kb_pipeline.network.scenario import list_scenarios
from kb_pipeline.settings import load_settings
from kb_pipeline.steps.fingerprint import fingerprint

scenarios = dg.DynamicPartitionsDefinition(name="scenarios")

_NETWORK_CHECKS = {
    "ids_are_unique": "Every vertex has an id that no other has, in whatever case.",
    "edges_have_both_ends": "Both ends of every edge are vertices of the types that the manifest allows.",
    "every_type_is_declared": "Types that edges and symptoms name are declared.",
    "no_cycle_of_dependencies": "No element depends on itself through others.",
    "incidents_can_be_used": "The recorded incidents can be read, and what had failed are vertices that can fail.",
}
_TELEMETRY_CHECKS = {
    "every_row_has_a_time": "Every row has a time and an entity.",
    "metrics_are_finite": "No metric is infinite or not a number.",
    "entities_exist": "Telemetry speaks of vertices of the network.",
    "no_long_gaps": "Measurements go on without long pauses.",
}
_WARNINGS = {"no_cycle_of_dependencies", "incidents_can_be_used", "entities_exist", "no_long_gaps"}


def _specs(asset: str, checks: dict[str, str]) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(name, asset=asset, description=text, blocking=name not in _WARNINGS)
        for name, text in checks.items()
    ]


def _loading(context: dg.AssetExecutionContext, kb: KnowledgeBase) -> Loading:
    settings = kb.settings()
    return Loading(configured_scenario(settings, context.partition_key), settings.home_path)


def _result(stage: Stage, **metadata: str) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """What an asset tells of its stage, and the results of its checks."""
    return dg.MaterializeResult(
        metadata={**stage.counts, "made": stage.made, **metadata},
        check_results=[
            dg.AssetCheckResult(
                passed=check.passed,
                check_name=check.name,
                severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
                description=check.problem or None,
            )
            for check in stage.checks
        ],
    )


@dg.asset(
    partitions_def=scenarios, group_name="network", owners=OWNERS, kinds={"yaml"}, code_version=CODE_VERSION,
    description="The manifest of a scenario, read and validated, with the content hash of each of its files.",
)  # fmt: skip
def scenario_manifest(context: dg.AssetExecutionContext, kb: KnowledgeBase) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Read the manifest."""
    folder = configured_scenario(kb.settings(), context.partition_key)
    documents = {kind: len(folder.documents(kind)) for kind in ("runbooks", "tickets")}
    return dg.MaterializeResult(
        metadata={
            "title": folder.scenario.title,
            "version": folder.fingerprint(),
            "files": folder.hashes(),
            **documents,
        }
    )


@dg.asset(
    partitions_def=scenarios, group_name="network", owners=OWNERS, kinds={"parquet"}, code_version=CODE_VERSION,
    deps=[scenario_manifest], check_specs=_specs("network_tables", _NETWORK_CHECKS),
    description="Vertices and edges of the network as Parquet files.",
)  # fmt: skip
def network_tables(context: dg.AssetExecutionContext, kb: KnowledgeBase) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write vertices and edges."""
    return _result(_loading(context, kb).network())


@dg.asset(
    partitions_def=scenarios, group_name="network", owners=OWNERS, kinds={"parquet"}, code_version=CODE_VERSION,
    deps=[network_tables], check_specs=_specs("telemetry_tables", _TELEMETRY_CHECKS),
    description="Alerts and measurements as one Parquet file per container.",
)  # fmt: skip
def telemetry_tables(context: dg.AssetExecutionContext, kb: KnowledgeBase) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write the telemetry."""
    return _result(_loading(context, kb).telemetry())


@dg.asset(
    partitions_def=scenarios, group_name="network", owners=OWNERS, kinds={"duckdb"}, code_version=CODE_VERSION,
    deps=[network_tables, telemetry_tables],
    check_specs=_specs("network_store", {"store_holds_the_tables": "The store holds as many rows as the tables."}),
    description="The store of KB_NETWORK that readers query; a new version replaces the old one only when it is whole.",
)  # fmt: skip
def network_store(context: dg.AssetExecutionContext, kb: KnowledgeBase) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write the store, and give it to readers."""
    settings = kb.settings()
    folder = configured_scenario(settings, context.partition_key)
    with closing(open_loader(settings, folder)) as loader:
        loading = Loading(folder, settings.home_path, loader)
        return _result(loading.store(), version=loading.version)


@dg.asset(
    partitions_def=scenarios, group_name="network", owners=OWNERS, kinds={"html"}, code_version=CODE_VERSION,
    deps=[scenario_manifest],
    description="A folder with an article for each runbook and ticket, staged beside the authors' articles.",
)  # fmt: skip
def scenario_articles(context: dg.AssetExecutionContext, kb: KnowledgeBase) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write the articles; the staging sensor, or kb ingest, ingests them."""
    settings = kb.settings()
    written = write_articles(configured_scenario(settings, context.partition_key), settings.home_path)
    return dg.MaterializeResult(
        metadata={name: list(getattr(written, name)) for name in ("article_ids", "changed", "removed")}
    )


NETWORK = dg.with_source_code_references(
    [scenario_manifest, network_tables, telemetry_tables, network_store, scenario_articles]
)


@dg.sensor(
    target=dg.AssetSelection.groups("network"),
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Loads the scenarios of KB_SCENARIOS that are new or changed.",
)
def scenario_sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """Request a run for each scenario whose files are not those that readers have."""
    settings = load_settings()
    names = list_scenarios(Path(settings.scenarios))
    partitions = set(context.instance.get_dynamic_partitions("scenarios"))
    requests = []
    for name in names:
        try:
            folder = configured_scenario(settings, name)
            version = Loading(folder, settings.home_path).version
            is_loaded = version == loaded_version(settings, name) and are_written(folder, settings.home_path)
            state = fingerprint(version, folder.hashes())
        except KnowledgeBaseError as exc:
            context.log.warning(str(exc))
            continue
        if not is_loaded:
            requests.append(dg.RunRequest(partition_key=name, run_key=f"{name} {state[:16]}"))
    new = [name for name in names if name not in partitions]
    return dg.SensorResult(requests, dynamic_partitions_requests=[scenarios.build_add_request(new)] if new else [])
