"""The quality gates as asset checks: each covers all articles, and lists those that failed it and why.

The gates act inside the build, article by article, before anything is published. These checks show their results:
every run records them, and executing one in the UI reads them again without building anything.

An article that fails a check has a result of its own, which names its partition. The checks themselves have no
partitions: Dagster would compute the status of each partition anew, in 5 ms, each time a page shows a check.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import dagster as dg

from kb_pipeline.defs.events import table
from kb_pipeline.defs.namespace import PLAIN, Namespace
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.flow.agreement import findings_in
from kb_pipeline.flow.build import is_blocking
from kb_pipeline.settings import Settings
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.store.state import load_states
from kb_pipeline.upkeep.status import CheckSummary, Overview, overview

_NAMED = 100
"""Articles that a check lists: Dagster shows the table in one piece."""


def _specs(settings: Settings, namespace: Namespace) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            check.name,
            asset=namespace.asset(check.layer),
            description=check.description,
            blocking=is_blocking(check.name, settings),
        )
        for check in CHECKS.values()
    ]


def quality_gates(settings: Settings, namespace: Namespace = PLAIN) -> dg.AssetChecksDefinition:
    """All checks; the settings say which of them block."""

    @dg.multi_asset_check(
        name=namespace.of("quality_gates"),
        specs=_specs(settings, namespace),
        can_subset=True,
        required_resource_keys={namespace.of("kb")},
    )
    def read_results(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        """Read the results that each article had when it was built last."""
        kb: KnowledgeBase = getattr(context.resources, namespace.of("kb"))
        settings = kb.settings()
        workspace = kb.workspace()
        summary = overview(load_states(workspace.layout), findings_in(workspace.layout))
        for key in context.selected_asset_check_keys:
            yield dg.AssetCheckResult(
                check_name=key.name,
                asset_key=key.asset_key,
                passed=not summary.checks[key.name].failed,
                severity=_severity(key.name, settings),
                metadata=_metadata(summary.checks[key.name]),
            )

    return read_results


def record_checks(context: dg.OpExecutionContext, settings: Settings, summary: Overview, namespace: Namespace) -> None:
    """Record in the current run the results of its articles that failed a check, and then of each check as a whole.

    The UI shows the result that was recorded last as that of the check.
    """
    for name, check in summary.checks.items():
        one = partial(
            dg.AssetCheckEvaluation,
            asset_key=namespace.asset(CHECKS[name].layer),
            check_name=name,
            severity=_severity(name, settings),
            blocking=is_blocking(name, settings),
        )
        failed = list(check.failed_in(context.run_id).items())[:_NAMED]
        results = [
            one(passed=False, partition=article_id, description=f"{article_id}: {result.message}")
            for article_id, result in failed
        ]
        for evaluation in (*results, one(passed=not check.failed, metadata=_metadata(check))):
            # Dagster accepts it, although its annotation does not
            context.log_event(evaluation)  # type: ignore[arg-type]


def _severity(name: str, settings: Settings) -> dg.AssetCheckSeverity:
    return dg.AssetCheckSeverity.ERROR if is_blocking(name, settings) else dg.AssetCheckSeverity.WARN


def _metadata(check: CheckSummary) -> dict[str, Any]:
    failed = list(check.failed.items())[:_NAMED]
    rows = [{"article": article_id, "problem": result.message} for article_id, result in failed]
    return {
        "articles_passed": check.passed,
        "articles_failed": len(check.failed),
        **({"failed": table(rows)} if rows else {}),
    }
