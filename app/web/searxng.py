"""A SearXNG of one's own, which asks search engines of the general web: https://docs.searxng.org/dev/search_api.html.

Its settings must allow the format ``json`` (``search: formats: [html, json]``).
"""

from collections.abc import Mapping

from app.web.guard import ANY_HOST
from app.web.online import OnlineSearch


class SearxngSearch(OnlineSearch):
    """Asks the instance at ``KB_WEB_URL``. Its pages may be of any public host, unless ``KB_WEB_HOSTS`` names some."""

    name = "the web"
    hosts = (ANY_HOST,)
    fields = ("title", "url", "content")

    @property
    def search_url(self) -> str:
        return self._url if self._url.endswith("/search") else f"{self._url}/search"

    def parameters(self, query: str, max_results: int) -> Mapping[str, str]:
        return {"q": query, "format": "json", "pageno": "1"}
