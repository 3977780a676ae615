"""The declared sources as assets: each takes in its articles, and says what was new, changed, gone, left out, refused.

The graph leads from them to the layers over ``taken_in_articles``, on which the partition of no article depends: else
Dagster would call all of them stale each time a source is added or taken in. The staging sensor ingests what they have
changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import dagster as dg
from pydantic import Field

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
from kb_pipeline.settings import Settings, load_settings

_CHECKS = {
    "every_item_is_taken": "Every item of the source is taken in, or left out because it is no article.",
    "nothing_is_held_back": "The articles whose items are gone are removed: there are not so many that it may be an "
    "accident.",
}
_NAMED = 200
"""Articles that the metadata names: Dagster shows it in one piece."""


TAKEN_IN = "taken_in_articles"
WATCHER = "intake_watcher"
"""The name of the resource."""


class Watcher(Protocol):
    """Whoever started a run in this process, and looks on."""

    def fetched(self, number: int) -> None:
        """So many items were fetched so far."""

    def taken(self, taken: Taken) -> None:
        """The run is done, and this is what it did."""


class NoWatcher:
    """The default: shows nothing, because the run has its own log."""

    def fetched(self, number: int) -> None:
        """Do nothing."""

    def taken(self, taken: Taken) -> None:
        """Do nothing."""


class TakeInConfig(dg.Config):
    """How a source is taken in."""

    confirm_mass_removal: bool = Field(
        default=False, description="Remove the articles whose items are gone, however many they are."
    )


class Intake(NamedTuple):
    """What Dagster shows and runs of the declared sources."""

    assets: list[dg.AssetsDefinition | dg.AssetSpec]
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
            namespace.of(job_of(name)),
            selection=[asset],
            executor_def=dg.in_process_executor,
            description=f"Take in what is new or changed in the source {name}, and remove what is gone.",
        )
        intake.assets.append(asset)
        intake.jobs.append(job)
        if options.schedule:
            intake.schedules.append(_schedule(name, options, job, settings))
    if intake.assets:
        intake.assets.append(_articles([each.key for each in intake.assets], namespace))
    return intake


def _articles(sources: Sequence[dg.AssetKey], namespace: Namespace) -> dg.AssetSpec:
    return dg.AssetSpec(
        namespace.asset(TAKEN_IN),
        deps=sources,
        partitions_def=namespace.partitions,
        group_name=namespace.of("intake"),
        owners=OWNERS,
        kinds={"file"},
        description="The articles in the staging folder that sources have brought. Nothing materializes it: the assets "
        "of the sources say what they brought, and the layers what became of it.",
    )


def taken_in_by(settings: Settings, namespace: Namespace = PLAIN) -> list[dg.AssetDep]:
    """What staged articles come from, if sources are declared: for the graph, not for the partition of an article."""
    mapping = dg.SpecificPartitionsPartitionMapping([])
    return [dg.AssetDep(namespace.asset(TAKEN_IN), partition_mapping=mapping)] if read_sources(settings) else []


def job_of(name: str) -> str:
    """The job that takes in a source."""
    return f"take_in_{_word(name)}"


def sources_alone() -> dg.Definitions:
    """The declared sources, for a process that takes them in and does nothing else."""
    intake, kb = intake_of(load_settings()), KnowledgeBase()
    return dg.Definitions(assets=intake.assets, jobs=intake.jobs, resources={"kb": kb, WATCHER: NoWatcher()})


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
        required_resource_keys={namespace.of("kb"), namespace.of(WATCHER)},
        check_specs=[dg.AssetCheckSpec(check, asset=key, description=text) for check, text in _CHECKS.items()],
        freshness_policy=NIGHTLY if is_nightly else None,
    )
    def take_in(context: dg.AssetExecutionContext, config: TakeInConfig) -> dg.MaterializeResult:  # type: ignore[type-arg]
        """Take in the source; the staging sensor ingests its articles."""
        kb: KnowledgeBase = getattr(context.resources, namespace.of("kb"))
        watcher: Watcher = getattr(context.resources, namespace.of(WATCHER))
        current = kb.settings()
        declared = read_sources(current).get(name)
        if declared is None:
            raise IntakeError(f"{current.intake} declares no {name} any more; reload the code location")
        confirmed = config.confirm_mass_removal
        taken = run(open_source(name, declared, current), current, confirmed=confirmed, progress=watcher.fetched)
        watcher.taken(taken)
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
    why = [each.model_dump() for each in taken.why_left_out]
    reasons = [{"item": item, "reason": reason} for item, reason in taken.refused.items()]
    return {
        "summary": str(taken),
        **{name: len(ids) for name, ids in lists.items()},
        **{f"{name}_articles": ids[:_NAMED] for name, ids in lists.items() if ids},
        "unchanged": taken.unchanged,
        "left_out": taken.left_out,
        **({"why_left_out": table(why[:_NAMED])} if why else {}),
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
