"""The published articles: the list of them, one article, and who may read it.

Articles that a person may not see do not exist for them: they are not listed, counted or opened.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from upath import UPath

from app.callers.principal import Principal
from app.grounding.citations import breaks_with_image_urls, image_at, images_of, with_image_urls
from app.library.parts import part_of
from app.schema.articles import (
    Article,
    ArticleChunk,
    ArticleFailure,
    ArticleList,
    ArticlePicture,
    ArticleSort,
    ArticleSummary,
    Contradiction,
)
from kb_pipeline.errors import DamagedLayerError, InvalidArticleIdError, KnowledgeBaseError
from kb_pipeline.flow.access import AccessLists
from kb_pipeline.flow.agreement import findings_in
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import ServingArticleLayer, load_manifest
from kb_pipeline.records import HIDDEN, Chunk, Manifest, ServedImage, sections
from kb_pipeline.search.base import folded
from kb_pipeline.steps.agreement.findings import Finding
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.chunk import Titles, is_deferred
from kb_pipeline.steps.main_file import INDEX_FILE
from kb_pipeline.steps.pages import article_pages
from kb_pipeline.store.files import read_text
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, BuildFailure, load_state


class ArticleNotFoundError(KnowledgeBaseError):
    """There is no such article that this person may see."""


_FRESH_SECONDS = 2.0
"""Seconds for which the list of articles is not read again: a publication shows at once for people, and a burst of
requests reads it once."""


@dataclass(frozen=True, slots=True)
class ArticleListing:
    """An article in the list: its summary, its readers and the headings of its sections.

    Sections that are left for later have no part in ``headings``; ``has_backlog`` says whether there are any.

    ``topics`` are those of its author, else those that its words suggest.

    ``access`` names users and groups; empty means everybody. It is ``None`` if the article was never published.
    """

    summary: ArticleSummary
    access: tuple[str, ...] | None
    headings: tuple[str, ...] = ()
    has_backlog: bool = False
    topics: tuple[str, ...] = ()

    def is_for(self, who: Principal) -> bool:
        """Whether this person may see it. Only the local user sees articles that were never published."""
        return who == Principal() if self.access is None else who.may_read(self.access)


class Articles:
    """Lists and opens articles. A listing is cached until the state of its article changes."""

    def __init__(self, layout: Layout, deferring: Titles = frozenset()) -> None:
        """``deferring`` are the titles of sections that are left for later."""
        self.layout = layout
        self._deferring = deferring
        self.access = AccessLists(layout)
        self._cached: dict[str, tuple[tuple[int, int], ArticleListing]] = {}
        self._refreshed_at = -_FRESH_SECONDS
        self._lock = threading.Lock()

    def page(
        self,
        who: Principal,
        search: str = "",
        *,
        among: Sequence[ArticleSummary] | None = None,
        document_type: str = "",
        department: str = "",
        since: str = "",
        sort: ArticleSort = "title",
        descending: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> ArticleList:
        """A page of the articles whose title, id or file name contains ``search``; ``among`` them, by default all.

        ``document_type`` and ``department`` are compared without regard to case; ``since`` is the first day (ISO 8601)
        on which an article may have come in. "" does not limit. Articles without the fact to sort by come last.
        """
        everything = [listing.summary for listing in self.all(who)]
        query = search.casefold().strip()
        wanted = {"document_type": folded(document_type), "department": folded(department)}
        summaries = [
            summary
            for summary in (everything if among is None else among)
            if query in _names(summary)
            and all(value in ("", folded(getattr(summary, name))) for name, value in wanted.items())
            and summary.upload_date >= since
        ]
        summaries.sort(key=lambda summary: (summary.title.casefold(), summary.article_id))
        if sort != "title" or descending:
            fact = _SORTED_BY[sort]
            with_fact = sorted((summary for summary in summaries if fact(summary)), key=fact, reverse=descending)
            summaries = [*with_fact, *(summary for summary in summaries if not fact(summary))]
        return ArticleList(
            total=len(summaries),
            articles=tuple(summaries[offset : offset + limit]),
            document_types=_distinct(summary.document_type for summary in everything),
            departments=_distinct(summary.department for summary in everything),
        )

    def all(self, who: Principal) -> list[ArticleListing]:
        """Every article that this person may see."""
        return [listing for listing in self._listings() if listing.is_for(who)]

    def never_published(self) -> list[ArticleSummary]:
        """The articles of which no version could be published yet, whoever may read them."""
        return [listing.summary for listing in self._listings() if listing.access is None]

    def open_failing(self, article_id: str) -> Article:
        """Why an article was never published, in place of its text; the caller has checked who asks.

        Raises:
            ArticleNotFoundError: it was published, or its build never failed.
        """
        is_one = article_id in {summary.article_id for summary in self.never_published()}
        state = load_state(self.layout, article_id) if is_one else None
        if state is None or state.failure is None:
            raise ArticleNotFoundError(f"there is no article {article_id[:80]!r}")
        return Article(
            article_id=article_id,
            title=article_id,
            source_url=None,
            markdown="",
            images=(),
            chunks=(),
            published_at=None,
            run_id=state.failure.run_id,
            run_url=None,
            converter="",
            content_hash="",
            failure=_failure(state),
        )

    def for_its_owner(self) -> list[ArticleListing]:
        """Every article, whoever may read it: only for who runs the knowledge base, and has its files anyway."""
        return self._listings()

    def hidden_from(self, who: Principal) -> frozenset[str]:
        """Ids of all articles, present or removed, that this person may not see."""
        hidden = {article_id for article_id, newest in self.access.all().items() if not who.may_read(newest.readers)}
        hidden.update(listing.summary.article_id for listing in self._listings() if not listing.is_for(who))
        return frozenset(hidden)

    def readers(self, article_id: str) -> tuple[str, ...]:
        """Users and groups that may read an article; empty if everybody may, or if there is no such article.

        Raises:
            StorageError: the access list cannot be read.
        """
        try:
            newest = self.access.get(article_id)
        except InvalidArticleIdError:
            return ()
        if newest is not None:
            return newest.readers
        try:
            manifest = self._manifest(article_id)
        except DamagedLayerError:
            return (HIDDEN,)  # the names in the damaged manifest are lost
        return manifest.access_control_list if manifest else ()

    def may_read(self, article_id: str, who: Principal) -> bool:
        """Whether the article's newest access list includes this person, even if the article was removed.

        Raises:
            StorageError: the access list cannot be read.
        """
        return who.may_read(self.readers(article_id))

    def last_published_at(self) -> str | None:
        """When an article was last published."""
        return max((at for listing in self._listings() if (at := listing.summary.published_at)), default=None)

    def open(
        self,
        article_id: str,
        who: Principal,
        chunks: list[Chunk],
        *,
        page: int | None = None,
        chunk_id: str | None = None,
    ) -> Article:
        """An article with its ``chunks`` from the index; of a long document the part with this page or chunk.

        Raises:
            ArticleNotFoundError: it was never published, or this person may not see it.
        """
        manifest = self.manifest(article_id, who)
        state = load_state(self.layout, article_id)
        folder = self._texts(article_id, state.published_version)
        text = with_image_urls(read_text(folder / "article.md", ServingArticleLayer.name), article_id)
        paged = article_pages(text, manifest)
        if chunk_id:
            page = next((each.pages[0] for each in chunks if each.id == chunk_id and each.pages), page)
        part = part_of(*paged, page) if page and paged.breaks else None
        if part:
            chunks = [each for each in chunks if set(each.pages) & {*range(part.first_page, part.last_page + 1)}]
        return Article(
            article_id=article_id,
            title=manifest.title,
            source_url=manifest.source_url,
            markdown=part.text if part else paged.text,
            images=tuple(image_at(f"{article_id}/{image.path}") for image in manifest.images),
            chunks=tuple(map(_chunk, sorted(chunks, key=lambda chunk: chunk.chunk_index))),
            filename=manifest.document.path.rpartition("/")[2] if manifest.document else "",
            page_breaks=part.breaks if part else paged.breaks,
            page_count=len(manifest.pages),
            first_page=part.first_page if part else 1 if manifest.pages else 0,
            last_page=part.last_page if part else len(manifest.pages),
            links={link.target: link.article_id for link in manifest.article_links},
            published_at=state.published[-1].published_at if state.published else None,
            run_id=manifest.provenance.run_id,
            run_url=None,
            converter=manifest.provenance.converter,
            content_hash=manifest.provenance.content_hash,
        )

    def contradictions(self, article_ids: Collection[str], who: Principal) -> dict[str, tuple[Contradiction, ...]]:
        """What other articles that this person may see say against these, by article id.

        Raises:
            StorageError: the statements or an access list cannot be read.
        """
        findings = findings_in(self.layout, article_ids)
        others = {each.there.article_id for of_article in findings.values() for each in of_article}
        readable = {article_id for article_id in others if self.may_read(article_id, who)}
        return {
            article_id: tuple(_contradiction(each) for each in of_article if each.there.article_id in readable)
            for article_id, of_article in findings.items()
        }

    def for_authors(self, article: Article, who: Principal) -> Article:
        """The article with what its author wants to know besides: why it fails, what its pictures were read as, and
        which other articles contradict it."""
        state = load_state(self.layout, article.article_id)
        manifest = self._manifest(article.article_id)
        pictures = tuple(_picture(article.article_id, image) for image in manifest.images) if manifest else ()
        against = self.contradictions([article.article_id], who).get(article.article_id, ())
        return article.model_copy(update={"failure": _failure(state), "pictures": pictures, "contradictions": against})

    def manifest(self, article_id: str, who: Principal) -> Manifest:
        """The published article's manifest.

        Raises:
            ArticleNotFoundError: it was never published, or this person may not see it.
        """
        try:
            manifest = self._manifest(article_id)
        except InvalidArticleIdError as exc:
            raise ArticleNotFoundError(f"there is no article {article_id[:80]!r}") from exc
        if manifest is None or not who.may_read(self.access.readers(article_id, manifest.access_control_list)):
            raise ArticleNotFoundError(f"there is no article {article_id[:80]!r}")
        return manifest

    def _manifest(self, article_id: str) -> Manifest | None:
        """The manifest of the published article; ``None`` if it is not published."""
        state = load_state(self.layout, check_article_id(article_id))
        folder = self._texts(article_id, state.published_version)
        return load_manifest(folder) if (folder / "manifest.json").is_file() else None

    def _texts(self, article_id: str, version: str | None) -> UPath:
        """The folder of the published article.md and manifest.json.

        If the serving layer is in the cloud, they are read from the layer that they were copied from: ten thousand
        requests would take minutes.
        """
        if version and not isinstance(self.layout.serving_root, Path):
            return self.layout.version(article_id, version)
        return self.layout.serving(article_id)

    def _listings(self) -> list[ArticleListing]:
        """All articles, at most two seconds old: checking ten thousand files takes a while."""
        with self._lock:
            if monotonic() - self._refreshed_at >= _FRESH_SECONDS:
                self._cached = dict(self._refreshed())
                self._refreshed_at = monotonic()
            # access lists are never cached
            newest = self.access.all()
            return [
                replace(listing, access=newest[article_id].readers)
                if article_id in newest and listing.access is not None
                else listing
                for article_id, (_, listing) in self._cached.items()
            ]

    def _refreshed(self) -> Iterator[tuple[str, tuple[tuple[int, int], ArticleListing]]]:
        folder = self.layout.home / "state"
        # plain paths: making ten thousand UPath objects takes longer than reading the folder
        folder = Path(folder) if isinstance(folder, Path) else folder
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            article_id = path.name.removesuffix(".json")
            try:
                status = path.stat()
                version = (status.st_mtime_ns, status.st_size)
                cached = self._cached.get(article_id)
                yield article_id, cached if cached and cached[0] == version else (version, self._read(article_id))
            except (FileNotFoundError, KnowledgeBaseError):
                continue  # removed meanwhile, or damaged, which reconciliation reports

    def _read(self, article_id: str) -> ArticleListing:
        state = load_state(self.layout, article_id)
        failure = state.failure
        error, remedy = (_reason(state, failure), failure.remedy) if failure else (None, "")
        if not state.published:
            return ArticleListing(
                ArticleSummary(article_id=article_id, title=article_id, state="failed", error=error, remedy=remedy),
                None,
            )
        last = state.published[-1]
        manifest = load_manifest(self._texts(article_id, last.id))
        rows = load_chunks(self.layout, article_id, last.id)
        chunks, entry = sections(rows), next((row.document for row in rows if row.document), None)
        summary = ArticleSummary(
            article_id=article_id,
            title=manifest.title,
            state=_state(state),
            published_at=last.published_at,
            images=len(manifest.images),
            chunks=len(chunks),
            error=error,
            remedy=remedy,
            **(entry.model_dump(include=_FACTS) if entry else {}),
        )
        now = [chunk for chunk in chunks if not (chunk.deferred or is_deferred(chunk.heading_path, self._deferring))]
        headings = tuple(dict.fromkeys(chunk.section_header for chunk in now if chunk.section_header))
        topics = rows[0].key_topics if rows else manifest.key_topics
        return ArticleListing(summary, manifest.access_control_list, headings, len(now) < len(chunks), topics)


def _contradiction(finding: Finding) -> Contradiction:
    here, there = finding.here, finding.there
    return Contradiction(
        kind=finding.kind,
        chunk_id=here.chunk_id,
        text=here.text,
        says=here.says,
        other_article_id=there.article_id,
        other_title=there.title,
        other_chunk_id=there.chunk_id,
        other_text=there.text,
        other_says=there.says,
    )


_FACTS = {"filename", "document_type", "department", "author", "upload_date", "page_count"}
_SORTED_BY: dict[ArticleSort, Callable[[ArticleSummary], Any]] = {
    "title": lambda summary: summary.title.casefold(),
    "file": lambda summary: summary.filename.casefold(),
    "type": lambda summary: summary.document_type.casefold(),
    "pages": lambda summary: summary.page_count,
    "date": lambda summary: summary.upload_date,
}


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    """The values that are set, each once whatever its case, in order."""
    by_folded: dict[str, str] = {}
    for value in sorted(values):
        by_folded.setdefault(folded(value), value)
    return tuple(value for key, value in sorted(by_folded.items()) if key)


def _names(summary: ArticleSummary) -> str:
    filename = "" if summary.filename == INDEX_FILE else summary.filename
    return f"{summary.title}\n{summary.article_id}\n{filename}".casefold()


def _state(state: ArticleState) -> Literal["published", "behind", "pinned"]:
    if state.pinned_version:
        return "pinned"
    return "behind" if state.failure else "published"


def _failure(state: ArticleState) -> ArticleFailure | None:
    failure = state.failure
    if failure is None:
        return None
    return ArticleFailure(reason=_reason(state, failure), remedy=failure.remedy, failed_at=failure.last_at)


def _reason(state: ArticleState, failure: BuildFailure) -> str:
    """Why the newest version failed, in words: what its checks say, without their names, or else the error."""
    made = state.layers.get(failure.layer)
    said = [check.message for check in made.failed_checks if check.message.rstrip(".") in failure.error] if made else []
    return " ".join(said) or failure.reason.removeprefix(f"{state.article_id}: ")


def _picture(article_id: str, image: ServedImage) -> ArticlePicture:
    read = image.description
    return ArticlePicture(
        **image_at(f"{article_id}/{image.path}").model_dump(),
        file=image.source_file,
        read_as=read.description.removeprefix(image.said).lstrip(". ") if image.said else read.description,
        said=image.said,
        ui_elements=read.ui_elements,
        navigation_path=read.navigation_path,
    )


def _chunk(chunk: Chunk) -> ArticleChunk:
    return ArticleChunk(
        chunk_id=chunk.id,
        chunk_index=chunk.chunk_index,
        heading_path=chunk.heading_path,
        content=with_image_urls(chunk.content, chunk.article_id),
        images=images_of(chunk),
        content_hash=chunk.content_hash,
        page_breaks=breaks_with_image_urls(chunk),
    )
