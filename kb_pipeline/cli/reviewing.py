"""Who decides about contributions and gaps on this machine: the user whose commands these are."""

from kb_pipeline.contributions.review import may_review
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import os_user


def reviewer(settings: Settings) -> str:
    """Return who decides.

    Raises:
        SettingsError: KB_REVIEWERS does not name this user.
    """
    user = os_user()
    if not may_review(settings.reviewers, (user,), is_local=True):
        raise SettingsError(
            f"{user} is no reviewer; KB_REVIEWERS must name {user}, or local for every user of this one"
        )
    return user
