"""The quality gates as asset checks: each over all articles, with the ones that did not pass and why.

The gates themselves act inside the build, article by article, before anything is published; here is what they
found, for people. Every run records it, and it can be looked at anew from the UI without making anything.
"""

from collections.abc import Iterator

import dagster as dg

from kb_pipeline.build import is_blocking
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.overview import CheckSummary, Overview, overview
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.state import load_states
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.workspace import open_workspace

_NAMED = 100


def _specs(settings: Settings) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            check.name, asset=check.layer, description=check.description, blocking=is_blocking(check.name, settings)
        )
        for check in CHECKS.values()
    ]


@dg.multi_asset_check(specs=_specs(load_settings()), can_subset=True)
def quality_gates(context: dg.AssetCheckExecutionContext, kb: KnowledgeBase) -> Iterator[dg.AssetCheckResult]:
    """What the gates found when each article was made last."""
    settings = kb.settings()
    seen = overview(load_states(open_workspace(settings).layout))
    for key in context.selected_asset_check_keys:
        yield dg.AssetCheckResult(
            check_name=key.name,
            asset_key=key.asset_key,
            passed=not seen.checks[key.name].failed,
            severity=_severity(key.name, settings),
            metadata=_metadata(seen.checks[key.name]),
        )


def record_checks(context: dg.OpExecutionContext, settings: Settings, seen: Overview) -> None:
    """Write the checks' results into the running run's history."""
    for name, check in seen.checks.items():
        context.log_event(
            dg.AssetCheckEvaluation(  # type: ignore[arg-type]  # handled like the other events, and not declared
                asset_key=dg.AssetKey(CHECKS[name].layer),
                check_name=name,
                passed=not check.failed,
                metadata=_metadata(check),
                severity=_severity(name, settings),
                blocking=is_blocking(name, settings),
            )
        )


def _severity(name: str, settings: Settings) -> dg.AssetCheckSeverity:
    return dg.AssetCheckSeverity.ERROR if is_blocking(name, settings) else dg.AssetCheckSeverity.WARN


def _metadata(check: CheckSummary) -> dict[str, dg.MetadataValue]:
    rows = [
        dg.TableRecord({"article": article_id, "problem": result.message})
        for article_id, result in list(check.failed.items())[:_NAMED]
    ]
    counts: dict[str, dg.MetadataValue] = {
        "articles_passed": dg.MetadataValue.int(check.passed),
        "articles_failed": dg.MetadataValue.int(len(check.failed)),
    }
    return counts | ({"failed": dg.MetadataValue.table(rows)} if rows else {})
