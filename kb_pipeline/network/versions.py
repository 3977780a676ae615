"""The versions of a scenario's store on disk. Readers follow a pointer, which is replaced when a version is whole."""

import re
import shutil
import time
from pathlib import Path

from kb_pipeline.errors import ScenarioError, StorageError

STORE = "network.duckdb"
_POINTER = "current"
_ARTICLES = "articles"
_KEPT = 2
"""The newest, and the one before for those who still read it."""
_ABANDONED_SECONDS = 86_400.0
"""No load is under way for a day: what is not whole by then is of one that was killed."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def scenario_home(home: Path, scenario: str) -> Path:
    """The folder of all that was made of a scenario.

    Raises:
        ScenarioError: no scenario can have this name.
    """
    if not _NAME.fullmatch(scenario):
        raise ScenarioError(f"{scenario[:80]!r} is no name of a scenario; names have small letters, digits, - and _")
    return home / "network" / scenario


def articles_folder(home: Path, scenario: str) -> Path:
    """The folder of the articles that were made of a scenario's runbooks and tickets."""
    return scenario_home(home, scenario) / _ARTICLES


def articles_folders(home: Path) -> list[Path]:
    """Such folders of all scenarios, in order of their names."""
    return sorted(home.glob(f"network/*/{_ARTICLES}"))


def version_folder(home: Path, scenario: str, version: str) -> Path:
    """The folder of one version."""
    return scenario_home(home, scenario) / version


def current_version(home: Path, scenario: str) -> str:
    """The version that readers get; empty if there is none."""
    if not _NAME.fullmatch(scenario):
        return ""
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
    versions = [path for path in folder.iterdir() if path.is_dir() and path.name != _ARTICLES]
    whole = [path for path in versions if (path / STORE).is_file()]
    whole.sort(key=lambda path: (path.name != version, -path.stat().st_mtime))
    oldest = time.time() - _ABANDONED_SECONDS
    abandoned = [path for path in versions if path not in whole and path.stat().st_mtime < oldest]
    for path in (*whole[_KEPT:], *abandoned):
        shutil.rmtree(path, ignore_errors=True)


def forget_scenario(home: Path, scenario: str) -> None:
    """Remove all that was made of a scenario."""
    shutil.rmtree(scenario_home(home, scenario), ignore_errors=True)
