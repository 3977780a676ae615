"""The source ``mediawiki``: the pages of a wiki as it renders them, with their pictures, by its API.

A page's version is its revision and when the wiki last had reason to render it again: because of a template, a picture,
or a page that it leads to. So one listing tells all that changed.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import parse_qs, quote, unquote, urljoin, urlsplit

from pydantic import Field, field_validator

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.intake.base import ArticleOf, Fetched, IntakeSource, Item, LeftOut, Options, Refused, password_of
from kb_pipeline.intake.mediawiki.api import MediaWikiApi
from kb_pipeline.intake.naming import name_of_site
from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.intake.pictures import Pictures
from kb_pipeline.intake.prose import page_of, why_no_article
from kb_pipeline.intake.service import DeniedError
from kb_pipeline.intake.trees import Tree
from kb_pipeline.secrets import credentials_in
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.dom import parse, text_of
from kb_pipeline.steps.main_file import INDEX_FILE
from kb_pipeline.store.staging_files import FileFacts

_AT_ONCE = 20
"""Pictures whose facts are asked for together."""
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg", "image/tiff", "image/bmp", "image/x-")
_PICTURE = re.compile(r"<img\b[^<>]*>")
_ADDRESS = re.compile(r'\bsrc="([^"]*)"')
_TEXT = re.compile(r'\balt="([^"]*)"')
_LONGEST_DESCRIPTION = 300
"""Characters: the first sentences of a page."""


class MediaWikiOptions(Options):
    """Take in the pages of a MediaWiki with their pictures; without readers, nobody reads what needs a login."""

    kind: Literal["mediawiki"] = "mediawiki"
    url: str = Field(description="The address of any page of the wiki, or of its api.php.")
    namespaces: tuple[str | int, ...] = Field((), description="Names or numbers; default: those with content.")
    user: str = Field("", description="The user of a bot password, for a wiki that needs a login: Me@kb")
    pictures_from: tuple[str, ...] = Field(
        ("upload.wikimedia.org",), description="Other hosts that pictures may be taken from."
    )

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        if not value.startswith(("https://", "http://")) or not urlsplit(value).hostname:
            raise ValueError("it is not a web address (https://...)")
        if credentials := credentials_in(value.partition("?")[0].partition("#")[0]):
            raise ValueError(f"it holds {credentials}; declare the user, and set KB_INTAKE_PASSWORDS")
        return value

    @classmethod
    def name_for(cls, given: Mapping[str, object]) -> str:
        return name_of_site(urlsplit(str(given["url"])).hostname or str(given["url"]))


class MediaWikiSource(IntakeSource):
    """A wiki."""

    def __init__(self, name: str, options: MediaWikiOptions, settings: Settings) -> None:
        super().__init__(name, f"mediawiki-1 {fingerprint(options.url)[:12]}")
        self._options = options
        password = password_of(settings, name, options.user, "password")
        self._api = MediaWikiApi(options.url, options.user, password, settings.document_bytes, settings.attempts)
        self._pages: dict[str, str] = {}
        """The item of each title that was listed, and of the titles that lead to it."""
        self._site = lru_cache(1)(self._read_site)
        self._description = lru_cache(10_000)(self._read_description)

    def items(self) -> Iterator[Item | Refused]:
        site = self._site()
        # what needs a login is not for everybody
        readers = None if self._options.user and not self._options.readers else self._options.readers
        for namespace in self._namespaces(site):
            listing = self._api.listing(
                generator="allpages", gapnamespace=str(namespace), gapfilterredir="nonredirects", gaplimit="max",
                prop="info|revisions|categories|redirects", inprop="url", rvprop="ids|timestamp|user",
                clshow="!hidden", cllimit="max", rdlimit="max",
            )  # fmt: skip
            for page in listing:
                if self._options.chooses(page["title"]):
                    item = _item(page, readers)
                    titles = [page["title"], *(redirect["title"] for redirect in page.get("redirects", ()))]
                    self._pages |= dict.fromkeys(titles, item.id)
                    yield item

    def _read_site(self) -> Mapping[str, Any]:
        answer = self._api.patiently_ask(action="query", meta="siteinfo", siprop="general|namespaces")
        return dict(answer["query"])

    def _namespaces(self, site: Mapping[str, Any]) -> Iterator[int]:
        namespaces = {space["id"]: space for space in site["namespaces"].values() if space["id"] >= 0}
        if not self._options.namespaces:
            yield from (number for number, space in namespaces.items() if space["content"])
        by_name = {
            name: number for number, space in namespaces.items() for name in (space["name"], space.get("canonical"))
        }
        for wanted in self._options.namespaces:
            number = (
                int(wanted)
                if str(wanted).isdecimal() and int(wanted) in namespaces
                else by_name.get(str(wanted).replace("_", " "))
            )
            if not isinstance(number, int):
                names = ", ".join(space["name"] for space in namespaces.values() if space["name"])
                raise IntakeError(f"{self._options.url} has no namespace {wanted}; it has 0, {names}")
            yield number

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        try:
            rendered = self._rendered(pageid=item.id, prop="text|images")
        except DeniedError:  # whoever may read the article may not read the page any more
            return LeftOut("the wiki does not let it be read", for_now=True)
        text = page_of(item.title, rendered["text"])
        if reason := why_no_article(text):
            return LeftOut(reason)
        files = _Files(self._api, rendered["images"], self._place)
        pictures = Pictures(files, files.find_there)
        described = _PICTURE.sub(lambda tag: self._described(tag[0], files), text)
        page = rewrite_page(described, lambda address: self._link(address, article_of), pictures.place)
        return Fetched(INDEX_FILE, {INDEX_FILE: page.encode(), **pictures.files})

    def _rendered(self, **page: str) -> Mapping[str, Any]:
        plain = {"disableeditsection": "1", "disabletoc": "1", "disablelimitreport": "1"}
        return dict(self._api.ask(action="parse", **page, **plain)["parse"])

    def _link(self, address: str, article_of: ArticleOf) -> str | None:
        """Where a link of a page leads: to an article, or to the wiki."""
        if address.startswith("#"):
            return None
        whole = urljoin(self._base, address)
        title, _, place = self._title(whole), *whole.partition("#")[1:]
        item = self._pages.get(title) if title else None
        article_id = article_of(item) if item else None
        if article_id is None:
            return whole
        return f"../{quote(article_id)}/{INDEX_FILE}" + (f"#{place}" if place else "")

    @property
    def _base(self) -> str:
        return urljoin(self._api.address, str(self._site()["general"]["server"]))

    def _title(self, address: str) -> str:
        """The title of the page that an address of the wiki shows; "" if it shows something else."""
        general, parts = self._site()["general"], urlsplit(address)
        if parts.hostname not in (urlsplit(self._base).hostname, urlsplit(self._api.address).hostname):
            return ""
        query = parse_qs(parts.query)
        if parts.path == general["script"] and (query.keys() == {"title"} or "redlink" in query):
            # it may be red only because the wiki did not notice yet that the page is there now
            return query["title"][0].replace("_", " ")
        before, _, after = general["articlepath"].partition("$1")
        is_page = not parts.query and parts.path.startswith(before) and parts.path.endswith(after)
        return unquote(parts.path[len(before) : len(parts.path) - len(after)]).replace("_", " ") if is_page else ""

    def _place(self, address: str) -> str:
        """Where a picture is fetched from, which is no host that only the wiki names."""
        whole = urljoin(self._base, address)
        own, parts = urlsplit(self._api.address), urlsplit(whole)
        if parts.netloc in (own.netloc, urlsplit(self._base).netloc):
            return parts._replace(scheme=own.scheme, netloc=own.netloc).geturl()
        if parts.hostname in self._options.pictures_from and parts.scheme == "https":
            return whole
        raise IntakeError(
            f"a picture is on the host {parts.hostname}; name it in pictures_from, if pictures may be taken from there"
        )

    def _described(self, tag: str, files: "_Files") -> str:
        """The tag of a picture, with its description if the page says nothing better."""
        address, text = _ADDRESS.search(tag), _TEXT.search(tag)
        name = files.find(html.unescape(address[1])) if address else None
        said = html.unescape(text[1]).strip() if text else ""
        if name is None or (said and said.replace(" ", "_") != name):
            return tag
        described = f'alt="{html.escape(self._description(name))}"'
        return tag.replace(text[0], described, 1) if text else tag.replace("<img", f"<img {described}", 1)

    def _read_description(self, name: str) -> str:
        """What the page of a picture says first."""
        try:
            rendered = self._rendered(page=f"File:{name}", prop="text")
        except IntakeError:  # it has no page, or it is that of another wiki
            return ""
        page = parse(rendered["text"])
        first = next((text for each in page.iter("p") if (text := text_of(each))), "") if page is not None else ""
        return first[:_LONGEST_DESCRIPTION]


class _Files(Tree):
    """The pictures of one page."""

    def __init__(self, api: MediaWikiApi, names: list[str], place: Callable[[str], str]) -> None:
        super().__init__()
        self._api, self._place = api, place
        self._facts: dict[str, Mapping[str, Any]] = {}
        self._contents: dict[str, bytes] = {}
        for start in range(0, len(names), _AT_ONCE):
            titles = "|".join(f"File:{name}" for name in names[start : start + _AT_ONCE])
            answer = api.ask(action="query", titles=titles, prop="imageinfo", iiprop="url|sha1|mime|size")
            for page in answer.get("query", {}).get("pages", ()):
                if page.get("imageinfo"):
                    self._facts[page["title"].partition(":")[2].replace(" ", "_")] = page["imageinfo"][0]

    def files(self) -> Iterator[FileFacts]:
        yield from ()

    def find(self, address: str) -> str | None:
        """The picture that an address in the page shows, maybe smaller: its name is a step of the address."""
        parts = urlsplit(address)
        steps = {unquote(step) for step in parts.path.split("/")} | set(parse_qs(parts.query).get("f", ()))
        name = next((name for name in self._facts if name in steps), None)
        if name is None or self._facts[name].get("mime", "image/png").startswith(_PICTURES):
            return name
        shown = f"{name}.image"  # a page of a document, a frame of a film: as it is shown
        self._facts[shown] = {"url": address}
        return shown

    def find_there(self, address: str) -> str | None:
        """The same, if its file is there: the wiki may have lost it."""
        name = self.find(address)
        try:
            return name if name and self.content(name) else None
        except IntakeError:
            return None

    def _version(self, name: str) -> str | None:
        return str(self._facts[name].get("sha1", name)) if name in self._facts else None

    def content(self, name: str) -> bytes:
        if name not in self._contents:
            self._contents[name] = self._fetch(name)
        return self._contents[name]

    def _fetch(self, name: str) -> bytes:
        facts = self._facts[name]
        data = self._api.get(self._place(facts["url"]))
        if facts.get("size") not in (None, len(data)):
            raise TransientError(f"{name} has {len(data):,} bytes, not {facts['size']:,} as the wiki says")
        return data


def _item(page: Mapping[str, Any], readers: tuple[str, ...] | None) -> Item:
    newest: Mapping[str, Any] = next(iter(page.get("revisions", ())), {})
    return Item(
        id=str(page["pageid"]),
        version=f"{page['lastrevid']} {page['touched']}",
        name=page["title"],
        title=page["title"],
        link=page.get("canonicalurl", ""),
        author="" if newest.get("anon") or newest.get("temp") else newest.get("user", ""),
        date=newest.get("timestamp", ""),
        topics=tuple(category["title"].partition(":")[2] for category in page.get("categories", ())),
        readers=readers,
    )
