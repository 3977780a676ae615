"""Writes a network to a DuckDB file for each version. Readers follow a pointer file."""

from pathlib import Path

from kb_pipeline.network.base import NetworkLoader
from kb_pipeline.network.local.store import store_counts, write_store
from kb_pipeline.network.tables import NetworkTables
from kb_pipeline.network.versions import STORE, current_version, forget_scenario, switch_version, version_folder


class LocalLoader(NetworkLoader):
    """Writes below a home folder."""

    def __init__(self, home: Path, scenario: str) -> None:
        self._home, self._scenario = home, scenario

    def current(self) -> str:
        return current_version(self._home, self._scenario)

    def holds(self, version: str) -> bool:
        return self._file(version).is_file()

    def write(self, tables: NetworkTables, version: str) -> None:
        path = self._file(version)
        arriving = path.with_name(f".{STORE}.new")
        arriving.unlink(missing_ok=True)
        write_store(tables, arriving)
        arriving.replace(path)

    def counts(self, version: str) -> dict[str, int]:
        return store_counts(self._file(version))

    def switch(self, version: str) -> None:
        if self.current() != version:
            switch_version(self._home, self._scenario, version)

    def forget(self) -> None:
        forget_scenario(self._home, self._scenario)

    def _file(self, version: str) -> Path:
        return version_folder(self._home, self._scenario, version) / STORE
