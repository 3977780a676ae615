"""Microsoft Learn: the search of its own pages, https://learn.microsoft.com."""

from collections.abc import Mapping

from app.web.online import OnlineSearch


class LearnSearch(OnlineSearch):
    """Asks Learn's search. Only the words of a search are sent, and no sign-in is needed."""

    name = "Microsoft Learn"
    url = "https://learn.microsoft.com/api/search"
    hosts = ("learn.microsoft.com",)

    def parameters(self, query: str, max_results: int) -> Mapping[str, str]:
        return {"search": query, "locale": "en-us", "$top": str(max_results)}
