"""The declared sources as assets: each takes in its articles, and says what was new, changed, gone, left out, refused.

No edge leads from them to the layers: an article is a partition, and Dagster would call all of them stale each time a
source is added or taken in. The staging sensor ingests what they have changed.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import dagster as dg

from kb_pipeline.defs.automation import NIGHTLY
from kb_pipeline.defs.control_room import OWNERS
from kb_pipeline.defs.events import table
from kb_pipeline.defs.materialize import SOURCE_TAG
from kb_pipeline.defs.namespace import PLAIN, Namespace
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.base import Options
from kb_pipeline.intake.declared import open_source, read_sources
from kb_pipeline.intake.running import Taken, run
from kb_pipeline.settings import Settings

_CHECKS = {
    "every_item_is_taken": "Every item of the source is taken in, or left out because it is no article.",
    "nothing_is_held_back": "The articles whose items are gone are removed: there are not so many that it may be an "
    "accident.",
}
_NAMED = 200
"""Articles that the metadata names: Dagster shows it in one piece."""


class Intake(NamedTuple):
    """What Dagster shows and runs of the declared sources."""

    assets: list[dg.AssetsDefinition]
    jobs: list[Any]
    schedules: list[dg.ScheduleDefinition]


def intake_of(settings: Settings, namespace: Namespace = PLAIN) -> Intake:
    """An asset, a job and a schedule for each source.

    Raises:
        IntakeError: the file that declares them is not valid.
    """
    intake = Intake([], [], [])
    for name, options in read_sources(settings).items():
        asset = _asset(name, options, settings, namespace)
        job = dg.define_asset_job(
            namespace.of(f"take_in_{_word(name)}"),
            selection=[asset],
            executor_def=dg.in_process_executor,
            description=f"Take in what is new or changed in the source {name}, and remove what is gone.",
        )
        intake.assets.append(asset)
        intake.jobs.append(job)
        if options.schedule:
            intake.schedules.append(_schedule(name, options, job, settings))
    return intake


def _word(name: str) -> str:
    return name.replace("-", "_")


def _asset(name: str, options: Options, settings: Settings, namespace: Namespace) -> dg.AssetsDefinition:
    key = namespace.asset(f"intake_{_word(name)}")
    is_nightly = settings.watch and options.schedule == Options.model_fields["schedule"].default

    @dg.asset(
        key=key,
        group_name=namespace.of("intake"),
        owners=OWNERS,
        kinds={options.kind if options.kind != "folder" else "file"},
        description=f"The articles of the source {name} in the staging folder, as they are in the source.",
        required_resource_keys={namespace.of("kb")},
        check_specs=[dg.AssetCheckSpec(check, asset=key, description=text) for check, text in _CHECKS.items()],
        freshness_policy=NIGHTLY if is_nightly else None,
    )
    def take_in(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]
        """Take in the source; the staging sensor ingests its articles."""
        kb: KnowledgeBase = getattr(context.resources, namespace.of("kb"))
        current = kb.settings()
        declared = read_sources(current).get(name)
        if declared is None:
            raise IntakeError(f"{current.intake} declares no {name} any more; reload the code location")
        taken = run(open_source(name, declared, current), current)
        for problem in _problems(taken):
            context.log.warning(problem)
        return dg.MaterializeResult(metadata=_metadata(taken), check_results=list(_checks(taken, key)))

    return take_in


def _problems(taken: Taken) -> Iterator[str]:
    if taken.guard:
        yield taken.guard
    yield from list(taken.refused.values())[:_NAMED]


def _metadata(taken: Taken) -> Mapping[str, Any]:
    lists = {"new": taken.new, "changed": taken.changed, "gone": taken.gone}
    reasons = [{"item": item, "reason": reason} for item, reason in taken.refused.items()]
    return {
        "summary": str(taken),
        **{name: len(ids) for name, ids in lists.items()},
        **{f"{name}_articles": ids[:_NAMED] for name, ids in lists.items() if ids},
        "unchanged": taken.unchanged,
        "left_out": taken.left_out,
        "hidden": taken.hidden,
        "refused": len(taken.refused),
        "bytes": taken.bytes,
        "seconds": taken.seconds,
        **({"reasons": table(reasons[:_NAMED])} if reasons else {}),
    }


def _checks(taken: Taken, key: dg.AssetKey) -> Iterable[dg.AssetCheckResult]:
    reasons = {"every_item_is_taken": next(iter(taken.refused.values()), ""), "nothing_is_held_back": taken.guard}
    for name, reason in reasons.items():
        yield dg.AssetCheckResult(
            passed=not reason,
            check_name=name,
            asset_key=key,
            severity=dg.AssetCheckSeverity.WARN,
            description=reason or None,
        )


def _schedule(name: str, options: Options, job: Any, settings: Settings) -> dg.ScheduleDefinition:  # noqa: ANN401
    try:
        return dg.ScheduleDefinition(
            name=f"{job.name}_schedule",
            job=job,
            cron_schedule=options.schedule,
            tags={SOURCE_TAG: "schedule", "dagster/priority": "-1"},
            default_status=dg.DefaultScheduleStatus.RUNNING if settings.watch else dg.DefaultScheduleStatus.STOPPED,
            description=f"Take in the source {name}; intake.yaml says when.",
        )
    except dg.DagsterInvalidDefinitionError as exc:
        raise IntakeError(f"{settings.intake}: {name}.schedule is no cron schedule: {options.schedule!r}") from exc
