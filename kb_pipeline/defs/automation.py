"""What Dagster itself expects and starts: how fresh assets have to be, and what is measured after something else.

The articles have neither. The sensor and the schedules make them: a condition on their layers would be evaluated for
each partition at each tick, and start a run for each.
"""

from collections.abc import Iterable
from datetime import timedelta

import dagster as dg

from kb_pipeline.application import open_application
from kb_pipeline.defs.materialize import SOURCE_TAG
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.settings import Settings

NIGHTLY = dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=26), fail_window=timedelta(hours=50))
"""A schedule materializes it every night: a warning after one that was missed, failed after two."""
_FRESH = {"index_state", "retrieval_quality"}

AFTER_UPSTREAM = dg.AutomationCondition.eager()


def expected_fresh(assets: Iterable[dg.AssetsDefinition], settings: Settings) -> list[dg.AssetsDefinition]:
    """The assets, those that are made every night with a freshness policy, if the settings turn the schedules on."""
    if not settings.watch:
        return list(assets)

    def expected(spec: dg.AssetSpec) -> dg.AssetSpec:
        return spec.replace_attributes(freshness_policy=NIGHTLY) if spec.key.path[-1] in _FRESH else spec

    return list(dg.map_asset_specs(expected, assets))


def automation_sensor(settings: Settings) -> dg.AutomationConditionSensorDefinition:
    """The sensor of the automation conditions of this package."""
    is_free = settings.watch and not _is_paid(settings)
    return dg.AutomationConditionSensorDefinition(
        "automation_sensor",
        target=dg.AssetSelection.groups("quality"),
        run_tags={SOURCE_TAG: "automation", "dagster/priority": "-1"},
        default_status=dg.DefaultSensorStatus.RUNNING if is_free else dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=60,
        description="Measures the answers after the search was measured. It is off while a chat model answers, which "
        "is paid for.",
    )


def _is_paid(settings: Settings) -> bool:
    try:
        return open_application(settings).is_paid
    except KnowledgeBaseError:
        return True  # nobody knows, and whoever serves or asks is told what is wrong with the settings
