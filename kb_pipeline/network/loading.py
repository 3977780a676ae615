"""From a scenario's folder to the store that readers get, in stages that leave files, each made only when needed."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.base import NetworkLoader
from kb_pipeline.network.checks import NetworkCheck, check_incidents, check_network, check_telemetry
from kb_pipeline.network.local.loader import LocalLoader
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.tables import NetworkTables, read_container, read_network
from kb_pipeline.network.versions import version_folder

CODE_VERSION = "2"


@dataclass(frozen=True)
class Stage:
    """What a stage left: counts of what it made, and what its checks found."""

    counts: dict[str, int]
    checks: list[NetworkCheck]
    made: bool

    def require(self) -> "Stage":
        """Return this stage.

        Raises:
            ScenarioError: a blocking check failed.
        """
        if wrong := [f"{each.name}: {each.problem}" for each in self.checks if each.blocking and not each.passed]:
            raise ScenarioError(
                f"the scenario is not loaded: {'; '.join(wrong)}; readers keep the version that they have"
            )
        return self


class Loading:
    """The stages of one scenario. What a stage made for the same files and code is used again."""

    def __init__(self, scenario: ScenarioFolder, home: Path, loader: NetworkLoader | None = None) -> None:
        """Tables are written below ``home``; the store by ``loader``, or without one below ``home`` as well."""
        self.scenario, self.home = scenario, home
        self.name = scenario.scenario.name
        self.loader = loader or LocalLoader(home, self.name)
        self.version = f"{scenario.fingerprint()}-{CODE_VERSION}"
        self.folder = version_folder(home, self.name, self.version)

    def network(self) -> Stage:
        """Write vertices and edges."""
        made = not (self.folder / "edges.parquet").is_file()
        if made:
            self.folder.mkdir(parents=True, exist_ok=True)
            vertices, edges = read_network(self.scenario)
            _write(vertices, self.folder / "vertices.parquet")
            _write(edges, self.folder / "edges.parquet")
        vertices, edges = self._read("vertices"), self._read("edges")
        checks = check_network(self.scenario.scenario, vertices, edges)
        checks.append(check_incidents(self.scenario, vertices))
        return Stage({"vertices": len(vertices), "edges": len(edges)}, checks, made)

    def telemetry(self) -> Stage:
        """Write one file per container."""
        names = list(self.scenario.scenario.telemetry)
        made = not all((self.folder / f"telemetry-{name}.parquet").is_file() for name in names)
        if made:
            self.folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                self._write_container(name)
        tables = {name: self._read(f"telemetry-{name}") for name in names}
        checks = check_telemetry(self.scenario.scenario, self._read("vertices"), tables)
        return Stage({name: len(table) for name, table in tables.items()}, checks, made)

    def store(self) -> Stage:
        """Write the store, compare it with the tables, and give it to readers.

        Raises:
            ScenarioError: it does not hold what the tables hold.
        """
        made = not self.loader.holds(self.version)
        if made:
            self.loader.write(self.tables(), self.version)
        wanted = {name: self._rows(name) for name in ("vertices", "edges")}
        wanted |= {name: self._rows(f"telemetry-{name}") for name in self.scenario.scenario.telemetry}
        counts = self.loader.counts(self.version)
        differing = [
            f"{name} {counts.get(name)} instead of {rows}" for name, rows in wanted.items() if counts.get(name) != rows
        ]
        stage = Stage(counts, [NetworkCheck("store_holds_the_tables", ", ".join(differing))], made).require()
        self.loader.switch(self.version)
        return stage

    def tables(self) -> NetworkTables:
        """What the first stages wrote."""
        telemetry = {name: self._read(f"telemetry-{name}") for name in self.scenario.scenario.telemetry}
        return NetworkTables(self._read("vertices"), self._read("edges"), telemetry)

    def discard(self) -> None:
        """Remove a version that failed a check, unless readers have it."""
        if self.loader.current() != self.version:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write_container(self, name: str) -> None:
        """Write one container, or take it from another version that was made of the same file."""
        path = self.folder / f"telemetry-{name}.parquet"
        declared = self.scenario.scenario.telemetry[name]
        made_of = f"{CODE_VERSION} {declared.model_dump_json()} {self.scenario.hash(declared.file)}"
        same = (
            each.with_suffix(".parquet")
            for each in sorted(self.folder.parent.glob(f"*/telemetry-{name}.made_of"))
            if each.read_text(encoding="utf-8") == made_of and each.with_suffix(".parquet").is_file()
        )
        if before := next(same, None):
            if not (path.is_file() and path.samefile(before)):  # it is there if an earlier load was killed after it
                path.unlink(missing_ok=True)
                path.hardlink_to(before)
        else:
            _write(read_container(self.scenario, name), path)
        path.with_suffix(".made_of").write_text(made_of, encoding="utf-8")

    def _read(self, name: str) -> pa.Table:
        return pq.read_table(self._path(name))

    def _rows(self, name: str) -> int:
        return int(pq.read_metadata(self._path(name)).num_rows)

    def _path(self, name: str) -> Path:
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise ScenarioError(f"{path} is not there; materialize the tables of {self.name} first")
        return path


def load(scenario: ScenarioFolder, home: Path, loader: NetworkLoader | None = None) -> list[Stage]:
    """All stages, one after the other.

    Raises:
        ScenarioError: a file cannot be used, or a blocking check failed.
    """
    loading = Loading(scenario, home, loader)
    try:
        return [loading.network().require(), loading.telemetry().require(), loading.store()]
    except ScenarioError:
        loading.discard()
        raise


def _write(table: pa.Table, path: Path) -> None:
    arriving = path.with_name(f".{path.name}.new")
    pq.write_table(table, arriving)
    arriving.replace(path)
