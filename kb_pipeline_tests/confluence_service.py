"""A small stand-in of a Confluence Cloud, to stand behind a proxy that holds it and whoever asks to the description.

It enforces what a description does not say: the token, who may sign in, and where a listing goes on.
"""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from kb_pipeline_tests.app.serving import serving_app

USER, TOKEN = "kb@example.org", "token-of-kb"
Json = dict[str, Any]
_A_PAGE = 2
"""Entries that one answer lists, however many are asked for."""


@dataclass
class Confluence:
    """One site, and what tests may do to it.

    ``permissions`` and ``restrictions`` name users (``u...``) and groups (``g...``). ``unread`` are pages whose
    restrictions this user may not read, ``unsearched`` those that the search does not know yet.
    """

    url: str = ""
    needs_token: bool = True
    spaces: Json = field(default_factory=lambda: {"1": "DOC"})
    permissions: dict[str, list[str]] = field(default_factory=lambda: {"1": ["g-staff"]})
    pages: dict[str, Json] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    attachments: dict[str, Json] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    restrictions: dict[str, list[str]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=lambda: {"g-staff": ["u-ann", "u-bob", "u-cy"]})
    emails: dict[str, str] = field(default_factory=lambda: {"u-ann": "ann@example.org"})
    unread: set[str] = field(default_factory=set)
    unsearched: set[str] = field(default_factory=set)
    elsewhere: str = ""
    """Where downloads lead instead."""
    is_media_elsewhere: bool = False
    """Whether files are on another host, where nobody may send the token."""
    asked: list[str] = field(default_factory=list)

    def put(self, page: str, title: str, body: str, *, parent: str = "", space: str = "1") -> None:
        """Write a page, or a new version of it."""
        number = self.pages[page]["version"]["number"] + 1 if page in self.pages else 1
        kind = "folder" if parent in self.folders else "page"
        self.pages[page] = {
            "id": page, "status": "current", "title": title, "spaceId": space,
            **({"parentId": parent, "parentType": kind} if parent else {}),
            "version": {"number": number, "createdAt": "2026-01-02T03:04:05Z", "authorId": "u-ann"},
            "_links": {"webui": f"/spaces/{self.spaces[space]}/pages/{page}/{title.replace(' ', '+')}"},
        }  # fmt: skip
        self.bodies[page] = body

    def remove(self, page: str) -> None:
        del self.pages[page]

    def attach(self, file: str, page: str, name: str, data: bytes) -> None:
        """Attach a file to a page, or another version of it."""
        number = self.attachments[file]["version"]["number"] + 1 if file in self.attachments else 1
        self.attachments[file] = {
            "id": file, "status": "current", "title": name, "pageId": page, "fileSize": len(data),
            "mediaType": "application/octet-stream", "version": {"number": number, "createdAt": "2026-01-02T03:04:05Z"},
        }  # fmt: skip
        self.contents[file] = data

    def app(self) -> Starlette:
        v2, v1 = "/wiki/api/v2", "/wiki/rest/api"
        routes: dict[str, Callable[[Request], Response]] = {
            f"{v2}/spaces": lambda request: self._list(request, map(self._space, self.spaces)),
            f"{v2}/spaces/{{id}}/pages": self._pages,
            f"{v2}/spaces/{{id}}/permissions": self._permissions,
            f"{v2}/pages/{{id}}": self._page,
            f"{v2}/folders/{{id}}": self._folder,
            f"{v2}/attachments": lambda request: self._list(request, self.attachments.values()),
            f"{v1}/content/search": self._search,
            f"{v1}/content/{{id}}/restriction/byOperation/read": self._restriction,
            f"{v1}/content/{{page}}/child/attachment/{{id}}/download": self._download,
            f"{v1}/group/by-id": lambda request: JSONResponse(_group(request.query_params["id"])),
            f"{v1}/group/{{id}}/membersByGroupId": self._members,
            f"{v1}/user": lambda request: JSONResponse(self._user(request.query_params["accountId"])),
            "/media/{id}": self._media,
        }
        return Starlette(routes=[Route(path, self._door(answer)) for path, answer in routes.items()])

    def _door(self, answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def respond(request: Request) -> Response:
            self.asked.append(request.url.path)
            sent = request.headers.get("authorization", "")
            is_signed_in = sent == "Basic " + base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()
            is_media = request.url.path.startswith("/media/")
            if is_media and sent and self.is_media_elsewhere:
                return Response(status_code=400)  # the token is for the API alone
            if not is_media and (sent or self.needs_token) and not is_signed_in:
                return Response(status_code=401)
            return answer(request)

        return respond

    def _space(self, space: str) -> Json:
        kind = "personal" if self.spaces[space].startswith("~") else "global"
        return {"id": space, "key": self.spaces[space], "name": self.spaces[space], "type": kind, "status": "current"}

    def _list(self, request: Request, entries: Any) -> Response:
        start = int(request.query_params.get("cursor") or 0)
        listed = list(entries)
        more = f"{request.url.path}?cursor={start + _A_PAGE}" if start + _A_PAGE < len(listed) else None
        links = {"base": f"{self.url}/wiki", **({"next": more} if more else {})}
        return JSONResponse({"results": listed[start : start + _A_PAGE], "_links": links})

    def _pages(self, request: Request) -> Response:
        return self._list(
            request, [page for page in self.pages.values() if page["spaceId"] == request.path_params["id"]]
        )

    def _permissions(self, request: Request) -> Response:
        named = self.permissions[request.path_params["id"]]
        kinds = {"u": "user", "g": "group", "r": "role"}
        entries = [
            {"id": f"{number}", "principal": {"type": kinds[name[0]], "id": name}, "operation": operation}
            for number, name in enumerate(named)
            for operation in ({"key": "read", "targetType": "space"}, {"key": "create", "targetType": "page"})
        ]
        entries.append({"id": "x", "principal": {"type": "group", "id": "g-writers"},
                        "operation": {"key": "create", "targetType": "page"}})  # fmt: skip
        return self._list(request, entries)

    def _page(self, request: Request) -> Response:
        page = request.path_params["id"]
        if page not in self.pages:
            return Response(status_code=404)
        body = {"storage": {"representation": "storage", "value": self.bodies[page]}}
        return JSONResponse({**self.pages[page], "body": body})

    def _folder(self, request: Request) -> Response:
        folder = request.path_params["id"]
        if folder not in self.folders:
            return Response(status_code=404)
        parent = self.folders[folder]
        above = {"parentId": parent, "parentType": "page" if parent in self.pages else "folder"} if parent else {}
        return JSONResponse({"id": folder, "type": "folder", "status": "current", "title": folder, **above})

    def _search(self, request: Request) -> Response:
        space = next(space for space, key in self.spaces.items() if f'"{key}"' in request.query_params["cql"])
        found = []
        for page_id, page in self.pages.items():
            if page["spaceId"] == space and page_id not in self.unsearched:
                labels = [{"id": name, "name": name, "prefix": "global", "label": name}
                          for name in self.labels.get(page_id, ())]  # fmt: skip
                metadata = {"labels": {"results": labels, "size": len(labels)}}
                shown = {} if page_id in self.unread else {"restrictions": {"read": self._read(page_id)}}
                content = {"id": page_id, "type": "page", "status": "current", "title": page["title"]}
                found.append({**content, "metadata": metadata, **shown})
        start = int(request.query_params.get("cursor") or 0)
        part = found[start : start + _A_PAGE]
        links = {"next": f"/rest/api/content/search?cursor={start + _A_PAGE}"} if start + _A_PAGE < len(found) else {}
        return JSONResponse({"results": part, "size": len(part), "_links": links})

    def _read(self, page: str) -> Json:
        named = self.restrictions.get(page, [])
        users = [self._user(name) for name in named if name.startswith("u")]
        groups = [_group(name) for name in named if name.startswith("g")]
        lists = {"user": {"results": users, "start": 0, "limit": 200, "size": len(users)},
                 "group": {"results": groups, "start": 0, "limit": 200, "size": len(groups)}}  # fmt: skip
        return {"operation": "read", "restrictions": lists, "_expandable": {}, "_links": {}}

    def _restriction(self, request: Request) -> Response:
        page = request.path_params["id"]
        return Response(status_code=403) if page in self.unread else JSONResponse(self._read(page))

    def _user(self, account: str) -> Json:
        email = self.emails.get(account, "")
        return {"type": "known", "accountId": account, "accountType": "atlassian", "email": email,
                "publicName": account, "displayName": account}  # fmt: skip

    def _members(self, request: Request) -> Response:
        members = self.groups[request.path_params["id"]]
        start = int(request.query_params.get("start") or 0)
        part = [self._user(name) for name in members[start : start + _A_PAGE]]
        links = {"next": f"/rest/api/group?start={start + _A_PAGE}"} if start + _A_PAGE < len(members) else {}
        return JSONResponse({"results": part, "start": start, "limit": _A_PAGE, "size": len(part), "_links": links})

    def _download(self, request: Request) -> Response:
        return RedirectResponse(self.elsewhere or f"{self.url}/media/{request.path_params['id']}", 302)

    def _media(self, request: Request) -> Response:
        return Response(self.contents[request.path_params["id"]])


def _group(name: str) -> Json:
    return {"type": "group", "name": name.removeprefix("g-"), "id": name}


@contextmanager
def confluence() -> Iterator[Confluence]:
    """Run a site on loopback."""
    site = Confluence()
    with serving_app(site.app()) as site.url:
        yield site
