"""The versions of a scenario's store on disk. Readers follow a pointer, which is replaced when a version is whole."""

import shutil
from pathlib import Path

from kb_pipeline.errors import StorageError

STORE = "network.duckdb"
_POINTER = "current"
_KEPT = 2


def scenario_home(home: Path, scenario: str) -> Path:
    """The folder of all versions of a scenario."""
    return home / "network" / scenario


def version_folder(home: Path, scenario: str, version: str) -> Path:
    """The folder of one version."""
    return scenario_home(home, scenario) / version


def current_version(home: Path, scenario: str) -> str:
    """The version that readers get; empty if there is none."""
    try:
        return (scenario_home(home, scenario) / _POINTER).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    except OSError as exc:
        raise StorageError(f"{exc.filename} cannot be read: {exc.strerror}") from exc


def type_counts(home: Path, scenario: str) -> dict[str, int]:
    """The number of vertices of each type in the version that readers get; empty if its tables are not on this disk."""
    version = current_version(home, scenario)
    path = version_folder(home, scenario, version) / "vertices.parquet"
    if not version or not path.is_file():
        return {}
    import pyarrow.parquet as pq

    counted = pq.read_table(path, columns=["type"])["type"].value_counts().to_pylist()
    return {each["values"]: each["counts"] for each in counted}


def switch_version(home: Path, scenario: str, version: str) -> None:
    """Give readers a version that is whole, and remove those that nobody reads any more."""
    folder = scenario_home(home, scenario)
    arriving = folder / f".{_POINTER}.new"
    arriving.write_text(version, encoding="utf-8")
    arriving.replace(folder / _POINTER)
    whole = [path for path in folder.iterdir() if (path / STORE).is_file()]
    whole.sort(key=lambda path: (path.name != version, -path.stat().st_mtime))
    for path in whole[_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


def forget_scenario(home: Path, scenario: str) -> None:
    """Remove all versions of a scenario."""
    shutil.rmtree(scenario_home(home, scenario), ignore_errors=True)
