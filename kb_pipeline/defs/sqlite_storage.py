"""Dagster's SQLite storage, which writes a batch of events as a batch, and compiles a statement once.

Dagster's own SQLite storage writes a batch event by event, with two connections each (about a hundred events a
second), which would be the slowest part of an ingest. ``dagster.yaml`` chooses this one under ``storage: custom``; the
tables are Dagster's own, so that the choice can be taken back at any time. PostgreSQL's storage batches by itself.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

from dagster import DagsterInstance, Field, StringSource
from filelock import FileLock
from sqlalchemy import Connection, Engine, NullPool, create_engine, insert

from kb_pipeline.defs.dagster_internals import (
    ASSET_EVENTS,
    SQLITE_BUSY_TIMEOUT_SECONDS,
    ConfigurableClassData,
    DagsterSqliteStorage,
    EventLogEntry,
    SqlEventLogStorageTable,
    SqliteEventLogStorage,
)
from kb_pipeline.settings import load_settings
from kb_pipeline.store.home import dagster_home, make_private

_PARTITIONS = "SELECT partition FROM dynamic_partitions WHERE partitions_def_name = ? ORDER BY id"


@lru_cache(maxsize=16)
def _engine(database: str) -> Engine:
    """Opens a connection each time, and knows the statements that it compiled; Dagster makes one for each event."""
    return create_engine(database, poolclass=NullPool, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})


class BatchingSqliteEventLogStorage(SqliteEventLogStorage):
    """Writes a batch of asset events of one run in two transactions: the run's log, the asset index.

    It also lists partitions in a third of the time, which every page of an asset and every tick of the sensor does.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._together = threading.local()
        self._tables: set[str] = set()

    def has_table(self, table_name: str) -> bool:
        """Dagster asks this for each result of a check, with a new engine; a table that is there stays."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    @contextmanager
    def together(self) -> Iterator[None]:
        """Store whatever this thread stores meanwhile in one transaction on each database, not in five for an event."""
        with self._db_lock, ExitStack() as transactions:
            self._together.transactions, self._together.connections = transactions, {}
            try:
                yield
            finally:
                del self._together.transactions

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        """A transaction on the database of a run, or on the asset index."""
        if transactions := getattr(self._together, "transactions", None):
            connections = self._together.connections
            if shard not in connections:
                connections[shard] = transactions.enter_context(self._begin(shard))
            yield connections[shard]
            return
        with self._db_lock, self._begin(shard) as connection:
            yield connection

    def _begin(self, shard: str) -> AbstractContextManager[Connection]:
        engine = _engine(self.conn_string_for_shard(shard))
        if shard not in self._initialized_dbs:
            self._initdb(engine)
            self._initialized_dbs.add(shard)
        return engine.begin()

    def get_dynamic_partitions(self, partitions_def_name: str) -> Sequence[str]:
        """The partition keys in the order in which they were added, read without SQLAlchemy's object for each row."""
        with self.index_connection() as connection:
            cursor = connection.connection.cursor()
            cursor.execute(_PARTITIONS, (partitions_def_name,))
            return [partition for (partition,) in cursor.fetchall()]

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events of one run; others than asset events are stored one by one."""
        assets = [event for event in events if event.dagster_event_type in ASSET_EVENTS]
        for event in events:
            if event.dagster_event_type not in ASSET_EVENTS:
                self.store_event(event)
        if assets:
            rows = [self._event_to_row(event) for event in assets]
            with self.run_connection(assets[0].run_id) as connection:
                connection.execute(insert(SqlEventLogStorageTable), rows)
            with self.index_connection() as connection:
                self._index(connection, assets, rows)

    def _index(self, connection: Connection, events: Sequence[EventLogEntry], rows: list[dict[str, Any]]) -> None:
        statement = insert(SqlEventLogStorageTable).returning(
            SqlEventLogStorageTable.c.id, sort_by_parameter_order=True
        )
        ids = [row.id for row in connection.execute(statement, rows)]
        self._store_asset_event_tags(connection, events, ids)
        # the asset table keeps only the newest event of each asset and kind
        newest = {(row["asset_key"], row["dagster_event_type"]): index for index, row in enumerate(rows)}
        for index in sorted(newest.values()):
            self._store_asset_event(connection, events[index], ids[index])


class BatchingSqliteStorage(DagsterSqliteStorage):
    """:class:`DagsterSqliteStorage` whose event log is :class:`BatchingSqliteEventLogStorage`.

    Without ``base_dir``, it lies where ``kb`` has it: ``dagster dev`` and ``dg`` show the same history.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        Path(base_dir).mkdir(parents=True, exist_ok=True)
        # two processes that create the tables at once write two versions of the schema, which nothing can open again
        with FileLock(Path(base_dir) / ".opening.lock"):
            super().__init__(base_dir, inst_data)
            events: SqliteEventLogStorage = self._event_log_storage
            self._event_log_storage = BatchingSqliteEventLogStorage(events._base_dir)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """``base_dir`` is optional."""
        return {"base_dir": Field(StringSource, is_required=False)}

    @classmethod
    def from_config_value(
        cls,
        inst_data: ConfigurableClassData | None,
        config_value: Mapping[str, Any],
    ) -> "BatchingSqliteStorage":
        """Build from ``storage: custom`` of ``dagster.yaml``."""
        base_dir = config_value.get("base_dir")
        if not base_dir:
            settings = load_settings()
            home = dagster_home(settings)
            if home.is_relative_to(settings.home_path):
                make_private(settings.home_path)
            base_dir = str(home)
        return cls.from_local(base_dir, inst_data)


def together(instance: DagsterInstance) -> AbstractContextManager[None]:
    """Store the events that this thread logs meanwhile in one transaction, where the storage is this one."""
    storage = instance.event_log_storage
    return storage.together() if isinstance(storage, BatchingSqliteEventLogStorage) else nullcontext()
