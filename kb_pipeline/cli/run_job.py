"""Runs a Dagster job in this process, on the real instance, so that the Dagster UI shows it like every other run.

This is the only command module that imports Dagster. It does so only when a job runs, because that takes two seconds.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb_pipeline import errors
from kb_pipeline.cli.console import err, named
from kb_pipeline.cli.instance import check_history, dagster_environment
from kb_pipeline.cli.processes import LOCATION
from kb_pipeline.errors import KnowledgeBaseError, StorageError, remedy
from kb_pipeline.flow.access_binding import observe_all
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.home import dagster_home

if TYPE_CHECKING:
    import dagster as dg
    from dagster_shared.error import SerializableErrorInfo

    from kb_pipeline.defs.materialize import Progress


_MOST_CHARACTERS = 300
"""Characters of Dagster's or YAML's words in a message: the first says what is wrong."""


@dataclass(frozen=True)
class Observation:
    """An asset observation that the run recorded; ``article`` is its partition."""

    asset: str
    article: str | None
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class JobRun:
    """A finished run. ``error`` is a sentence on why it failed, empty if it succeeded."""

    id: str
    success: bool
    error: str
    observations: tuple[Observation, ...]

    def observed(self, asset: str) -> list[Observation]:
        """The observations of one asset, in order."""
        return [observation for observation in self.observations if observation.asset == asset]

    def require_success(self) -> "JobRun":
        """Return this run.

        Raises:
            KnowledgeBaseError: the run failed.
        """
        if not self.success:
            raise KnowledgeBaseError(self.error)
        return self


def run_job(
    settings: Settings,
    name: str,
    config: Mapping[str, object],
    progress: "Progress | None" = None,
    *,
    scenario: str = "",
    definitions: "Callable[[], dg.Definitions] | None" = None,
    resources: Mapping[str, object] | None = None,
) -> JobRun:
    """Run a job with the ``config`` of its op, and report each finished article to ``progress``.

    ``scenario``: the partition, of a job that has one for each scenario. ``definitions`` are those that have the job,
    if not the ones of this process; ``resources`` stand for theirs.

    Raises:
        StorageError: Dagster's storage cannot be used.
    """
    lists = _apply_lists(open_workspace(settings))  # before the run, so that a restriction needs no storage
    with dagster_storage(settings, lists):
        import dagster as dg

        from kb_pipeline.definitions import defs
        from kb_pipeline.defs.materialize import SOURCE_TAG
        from kb_pipeline.defs.network import scenarios
        from kb_pipeline.defs.partitions import add_partitions

        job = (definitions or defs)().resolve_job_def(name)
        with dg.DagsterInstance.get() as instance:
            _of_our_location(instance, name)
            if scenario:
                add_partitions(instance, scenarios.name or "", [scenario])
            result = job.execute_in_process(
                run_config={
                    "ops": {job.nodes[0].name: {"config": dict(config)}} if config else {},
                    "resources": {"kb": {"config": {"analyzer": settings.analyzer}}},
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
                instance=instance,
                tags={SOURCE_TAG: "cli"},
                partition_key=scenario or None,
                resources={**({"progress": progress} if progress else {}), **(resources or {})},
                raise_on_error=False,
            )
            observations = tuple(_observations(instance, result.run_id))
    _raise_if_interrupted(result)
    return JobRun(result.run_id, result.success, _error(result), observations)


def ask_history(settings: Settings) -> None:
    """Ask the history of Dagster for its last run.

    Raises:
        StorageError: it cannot be read.
    """
    with dagster_storage(settings):
        import dagster as dg

        with dg.DagsterInstance.get() as instance:
            instance.get_runs(limit=1)


@contextmanager
def dagster_storage(settings: Settings, remark: str = "") -> Iterator[None]:
    """Set up Dagster's environment, and turn failures of its storage into our errors, which end with the remark.

    Raises:
        StorageError: the storage cannot be read or written.
    """
    root = logging.getLogger()
    root.addFilter(_is_no_retry)
    try:
        os.environ.update(dagster_environment(settings))
        yield
    except Exception as exc:
        if (reason := _storage_failure(exc, dagster_home(settings))) is None:
            raise
        raise StorageError("; ".join(filter(None, [reason, remark]))) from exc
    finally:
        root.removeFilter(_is_no_retry)


def _apply_lists(workspace: Workspace) -> str:
    """Apply the access lists that are staged now; returns what to say of them."""
    try:
        problems = observe_all(workspace, workspace.staging.list_articles().article_ids, may_be_arriving=True)
    except (KnowledgeBaseError, OSError) as exc:
        return f"changed access lists could not be applied: {exc}"
    if not problems:
        return "changed access lists apply all the same"
    first = next(iter(problems.values()))
    return f"changed access lists apply all the same, but not those of {named(sorted(problems))}: {first}"


def _is_no_retry(record: logging.LogRecord) -> bool:
    """Dagster logs each of its attempts to reach PostgreSQL; the last one is reported."""
    return not str(record.msg).startswith("Retrying failed database connection")


def _storage_failure(exc: Exception, home: Path) -> str | None:
    """Say what is wrong with the storage, if the error comes from its settings, its database or its file system."""
    from dagster import DagsterInvalidConfigError
    from sqlalchemy.exc import SQLAlchemyError
    from yaml import YAMLError  # type: ignore[import-untyped]

    if isinstance(exc, KnowledgeBaseError):
        return str(exc) if isinstance(exc, StorageError) else None
    if isinstance(exc, DagsterInvalidConfigError | YAMLError):
        why = " ".join(str(exc).split())[:_MOST_CHARACTERS]
        return f"{home / 'dagster.yaml'} is not valid: {why}; correct it, or remove it to get the default"
    cause: BaseException | None = exc
    while cause and not isinstance(cause, SQLAlchemyError | OSError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    try:
        check_history(home)
    except StorageError as damaged:
        return str(damaged)
    problem = str(getattr(cause, "orig", None) or cause).strip().partition("\n")[0]
    what_to_do = remedy(
        problem, "check that it can be reached and written and that its disk is not full, then run this again"
    )
    return f"Dagster's storage (see {home}) cannot be used: {problem}; {what_to_do}"


def _of_our_location(instance: "dg.DagsterInstance", job: str) -> None:
    """Let runs of this job name the code location, without which its timeline and the job's page leave them out."""
    from kb_pipeline.defs.dagster_internals import (
        RegisteredCodeLocationOrigin,
        RemoteJobOrigin,
        RemoteRepositoryOrigin,
    )

    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), "__repository__")
    origin = RemoteJobOrigin(repository, job)
    # execute_in_process makes the run, and takes no origin
    create = partial(instance.create_run_for_job, remote_job_origin=origin)
    instance.create_run_for_job = create  # type: ignore[method-assign]


def _observations(instance: "dg.DagsterInstance", run_id: str) -> Iterator[Observation]:
    import dagster as dg

    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_OBSERVATION):
        event = entry.get_dagster_event()
        observation = event.asset_observation_data.asset_observation
        values = {name: value.value for name, value in observation.metadata.items()}
        yield Observation(observation.asset_key.to_user_string(), observation.partition, values)


def _raise_if_interrupted(result: "dg.ExecuteInProcessResult") -> None:
    reasons = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    if any(error and error.cls_name == "DagsterExecutionInterruptedError" for error in reasons):
        err.print("interrupted; finished work is kept, run the same command again for the rest")
        raise KeyboardInterrupt


def _error(result: "dg.ExecuteInProcessResult") -> str:
    if result.success:
        return ""
    failed = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    reasons = [
        data.user_failure_data.description if data.user_failure_data else data.error and _reason(data.error)
        for data in failed
    ]
    message = "; ".join(reason for reason in reasons if reason)
    return message or f"the run failed; its log is in the Dagster UI: run {result.run_id}"


def _reason(error: "SerializableErrorInfo") -> str:
    """The message of the first error of this package in the chain that Dagster reports, else of its root cause."""
    while error.cause and not hasattr(errors, error.cls_name or ""):
        error = error.cause
    message = error.message.strip().removeprefix(f"{errors.__name__}.{error.cls_name}: ")
    what_to_do = remedy(message, "")
    return f"{message}; {what_to_do}" if what_to_do and what_to_do not in message else message
