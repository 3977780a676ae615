"""The source ``zendesk``: the published articles of a help center with their pictures, for those who may read.

Whom Zendesk lets read are user segments: rules over its own groups, organisations and tags. The declaration says who
these are here; an article of a segment that it does not name is hidden from everybody.
"""

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urljoin, urlsplit

from pydantic import Field, field_validator

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.base import ArticleOf, Fetched, IntakeSource, Item, LeftOut, Options, Refused, password_of
from kb_pipeline.intake.json_api import JsonApi, checked_address
from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.intake.prose import page_of, why_no_article
from kb_pipeline.intake.service import DeniedError
from kb_pipeline.intake.shared_readers import Names
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.formats import is_picture
from kb_pipeline.steps.html.images import Stems
from kb_pipeline.steps.main_file import INDEX_FILE

_API = "/api/v2/help_center"
_A_PAGE = {"page[size]": "100"}
_FILE_HOSTS = ("zendesk.com", "zdassets.com", "zdusercontent.com")
_FILES = "/article_attachments/"


class ZendeskOptions(Options):
    """Take in the published articles of a Zendesk help center; what its segments restrict is hidden until declared."""

    kind: Literal["zendesk"] = "zendesk"
    url: str = Field(description="The address of the account: https://example.zendesk.com")
    locale: str = Field("en-us", pattern=r"[A-Za-z0-9-]{2,20}", description="The language that is taken in.")
    user: str = Field(
        "", description="Whose API token is in KB_INTAKE_PASSWORDS; without one only what is public is read."
    )
    segments: Mapping[str, Names] = Field({}, description="Users and groups here, by user segments there.")

    _is_address = field_validator("url")(checked_address)


class ZendeskSource(IntakeSource):
    """A help center."""

    def __init__(self, name: str, options: ZendeskOptions, settings: Settings) -> None:
        super().__init__(name, f"zendesk-1 {fingerprint(options.url, options.locale)[:12]}")
        self._options = options
        token = password_of(settings, name, options.user, "API token")
        parts = urlsplit(options.url)
        user = f"{options.user}/token" if options.user else ""
        self._api = JsonApi(
            f"{parts.scheme}://{parts.netloc}", user, token, settings.document_bytes, settings.attempts, _FILE_HOSTS
        )
        self._path = f"{_API}/{options.locale}"
        self._public = JsonApi(self._api.base, "", "", settings.document_bytes, settings.attempts)

    def items(self) -> Iterator[Item | Refused]:
        categories = {each["id"]: each for each in self._listed("categories")}
        sections = {each["id"]: each for each in self._listed("sections")}
        segments = self._segments()
        is_public = self._is_public()
        for article in self._listed("articles"):
            if not article.get("draft") and self._options.chooses(article["title"]):
                section = sections.get(article.get("section_id"), {})
                category = categories.get(section.get("category_id"), {})
                labels = article.get("label_names") or ()
                yield Item(
                    id=str(article["id"]),
                    version=f"{article.get('updated_at', '')} {article.get('edited_at', '')}",
                    name=article["title"],
                    title=article["title"],
                    link=article.get("html_url", ""),
                    date=article.get("edited_at") or article.get("updated_at") or "",
                    topics=tuple(filter(None, (category.get("name"), section.get("name"), *labels))),
                    readers=self._readers_of(article, segments, is_public=is_public),
                )

    def _listed(self, what: str) -> Iterator[dict[str, Any]]:
        return self._api.listing(f"{self._path}/{what}", of=what, **_A_PAGE)

    def _segments(self) -> Mapping[int, str]:
        """The names of the user segments, which only those may read who manage the help center."""
        if not self._options.user or not self._options.segments:
            return {}
        try:
            found = self._api.listing(f"{_API}/user_segments", of="user_segments", **_A_PAGE)
            return {each["id"]: each.get("name", "") for each in found}
        except DeniedError:
            return {}

    def _is_public(self) -> bool:
        """Whether the help center shows anything to who does not sign in."""
        try:
            self._public.patiently_ask(f"{self._path}/sections", **{"page[size]": "1"})
        except IntakeError:
            return False
        return True

    def _readers_of(
        self, article: Mapping[str, Any], segments: Mapping[int, str], *, is_public: bool
    ) -> tuple[str, ...] | None:
        """Who may read an article; what has no segment is for all who may enter the help center."""
        named = article.get("user_segment_ids") or [article.get("user_segment_id")]
        restricting = [segment for segment in named if segment is not None]
        if not restricting:
            says_so = "user_segment_id" in article or "user_segment_ids" in article
            return self._options.readers or (() if is_public and says_so else None)
        readers = [
            reader for segment in restricting for reader in self._options.segments.get(segments.get(segment, ""), ())
        ]
        return tuple(dict.fromkeys(readers)) or None

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        try:
            article = self._api.ask(f"{self._path}/articles/{item.id}").get("article") or {}
        except DeniedError:  # whoever may read the article here may not read it there any more
            return LeftOut("Zendesk does not let it be read", for_now=True)
        if article.get("draft"):
            return LeftOut("it is a draft")
        text = page_of(item.title, article.get("body") or "")
        if reason := why_no_article(text):
            return LeftOut(reason)
        shown = _Shown(self._api)
        page = rewrite_page(text, lambda address: self._link(address, article_of), shown.place)
        return Fetched(INDEX_FILE, {INDEX_FILE: page.encode("utf-8", "replace"), **shown.files})

    def _link(self, address: str, article_of: ArticleOf) -> str | None:
        """Where a link leads: to an article, or to the help center."""
        if address.startswith("#"):
            return None
        whole = urljoin(f"{self._api.base}/", address)
        parts = urlsplit(whole)
        _, is_article, rest = parts.path.partition("/articles/")
        if parts.netloc != urlsplit(self._api.base).netloc or not is_article:
            return whole
        article_id = article_of(rest.partition("-")[0].partition("/")[0])
        place = f"#{parts.fragment}" if parts.fragment else ""
        return f"../{quote(article_id)}/{INDEX_FILE}{place}" if article_id else whole


class _Shown:
    """The pictures that an article shows, each once. A picture that changes has another address."""

    def __init__(self, api: JsonApi) -> None:
        self.files: dict[str, bytes | Path] = {}
        self._api = api
        self._placed: dict[str, str | None] = {}
        self._stems = Stems()

    def place(self, address: str) -> str | None:
        """The new address of a picture; ``None`` if it is not one of the help center, or is lost."""
        own, parts = urlsplit(self._api.base), urlsplit(urljoin(f"{self._api.base}/", address))
        if parts.netloc != own.netloc or _FILES not in parts.path:
            return None
        if parts.path not in self._placed:
            try:
                data = self._api.file(parts.path)
            except DeniedError:
                self._placed[parts.path] = None
                return None
            name = unquote(posixpath.basename(parts.path))
            file = self._stems.take(name) + (posixpath.splitext(name)[1].lower() if is_picture(name) else ".image")
            self.files[file] = data
            self._placed[parts.path] = quote(file)
        return self._placed[parts.path]
