"""Everything of Dagster that we use and that is private there (``dagster._core``, ``dagster._serdes``), in one place.

You know Dagster and wonder why. One reason stands behind most of it: a knowledge base has thousands of partitions, and
a run builds hundreds of them in one step. The public API records one event at a time (about a hundred a second on
SQLite), which would take longer than building the articles, and knows no way to say that one partition of a step
failed while the others were made. So we write the same events that Dagster writes itself, in batches, and nothing that
its own UI and daemon would not read. Tables, statuses and configuration stay Dagster's: take the lines ``storage`` and
``run_launcher`` out of ``dagster.yaml``, and everything goes on, slower.

What is private can change in any release, which is why ``pyproject.toml`` names one version. When you raise it: run the
tests of ``kb_pipeline_tests/defs``, which read back through the public API what was written through these names.
Methods with an underscore are called in ``sqlite_storage.py`` only. Not here: ``python -m dagster._daemon``, which
``kb`` starts as Dagster's own ``dagster dev`` does.
"""

# What a materialization, an observation and a plan of a partition are in the log, and the entry around each: a list of
# `EventLogEntry` goes to `store_event_batch`, which makes it one commit. A partition that is planned in a failed run
# and not materialized there counts as failed: by `AssetMaterializationPlannedData` one bad article is red alone.
# The tags say from which data versions a partition was made; Dagster writes them itself only for events of its own.
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)
from dagster._core.events import (
    ASSET_EVENTS,
    AssetMaterializationPlannedData,
    AssetObservationData,
    DagsterEvent,
    DagsterEventType,
    EngineEventData,
    StepMaterializationData,
)
from dagster._core.events.log import EventLogEntry

# A slot of a pool inside a step: which pools a run needs (OCR, a paid service) depends on its settings, while `pool=`
# of an op is fixed when the code is loaded.
from dagster._core.execution.plan.instance_concurrency_context import InstanceConcurrencyContext
from dagster._core.execution.plan.step import IExecutionStep

# The default launcher cannot tell that the process of a run was killed; a subclass is how Dagster is told.
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus

# A run that `kb` starts in its own process has no origin, without which its timeline and its job's page leave it out.
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin

# SQLite's event log, whose `store_event_batch` stores one by one; PostgreSQL's batches by itself and is used as it is.
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage

# Only names a type: what the webserver hands to the application that we guard.
from dagster._core.workspace.context import IWorkspaceProcessContext

# What every class that `dagster.yaml` names is given.
from dagster._serdes import ConfigurableClassData

__all__ = [
    "ASSET_EVENTS",
    "CODE_VERSION_TAG",
    "DATA_VERSION_IS_USER_PROVIDED_TAG",
    "DATA_VERSION_TAG",
    "SQLITE_BUSY_TIMEOUT_SECONDS",
    "AssetMaterializationPlannedData",
    "AssetObservationData",
    "CheckRunHealthResult",
    "ConfigurableClassData",
    "DagsterEvent",
    "DagsterEventType",
    "DagsterSqliteStorage",
    "DefaultRunLauncher",
    "EngineEventData",
    "EventLogEntry",
    "IExecutionStep",
    "IWorkspaceProcessContext",
    "InstanceConcurrencyContext",
    "RegisteredCodeLocationOrigin",
    "RemoteJobOrigin",
    "RemoteRepositoryOrigin",
    "SqlEventLogStorageTable",
    "SqliteEventLogStorage",
    "StepMaterializationData",
    "WorkerStatus",
    "get_input_data_version_tag",
    "get_input_event_pointer_tag",
]
