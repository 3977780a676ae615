"""A small stand-in of a Zendesk help center, behind a proxy that holds both sides to the description."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline_tests.app.serving import serving_app

USER, TOKEN = "kb@example.org", "token-of-kb"
Json = dict[str, Any]
_A_PAGE = 2
_SEGMENTS = {7: "Partners", 8: "Agents and admins"}


@dataclass
class HelpCenter:
    """One help center, and what tests may do to it."""

    url: str = ""
    needs_token: bool = False
    is_manager: bool = True
    articles: dict[int, Json] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def put(self, number: int, title: str, body: str, **more: object) -> None:
        """Write an article, or another version of it."""
        changes = self.articles.get(number, {}).get("vote_sum", 0) + 1
        self.articles[number] = {
            "id": number, "title": title, "body": body, "locale": "en-us", "permission_group_id": 1, "section_id": 5,
            "draft": False, "user_segment_id": None, "label_names": [], "vote_sum": changes,
            "html_url": f"{self.url}/hc/en-us/articles/{number}-{title}", "edited_at": f"2026-01-02T03:04:0{changes}Z",
            "updated_at": f"2026-01-02T03:04:0{changes}Z", **more,
        }  # fmt: skip

    def app(self) -> Starlette:
        api = "/api/v2/help_center"
        locale = {"locale": "en-us"}
        sections = [{"id": 5, "name": "Pumps", "category_id": 3, **locale}]
        categories = [{"id": 3, "name": "Machines", **locale}]
        segments = [{"id": number, "name": name, "user_type": "staff"} for number, name in _SEGMENTS.items()]
        routes: dict[str, Callable[[Request], Response]] = {
            f"{api}/en-us/articles": lambda request: _list(request, "articles", [*self.articles.values()]),
            f"{api}/en-us/articles/{{id:int}}": self._article,
            f"{api}/en-us/sections": lambda request: _list(request, "sections", sections),
            f"{api}/en-us/categories": lambda request: _list(request, "categories", categories),
            f"{api}/user_segments": lambda request: (
                _list(request, "user_segments", segments) if self.is_manager else Response(status_code=403)
            ),
            "/hc/article_attachments/{name:path}": self._picture,
        }
        return Starlette(routes=[Route(path, self._door(answer)) for path, answer in routes.items()])

    def _door(self, answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def respond(request: Request) -> Response:
            self.asked.append(request.url.path)
            sent = request.headers.get("authorization", "")
            right = "Basic " + base64.b64encode(f"{USER}/token:{TOKEN}".encode()).decode()
            return Response(status_code=401) if sent != right and (sent or self.needs_token) else answer(request)

        return respond

    def _article(self, request: Request) -> Response:
        found = self.articles.get(request.path_params["id"])
        return JSONResponse({"article": found}) if found else Response(status_code=404)

    def _picture(self, request: Request) -> Response:
        found = self.pictures.get(request.path_params["name"])
        return Response(found) if found is not None else Response(status_code=404)


def _list(request: Request, name: str, entries: list[Json]) -> Response:
    start = int(request.query_params.get("page[after]") or 0)
    following = f"{request.url.path}?page%5Bafter%5D={start + _A_PAGE}"
    meta = {"has_more": start + _A_PAGE < len(entries), "after_cursor": f"{start + _A_PAGE}"}
    return JSONResponse({name: entries[start : start + _A_PAGE], "meta": meta, "links": {"next": following}})


@contextmanager
def help_center() -> Iterator[HelpCenter]:
    """Run a help center on loopback."""
    center = HelpCenter()
    with serving_app(center.app()) as center.url:
        yield center
