"""Knowledge from the web, where the settings turn it on: it is searched, its pages are read, and nothing is stored.

``base`` is the contract of the backends, which have a file each; ``guard`` decides which addresses are fetched. What
readers and models see of pages are passages like those of articles (:mod:`app.grounding.citations`).
"""

from typing import TYPE_CHECKING

from app.settings import AppSettings

if TYPE_CHECKING:
    from app.web.lookup import WebLookup


def open_web(settings: AppSettings) -> "WebLookup | None":
    """The web as the settings select it, or ``None`` if it is off: then no backend is even imported.

    Raises:
        SettingsError: there is no such backend, or it lacks a setting.
    """
    if settings.web_search == "off":
        return None
    from app.web.backends import open_backend
    from app.web.lookup import WebLookup

    return WebLookup(open_backend(settings), settings)
