"""Where Dagster keeps its data when a command starts it: ``<home>/dagster``, set up from ``dagster.yaml``."""

import os
from pathlib import Path

from kb_pipeline.errors import StorageError, remedy
from kb_pipeline.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = Path(__file__).resolve().parents[1]


def project_file(name: str) -> Path:
    """``dagster.yaml`` or ``workspace.yaml``: from the checkout, else the copy inside the installed package."""
    checkout = PROJECT / name
    return checkout if checkout.is_file() else PACKAGE / name


def dagster_home(settings: Settings) -> Path:
    """``DAGSTER_HOME`` where it is set, else below our home."""
    return Path(os.environ.get("DAGSTER_HOME") or settings.home_path / "dagster").absolute()


def dagster_environment(settings: Settings) -> dict[str, str]:
    """Set ``DAGSTER_HOME`` up and return the environment for Dagster's processes, this one included.

    An existing ``DAGSTER_HOME`` and a ``dagster.yaml`` in it are the user's and stay as they are.

    Raises:
        StorageError: the folder cannot be written.
    """
    home = dagster_home(settings)
    try:
        home.mkdir(parents=True, exist_ok=True)
        _link(home / "dagster.yaml", project_file("dagster.yaml"))
    except OSError as exc:
        what_to_do = remedy(exc, "set KB_HOME to a folder that may be written")
        raise StorageError(f"cannot write {home} ({exc.strerror}); {what_to_do}") from exc
    return {
        # as this process read them, because runs may start in another folder
        "KB_HOME": settings.home,
        "KB_STAGING": settings.staging,
        **({"KB_SERVING": settings.serving} if settings.serving else {}),
        **({"KB_INDEX_URI": settings.index_uri} if settings.index_uri else {}),
        **({"KB_EVALUATION": settings.evaluation} if settings.evaluation else {}),
        "DAGSTER_HOME": str(home),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        # one planned event for each asset instead of one for each partition
        "DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS": "1",
    }


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and not link.exists():
        link.unlink()  # the checkout was moved
    if not link.exists():
        link.symlink_to(target)
