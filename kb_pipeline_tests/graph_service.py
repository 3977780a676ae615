"""A small stand-in of a SharePoint site and Microsoft Graph, behind a proxy that holds both sides to the description.

It enforces what a description does not say: the token, that files lie elsewhere and want none, and where listings and
changes go on.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.managed_identity import ManagedIdentity

Json = dict[str, Any]
SITE = "example.org,1,2"
TEAM = "00000000-0000-0000-0000-00000000000a"
_A_PAGE = 2
"""Entries that one answer lists, however many are asked for."""
_NAMES = {"docs": "Documents", "pages": "Site Pages", "assets": "Site Assets"}
_PATHS = {"docs": "Shared Documents", "pages": "SitePages", "assets": "SiteAssets"}


def to_group(group: str, **more: object) -> Json:
    """A permission of a group of Entra ID to read."""
    return {"id": group, "roles": ["read"], "grantedToV2": {"group": {"id": group, "displayName": group}}, **more}


def to_user(user: str) -> Json:
    return {"id": user, "roles": ["write"], "grantedToV2": {"user": {"id": user, "displayName": user}}}


def to_site_group(name: str) -> Json:
    return {"id": name, "roles": ["read"], "grantedToV2": {"siteGroup": {"id": "5", "displayName": name}}}


@dataclass
class SharePoint:
    """One site, and what tests may do to it. Its tokens are those of ``identity``."""

    identity: ManagedIdentity
    url: str = ""
    shown_as: str = ""
    """The address in its answers, if a proxy stands before it."""
    entries: dict[str, dict[str, Json]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    changed: list[tuple[str, str]] = field(default_factory=list)
    """The library and id of each change, oldest first: a token is how many were told."""
    permissions: dict[str, list[Json]] = field(default_factory=dict)
    """By the ids of entries; the others have those of the folder around them."""
    pages: dict[str, Json] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    """Entries whose permissions may not be asked, and lists without a library."""
    forgets_tokens: bool = False
    elsewhere: str = ""
    """Where downloads lead instead."""
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for library in _NAMES:
            self._store(library, f"root-{library}", "", _PATHS[library], {"root": {}, "folder": {"childCount": 1}})
            self.permissions[f"root-{library}"] = [to_group(TEAM)]

    @property
    def site(self) -> str:
        """Its address; Graph is on another host."""
        return f"{self._host}/sites/handbook"

    @property
    def _host(self) -> str:
        return self.url.replace("127.0.0.1", "localhost")

    def put(self, path: str, data: bytes, library: str = "docs", **more: object) -> str:
        """Write a file with the folders around it, or another version of it; returns its id."""
        *folders, name = path.split("/")
        parent = f"root-{library}"
        for number, folder in enumerate(folders):
            own = f"{library}-{'/'.join(folders[: number + 1])}"
            if own not in self.entries[library]:
                self._store(library, own, parent, folder, {"folder": {"childCount": 1}})
            parent = own
        own = next((key for key, entry in self.entries[library].items() if (entry["name"], _parent(entry)) ==
                    (name, parent)), f"{library}-{path}").replace("/", "-")  # fmt: skip
        self.contents[own] = data
        self._store(library, own, parent, name, {"file": {"mimeType": "x/y"}, "size": len(data), **more})
        return own

    def move(self, library: str, own: str, name: str) -> None:
        """Rename a file or a folder."""
        self.entries[library][own]["name"] = name
        self.changed.append((library, own))

    def remove(self, library: str, own: str) -> None:
        """Remove a file, or a folder with all below."""
        for below in [key for key, entry in self.entries[library].items() if _parent(entry) == own]:
            self.remove(library, below)
        del self.entries[library][own]
        self.changed.append((library, own))

    def put_page(self, name: str, title: str, *parts: Json, **more: object) -> str:
        """Write a page with these web parts, or another version of it; returns the id of its file."""
        number = len(self.changed)
        self.pages[name] = {
            "id": f"id-{name}", "name": f"{name}.aspx", "title": title, "webUrl": f"SitePages/{name}.aspx",
            "eTag": f'"{number}"', "lastModifiedDateTime": "2026-01-02T03:04:05Z",
            "publishingState": {"level": "published", "versionId": f"{number}.0"}, **more,
        }  # fmt: skip
        columns = [{"id": "1", "width": 12, "webparts": list(parts)}]
        self.pages[name]["canvasLayout"] = {"horizontalSections": [{"id": "1", "columns": columns}]}
        return self.put(f"{name}.aspx", b"", "pages")

    def _store(self, library: str, own: str, parent: str, name: str, facts: Mapping[str, object]) -> None:
        above = {"parentReference": {"driveId": library, "id": parent}} if parent else {"parentReference": {}}
        self.entries.setdefault(library, {})[own] = {
            "id": own, "name": name, "eTag": f'"{own},{len(self.changed)}"', "cTag": f'"c:{own},{len(self.changed)}"',
            "size": 0, **above,
            "lastModifiedBy": {"user": {"id": "u", "displayName": "Ann"}},
            "lastModifiedDateTime": "2026-01-02T03:04:05Z", **facts,
        }  # fmt: skip
        self.changed.append((library, own))

    def app(self) -> Starlette:
        graph = "/v1.0"
        item = f"{graph}/drives/{{drive}}/items/{{id}}"
        routes: dict[str, Callable[[Request], Response]] = {
            f"{graph}/sites/localhost:/sites/handbook": lambda request: JSONResponse({"id": SITE, "name": "handbook"}),
            f"{graph}/sites/{SITE}/drives": lambda request: self._list(request, [self._drive("docs")]),
            f"{graph}/sites/{SITE}/lists": lambda request: self._list(request, list(map(self._library, _NAMES))),
            f"{graph}/sites/{SITE}/lists/{{id}}/drive": self._drive_of,
            f"{graph}/sites/{SITE}/pages/graph.sitePage": lambda request: self._list(
                request, [{key: page[key] for key in page if key != "canvasLayout"} for page in self.pages.values()]
            ),
            f"{graph}/sites/{SITE}/pages/{{id}}/graph.sitePage": self._page,
            f"{item}/delta()": self._delta,
            f"{item}/permissions": self._permissions,
            f"{item}/content": self._content,
            "/download/{id}": self._download,
        }
        return Starlette(routes=[Route(path, self._door(answer)) for path, answer in routes.items()])

    def _door(self, answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def respond(request: Request) -> Response:
            self.asked.append(request.url.path)
            sent = request.headers.get("authorization")
            is_file = request.url.path.startswith("/download/")
            if is_file and sent and not self.shown_as:  # a proxy that follows passes it on
                return Response(status_code=400)  # the token is for Graph alone
            is_known = is_file or self.identity.accepts(sent, self.shown_as or self.url)
            return answer(request) if is_known else Response(status_code=401)

        return respond

    def _list(self, request: Request, entries: list[Json], **at_the_end: str) -> Response:
        start = int(request.query_params.get("$skiptoken") or 0)
        place = f"{self.shown_as or self.url}{request.url.path}"
        token = request.query_params.get("token", "")
        more = f"{place}?$skiptoken={start + _A_PAGE}" + (f"&token={token}" if token else "")
        links = {"@odata.nextLink": more} if start + _A_PAGE < len(entries) else at_the_end
        return JSONResponse({"value": entries[start : start + _A_PAGE], **links})

    def _delta(self, request: Request) -> Response:
        library, token = request.path_params["drive"], request.query_params.get("token")
        if token and self.forgets_tokens:
            return Response(status_code=410)
        told = dict.fromkeys(own for drive, own in self.changed[int(token or 0) :] if drive == library)
        gone = {"deleted": {"state": "deleted"}}
        entries = [self._shown(library, own) or {"id": own, **gone} for own in told]
        place = f"{self.shown_as or self.url}{request.url.path}"
        kept = [entry for entry in entries if token or "deleted" not in entry]
        return self._list(request, kept, **{"@odata.deltaLink": f"{place}?token={len(self.changed)}"})

    def _shown(self, library: str, own: str) -> Json:
        """An entry with its address; nothing if it is gone."""
        entry = self.entries[library].get(own)
        return {**entry, "webUrl": self._address(library, own)} if entry else {}

    def _address(self, library: str, own: str) -> str:
        entry = self.entries[library][own]
        above = self._address(library, _parent(entry)) if _parent(entry) else self.site
        return f"{above}/{quote(entry['name'])}"

    def _drive(self, library: str) -> Json:
        address = self._address(library, f"root-{library}")
        return {"id": library, "name": _NAMES[library], "webUrl": address, "driveType": "documentLibrary"}

    def _library(self, library: str) -> Json:
        template = "webPageLibrary" if library == "pages" else "documentLibrary"
        drive = self._drive(library)
        about = {"list": {"template": template, "hidden": False}, "displayName": drive["name"]}
        return {"id": f"list-{library}", "name": drive["name"], "webUrl": drive["webUrl"], **about}

    def _drive_of(self, request: Request) -> Response:
        library = request.path_params["id"]
        return Response(status_code=404) if library in self.unread else JSONResponse(self._drive(library[5:]))

    def _page(self, request: Request) -> Response:
        found = [page for page in self.pages.values() if page["id"] == request.path_params["id"]]
        return JSONResponse(found[0]) if found else Response(status_code=404)

    def _permissions(self, request: Request) -> Response:
        own, library = request.path_params["id"], request.path_params["drive"]
        if own in self.unread:
            return Response(status_code=403)
        while own not in self.permissions:
            own = _parent(self.entries[library][own])
        return self._list(request, self.permissions[own])

    def _content(self, request: Request) -> Response:
        place = f"{self._host}/download/{quote(request.path_params['id'])}?tempauth=1"
        return RedirectResponse(self.elsewhere or place, 302)

    def _download(self, request: Request) -> Response:
        return Response(self.contents[request.path_params["id"]])


def _parent(entry: Json) -> str:
    return str(entry["parentReference"].get("id", ""))


@contextmanager
def sharepoint(identity: ManagedIdentity) -> Iterator[SharePoint]:
    """Run a site on loopback."""
    site = SharePoint(identity)
    with serving_app(site.app()) as site.url:
        yield site
