"""Keeps the home folder private to its owner: it holds restricted articles, conversations and Dagster's history.

The permissions of the folder keep others out, whatever the permissions of the files in it. Places outside the home
folder (``KB_SERVING``, ``KB_INDEX_URI``) are protected by whoever created them.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from kb_pipeline.settings import Settings

HOME_CONTENTS = frozenset(
    {
        *("access", "audit", "contributions", "conversations.db", "conversations.db-shm", "conversations.db-wal"),
        *("conversions", "converted", "copies", "dagster", "descriptions", "evaluation", "index"),
        *("intake", "intake.yaml", "investigations", "locks", "models"),
        *("network", "previewed", "previews", "reports", "sensor.json"),
        *("serving", "staged", "state", "summaries", "unrecorded", "versions"),
        *("statements.sqlite", "statements.sqlite-shm", "statements.sqlite-wal"),
    }
)
"""The contents of a home folder. A folder that holds anything else is also used for something else."""


def dagster_home(settings: Settings) -> Path:
    """``DAGSTER_HOME`` if it is set, else ``dagster`` in the home folder."""
    return Path(os.environ.get("DAGSTER_HOME") or settings.home_path / "dagster").absolute()


def make_private(home: Path) -> None:
    """Create the folder, or close an existing one to everybody but its owner.

    Permissions that somebody chose on purpose are kept: those of a folder that also holds other things, that has the
    set-group-ID bit (shared by a group, such as a Kubernetes volume with an ``fsGroup``) or the sticky bit (``/tmp``),
    or that belongs to another user.

    Raises:
        OSError: it does not exist and cannot be created.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = stat.S_IMODE(home.stat().st_mode)
    if mode & 0o077 and not mode & (stat.S_ISGID | stat.S_ISVTX):
        with suppress(OSError):  # it belongs to another user, or the file system has no permissions: see `exposure`
            if HOME_CONTENTS.issuperset(entry.name for entry in home.iterdir()):
                home.chmod(mode & ~0o077)


def exposure(home: Path) -> str:
    """Who else can read the folder, and what to do; "" if nobody, except a group that shares it on purpose.

    Raises:
        OSError: it does not exist, or its status cannot be read.
    """
    status = home.stat()
    mode = status.st_mode
    if status.st_uid not in (os.geteuid(), 0) and os.geteuid() != 0:
        return (
            f"{home} belongs to another user ({status.st_uid}), who can read all that is in it; choose another KB_HOME"
        )
    everybody = mode & 0o007
    if not everybody and (not mode & 0o070 or mode & stat.S_ISGID):
        return ""
    who = "everybody on this machine" if everybody else "its group"
    return (
        f"{home} ({stat.filemode(mode)}) is open to {who}, with restricted articles and conversations in it; "
        f"run: chmod {'o-rwx' if mode & stat.S_ISGID else 'go-rwx'} {home}"
    )
