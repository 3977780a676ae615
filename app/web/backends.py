"""Opens the backend that the settings name."""

from collections.abc import Callable, Mapping

from app.settings import AppSettings
from app.web.base import WebSearch
from app.web.learn import LearnSearch
from app.web.local import LocalPages
from app.web.searxng import SearxngSearch
from kb_pipeline.plugins import find_opener

BACKENDS: Mapping[str, Callable[[AppSettings], WebSearch]] = {
    "learn": LearnSearch,
    "searxng": SearxngSearch,
    "local": LocalPages,
}


def open_backend(settings: AppSettings) -> WebSearch:
    """The backend of ``KB_WEB_SEARCH``, which is not ``off``.

    Raises:
        SettingsError: there is none of this name, or it lacks a setting.
    """
    return find_opener("KB_WEB_SEARCH", settings.web_search, BACKENDS, WebSearch)(settings)  # type: ignore[type-abstract]
