"""The Dagster instance of the command line: ``<home>/dagster``, set up from ``dagster.yaml``, and its environment."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from kb_pipeline.errors import SettingsError, StorageError, remedy
from kb_pipeline.secrets import is_unambiguous
from kb_pipeline.settings import Settings
from kb_pipeline.store.home import dagster_home, make_private
from kb_pipeline.wording import counted

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = Path(__file__).resolve().parents[1]
_CONNECT_SECONDS = 5
"""A PostgreSQL that accepts and does not answer would be waited for without end. Dagster connects six times."""


def project_file(name: str) -> Path:
    """The path of ``dagster.yaml`` or ``workspace.yaml``: in the checkout, else in the installed package."""
    checkout = PROJECT / name
    return checkout if checkout.is_file() else PACKAGE / name


def dagster_environment(settings: Settings) -> dict[str, str]:
    """Set up ``DAGSTER_HOME`` and return the environment for Dagster's processes, this one included.

    An existing ``DAGSTER_HOME`` and its ``dagster.yaml`` belong to the user and are not changed.

    Raises:
        StorageError: the folder cannot be written.
        SettingsError: ``KB_POSTGRES_URL`` is malformed; libpq would log a part of its password as the name of a host.
    """
    home = dagster_home(settings)
    postgres = os.environ.get("KB_POSTGRES_URL", "postgresql://")
    if not (postgres.startswith("postgres") and "://" in postgres and is_unambiguous(postgres)):
        raise SettingsError(
            "KB_POSTGRES_URL is malformed; it must begin with postgresql://, and special characters in its password "
            "must be percent-encoded (@ as %40, / as %2F, : as %3A)"
        )
    try:
        make_private(settings.home_path)
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _link(home / "dagster.yaml", project_file("dagster.yaml"))
    except OSError as exc:
        what_to_do = remedy(exc, "set KB_HOME to a writable folder")
        raise StorageError(f"cannot write {home} ({exc.strerror}); {what_to_do}") from exc
    return {
        # with the values that this process read, because runs may start in another folder
        "KB_HOME": settings.home,
        "KB_STAGING": settings.staging,
        "KB_STAGING_HOLDS": settings.staging_holds,
        **({"KB_SERVING": settings.serving} if settings.serving else {}),
        **({"KB_INDEX_URI": settings.index_uri} if settings.index_uri else {}),
        **({"KB_EVALUATION": settings.evaluation} if settings.evaluation else {}),
        **({"KB_MODELS": settings.models} if settings.models else {}),
        "DAGSTER_HOME": str(home),
        "PGCONNECT_TIMEOUT": os.environ.get("PGCONNECT_TIMEOUT", str(_CONNECT_SECONDS)),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        # one planned event for each asset instead of one for each partition
        "DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS": "1",
    }


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and not link.exists():
        link.unlink()  # its target is gone: the checkout was moved
    if not link.exists():
        link.symlink_to(target)


def check_history(home: Path) -> str:
    """Check Dagster's SQLite files and return their number in words; it is 0 if the history is in another database.

    Raises:
        StorageError: a file is damaged.
    """
    files = sorted(home.rglob("*.db"))
    if damaged := list(_damaged(files)):
        raise StorageError(
            f"files of Dagster's history are damaged: {', '.join(map(str, damaged))}; stop kb serve, move them away, "
            "and run: kb ingest. They hold only the history of runs, so nothing is rebuilt, paid for or published again"
        )
    return f"{counted(len(files), 'file is', 'files are')} whole"


def _damaged(files: list[Path]) -> Iterator[Path]:
    for path in files:
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
                (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError:
            continue  # locked, or deleted in the meantime
        except sqlite3.DatabaseError:
            yield path
        else:
            if answer != "ok":
                yield path
