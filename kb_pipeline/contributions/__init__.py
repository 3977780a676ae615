"""Contributions: knowledge that people and the service propose, and that reaches staging only by a reviewer's command.

``base.py`` is the contract of a queue and ``folder.py`` the queue in a folder. ``content.py`` makes a proposed text
harmless, ``placing.py`` finds its place and puts it there, ``neighbours.py`` says what is known already,
``proposing.py`` checks and hands in, and ``review.py`` accepts and rejects.
"""

from kb_pipeline.contributions.base import ContributionQueue
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings

__all__ = ["open_queue"]


def open_queue(settings: Settings) -> ContributionQueue:
    """Open the queue that KB_CONTRIBUTIONS names; nothing is read or made yet.

    Raises:
        SettingsError: it names no queue, or one that cannot be opened.
    """
    named = settings.contributions
    if folder := settings.contributions_path:
        return FolderQueue(folder)
    if "://" in named:
        raise SettingsError(
            f"KB_CONTRIBUTIONS is {named!r}; contributions are kept in a folder, because object stores cannot add "
            "lines to a file: name one, which may be mounted, or package.module:Class of your own"
        )
    if ":" not in named:
        raise SettingsError(
            f"KB_CONTRIBUTIONS is {named!r}; it must be folder, the path of a folder (./{named}), or "
            "package.module:Class of your own"
        )
    return find_opener("KB_CONTRIBUTIONS", named, {}, ContributionQueue)(settings)  # type: ignore[type-abstract]
