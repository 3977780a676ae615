"""The source ``confluence``: the pages of a Confluence Cloud with their attachments, labels and readers.

Version 2 of its API lists spaces, pages and attachments. Labels, restrictions, groups and users are only in version 1.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from pydantic import Field, field_validator

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.base import ArticleOf, Fetched, IntakeSource, Item, LeftOut, Options, Refused, password_of
from kb_pipeline.intake.confluence.storage import html_of
from kb_pipeline.intake.json_api import JsonApi, checked_address
from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.intake.prose import page_of, why_no_article
from kb_pipeline.intake.service import DeniedError
from kb_pipeline.intake.shared_readers import Rule, readers_by
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.formats import is_picture
from kb_pipeline.steps.html.images import Stems, safe_stem
from kb_pipeline.steps.main_file import INDEX_FILE, is_document

_V2, _V1 = "/api/v2", "/rest/api"
_A_PAGE = "250"
_A_SEARCH = "100"
_EXPANDED = "metadata.labels,restrictions.read.restrictions.user,restrictions.read.restrictions.group"
_FILE_HOSTS = ("atlassian.com", "atlassian.net")
_DEEPEST = 100
"""Pages above a page that are asked for: no tree of people is as deep, and one that leads back to itself ends here."""
_PAGE = re.compile(r"/pages/(\d+)(?:/|$)")
_Rules = tuple[Rule, ...] | None
"""All that restrict a page; ``None`` if one of them cannot be read."""


class ConfluenceOptions(Options):
    """Take in the pages of a Confluence Cloud with their attachments, for those who may read them there."""

    kind: Literal["confluence"] = "confluence"
    url: str = Field(description="The address of the site: https://example.atlassian.net")
    spaces: tuple[str, ...] = Field((), description="Their keys; default: all but personal ones.")
    user: str = Field(
        "", description="Whose API token is in KB_INTAKE_PASSWORDS; without one only public pages are read."
    )
    attachments: bool = Field(True, description="Take in attached documents, each as an article.")

    _is_address = field_validator("url")(checked_address)


@dataclass(frozen=True)
class _Attachment:
    id: str
    page: str
    title: str
    version: int
    date: str

    @property
    def file(self) -> str:
        """A name that every file system accepts."""
        return f"{safe_stem(self.title)}{posixpath.splitext(self.title)[1].lower()}"

    @property
    def path(self) -> str:
        return f"{_V1}/content/{self.page}/child/attachment/{self.id}/download"


class ConfluenceSource(IntakeSource):
    """A Confluence."""

    def __init__(self, name: str, options: ConfluenceOptions, settings: Settings) -> None:
        super().__init__(name, f"confluence-1 {fingerprint(options.url)[:12]}")
        self._options = options
        password = password_of(settings, name, options.user, "API token")
        site = re.split(r"/wiki(?:/|$)", options.url.partition("?")[0].partition("#")[0])[0].rstrip("/")
        self._api = JsonApi(
            f"{site}/wiki", options.user, password, settings.document_bytes, settings.attempts, _FILE_HOSTS
        )
        self._titles: dict[tuple[str, str], str] = {}
        """The page of each space and title."""
        self._spaces_of: dict[str, str] = {}
        self._attached: dict[str, dict[str, _Attachment]] = {}
        """The attachments of each page by their names."""
        self._documents: dict[str, _Attachment] = {}
        self._members = lru_cache(None)(self._read_members)
        self._group_name = lru_cache(None)(self._read_group_name)
        self._user_name = lru_cache(None)(self._read_user_name)
        self._container = lru_cache(None)(self._read_container)

    def items(self) -> Iterator[Item | Refused]:
        self._read_attachments()
        for space in self._spaces():
            yield from self._items_of(space)

    def _spaces(self) -> Iterator[Mapping[str, Any]]:
        wanted = set(self._options.spaces)
        for space in self._api.listing(f"{_V2}/spaces", status="current", limit=_A_PAGE):
            if space["key"] in wanted or (not self._options.spaces and space.get("type") != "personal"):
                wanted.discard(space["key"])
                yield space
        if wanted:
            raise IntakeError(f"{self._api.base} has no space {', '.join(sorted(wanted))} that this user may read")

    def _read_attachments(self) -> None:
        for each in self._api.listing(f"{_V2}/attachments", status="current", limit=_A_PAGE):
            if page := each.get("pageId"):
                version = each.get("version") or {}
                found = _Attachment(
                    str(each["id"]), str(page), each["title"], version.get("number", 0), version.get("createdAt", "")
                )
                self._attached.setdefault(str(page), {})[found.title] = found

    def _items_of(self, space: Mapping[str, Any]) -> Iterator[Item]:
        pages = {
            str(page["id"]): page
            for page in self._api.listing(f"{_V2}/spaces/{space['id']}/pages", status="current", limit=_A_PAGE)
        }
        known = self._search(space["key"])
        own = {page: self._own_rules(page, known) for page in pages} if self._options.user else {}
        general = self._space_rules(space["id"])
        for page_id, page in pages.items():
            readers = self._readers_of(page_id, pages, own, general)
            self._titles[space["key"], page["title"]] = page_id
            self._spaces_of[page_id] = space["key"]
            if self._options.chooses(page["title"]):
                labels = (known.get(page_id, {}).get("metadata") or {}).get("labels") or {}
                topics = tuple(label["name"] for label in labels.get("results", ()) if label.get("prefix") == "global")
                yield from self._items_of_page(page, readers, topics)

    def _items_of_page(
        self, page: Mapping[str, Any], readers: tuple[str, ...] | None, topics: tuple[str, ...]
    ) -> Iterator[Item]:
        version = page.get("version") or {}
        attached = self._attached.get(str(page["id"]), {}).values()
        files = fingerprint(*sorted(f"{each.id} {each.version} {each.title}" for each in attached))
        link = f"{self._api.base}{(page.get('_links') or {}).get('webui', '')}"
        yield Item(
            id=str(page["id"]),
            version=f"{version.get('number', '')} {files[:12]}",
            name=page["title"],
            title=page["title"],
            link=link,
            date=version.get("createdAt", ""),
            topics=topics,
            readers=readers,
        )
        for each in attached if self._options.attachments else ():
            if is_document(each.title):
                self._documents[each.id] = each
                yield Item(
                    id=each.id,
                    version=str(each.version),
                    name=posixpath.splitext(each.title)[0],
                    title=posixpath.splitext(each.title)[0],
                    link=link,
                    date=each.date,
                    topics=topics,
                    readers=readers,
                )

    # --- who may read

    def _search(self, key: str) -> dict[str, Mapping[str, Any]]:
        """What only version 1 knows of the pages of a space, many at once."""
        cql = f'space = "{key}" and type = page'
        found = self._api.listing(f"{_V1}/content/search", cql=cql, expand=_EXPANDED, limit=_A_SEARCH)
        return {str(page["id"]): page for page in found}

    def _own_rules(self, content: str, known: Mapping[str, Mapping[str, Any]]) -> _Rules:
        """What restricts a page itself. The search may not know it yet."""
        read = (known.get(content, {}).get("restrictions") or {}).get("read")
        rules = _rules_of(read)
        return rules if rules is not None else self._ask_rules(content)

    def _ask_rules(self, content: str) -> _Rules:
        path = f"{_V1}/content/{content}/restriction/byOperation/read"
        try:
            return _rules_of(self._api.patiently_ask(path, expand="restrictions.user,restrictions.group", limit="200"))
        except DeniedError:
            return None

    def _space_rules(self, space: str) -> Rule:
        """Whom a space lets read its pages."""
        users, groups = set[str](), set[str]()
        if self._options.user and not self._options.readers:
            for each in self._api.listing(f"{_V2}/spaces/{space}/permissions", limit=_A_PAGE):
                principal, operation = each.get("principal") or {}, each.get("operation") or {}
                if (operation.get("key"), operation.get("targetType")) == ("read", "space"):
                    chosen = {"user": users, "group": groups}.get(principal.get("type", ""))
                    if chosen is not None:  # who has a role is not told; they are missing, nobody else is added
                        chosen.add(str(principal["id"]))
        return Rule(frozenset(users), frozenset(groups))

    def _readers_of(
        self, page: str, pages: Mapping[str, Mapping[str, Any]], own: Mapping[str, _Rules], general: Rule
    ) -> tuple[str, ...] | None:
        """Users and groups that may read a page, which its space and all pages above it may restrict."""
        if not self._options.user:  # everybody may see what was listed
            return self._options.readers
        above = self._rules_above(page, pages, own)
        if above is None:
            return None
        if self._options.readers and not above:
            return self._options.readers
        rules = [*([] if self._options.readers else [general]), *above]
        try:
            found = readers_by(rules, self._members)
            names = [self._group_name(group) for group in sorted(found.groups)]
            names += [self._user_name(user) for user in sorted(found.users)]
        except DeniedError:
            return None
        return tuple(dict.fromkeys(names)) or None

    def _rules_above(self, page: str, pages: Mapping[str, Mapping[str, Any]], own: Mapping[str, _Rules]) -> _Rules:
        """What restricts a page and all above it, from the top."""
        found: list[Rule] = []
        content: Mapping[str, Any] | None = pages[page]
        for _ in range(_DEEPEST):
            if content is None:
                return None
            content_id = str(content["id"])
            rules = own[content_id] if content_id in own else self._ask_rules(content_id)
            if rules is None:
                return None
            found[:0] = rules
            if not content.get("parentId"):
                return tuple(found)
            parent = str(content["parentId"])
            content = pages.get(parent) or self._container(content.get("parentType") or "page", parent)
        return None

    def _read_container(self, kind: str, content: str) -> Mapping[str, Any] | None:
        """What is above a page and no page of its space: a folder. Of others it is not known what restricts them."""
        try:
            return self._api.patiently_ask(f"{_V2}/folders/{content}") if kind == "folder" else None
        except DeniedError:
            return None

    def _read_members(self, group: str) -> frozenset[str]:
        path = f"{_V1}/group/{group}/membersByGroupId"
        return frozenset(
            str(user["accountId"]) for user in self._api.listing(path, limit="200") if user.get("accountId")
        )

    def _read_group_name(self, group: str) -> str:
        return str(self._api.patiently_ask(f"{_V1}/group/by-id", id=group)["name"])

    def _read_user_name(self, account: str) -> str:
        return str(self._api.patiently_ask(f"{_V1}/user", accountId=account).get("email") or account)

    # --- what becomes of them

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        try:
            if document := self._documents.get(item.id):
                return Fetched(document.file, {document.file: self._api.file(document.path)})
            answer = self._api.ask(f"{_V2}/pages/{item.id}", **{"body-format": "storage"})
        except DeniedError:  # whoever may read the article may not read the page any more
            return LeftOut("Confluence does not let it be read", for_now=True)
        shown = _Shown(self, item, article_of)
        body = html_of(((answer.get("body") or {}).get("storage") or {}).get("value", ""), shown)
        text = page_of(item.title, body)
        if reason := why_no_article(text):
            return LeftOut(reason)
        page = rewrite_page(text, lambda address: self._link(address, article_of), lambda address: None)
        return Fetched(INDEX_FILE, {INDEX_FILE: page.encode("utf-8", "replace"), **shown.files})

    def address_of_page(self, title: str, space: str, seen_from: str, article_of: ArticleOf) -> str:
        """Where the page of a title is; "" if it is not taken in."""
        found = self._titles.get((space or self._spaces_of.get(seen_from, ""), title), "")
        return address_of(found, INDEX_FILE, article_of) or ""

    def attachment(self, page: str, name: str) -> _Attachment | None:
        """What is attached to a page by this name."""
        return self._attached.get(page, {}).get(name)

    def content(self, attachment: _Attachment) -> bytes:
        """The file that is attached.

        Raises:
            IntakeError: it cannot be used.
            TransientError: another try may work.
        """
        return self._api.file(attachment.path)

    def _link(self, address: str, article_of: ArticleOf) -> str | None:
        """Where a link that its author wrote as an address leads: to an article, or as it is."""
        parts = urlsplit(urljoin(f"{self._api.base}/", address))
        if address.startswith(("#", "../")) or parts.netloc != urlsplit(self._api.base).netloc:
            return None
        step = _PAGE.search(parts.path)
        item = step[1] if step else next(iter(parse_qs(parts.query).get("pageId", ())), "")
        place = f"#{parts.fragment}" if parts.fragment else ""
        found = address_of(item, INDEX_FILE, article_of)
        return f"{found}{place}" if found else parts.geturl()


class _Shown:
    """Where things are that a page names, and the pictures that it shows."""

    def __init__(self, source: ConfluenceSource, item: Item, article_of: ArticleOf) -> None:
        self.files: dict[str, bytes | Path] = {}
        self._source, self._item, self._article_of = source, item, article_of
        self._placed: dict[str, str] = {}
        self._stems = Stems()

    def page(self, title: str, space: str) -> str:
        return self._source.address_of_page(title, space, self._item.id, self._article_of)

    def file(self, name: str) -> str:
        found = self._source.attachment(self._item.id, name)
        return (address_of(found.id, found.file, self._article_of) if found else None) or ""

    def picture(self, name: str) -> str:
        found = self._source.attachment(self._item.id, name)
        if found and name not in self._placed:
            file = self._stems.take(name) + (posixpath.splitext(found.file)[1] if is_picture(found.file) else ".image")
            self.files[file] = self._source.content(found)
            self._placed[name] = quote(file)
        return self._placed.get(name, "")


def address_of(item: str, file: str, article_of: ArticleOf) -> str | None:
    """The address of an item's article in the page of another one."""
    article_id = article_of(item) if item else None
    return f"../{quote(article_id)}/{quote(file)}" if article_id else None


def _rules_of(read: Mapping[str, Any] | None) -> _Rules:
    """What the answer of version 1 restricts: nothing, or to users and groups; ``None`` if it does not say all."""
    restrictions = (read or {}).get("restrictions") or {}
    lists = [restrictions.get(kind) or {} for kind in ("user", "group")]
    if any(not isinstance(each.get("results"), list) or _goes_on(each) for each in lists):
        return None
    users, groups = (each["results"] for each in lists)
    if not all(user.get("accountId") for user in users) or not all(group.get("id") for group in groups):
        return None
    found = Rule(frozenset(user["accountId"] for user in users), frozenset(group["id"] for group in groups))
    return (found,) if found.users or found.groups else ()


def _goes_on(part: Mapping[str, Any]) -> bool:
    limit = part.get("limit") or 0
    return bool((part.get("_links") or {}).get("next")) or 0 < limit <= len(part["results"])
