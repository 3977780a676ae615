"""The knowledge base as its readers see it: which articles there are, and one of them whole.

What a person may not see is not there for them: it is neither listed nor counted nor opened.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

from upath import UPath

from app.grounding.citations import image_at, images_of, with_image_urls
from app.principal import Principal
from app.schema import Article, ArticleChunk, ArticleList, ArticleSummary
from kb_pipeline.errors import InvalidArticleIdError, KnowledgeBaseError
from kb_pipeline.layers.chunks import load_chunks
from kb_pipeline.layers.serving_article import load_manifest
from kb_pipeline.layout import Layout
from kb_pipeline.records import Chunk, Manifest
from kb_pipeline.state import ArticleState, load_state
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.storage import read_bytes


class ArticleNotFoundError(KnowledgeBaseError):
    """There is no such article for this person."""


_FRESH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Listed:
    """An article in the list: its summary, who may see it (nobody named: all), and what its sections are about.

    ``access`` is ``None`` while it is not known, because the article was never published.
    """

    summary: ArticleSummary
    access: tuple[str, ...] | None
    headings: tuple[str, ...] = ()

    def is_for(self, who: Principal) -> bool:
        """Whether this person may see it; of what was never published only the person at the machine hears."""
        return who == Principal() if self.access is None else may_see(self.access, who)


def may_see(access_control_list: tuple[str, ...], who: Principal) -> bool:
    """Whether the list is empty or names the person: what the index asks of a chunk, asked of an article."""
    return not access_control_list or not set(access_control_list).isdisjoint(who.names)


class Articles:
    """Lists and opens articles. What was read of an article is kept until its state changes."""

    def __init__(self, layout: Layout) -> None:
        """Say where they are; nothing is read yet."""
        self.layout = layout
        self._known: dict[str, tuple[tuple[int, int], Listed]] = {}
        self._looked_at = -_FRESH_SECONDS
        self._lock = threading.Lock()

    def page(self, who: Principal, search: str = "", *, limit: int = 50, offset: int = 0) -> ArticleList:
        """A page of the articles whose title or id holds ``search``, by title."""
        wanted = search.casefold().strip()
        found = [listed.summary for listed in self.all(who) if not wanted or wanted in _names(listed.summary)]
        found.sort(key=lambda summary: (summary.title.casefold(), summary.article_id))
        return ArticleList(total=len(found), articles=tuple(found[offset : offset + limit]))

    def all(self, who: Principal) -> list[Listed]:
        """Every article that this person may see."""
        return [listed for listed in self._listed() if listed.is_for(who)]

    def hidden_from(self, who: Principal) -> frozenset[str]:
        """Ids of the articles that there are, but not for this person."""
        return frozenset(listed.summary.article_id for listed in self._listed() if not listed.is_for(who))

    def readers(self, article_id: str) -> tuple[str, ...]:
        """Users and groups that an article is only for; nobody named: it is for all, or there is none of that id."""
        try:
            manifest = self._manifest(article_id)
        except KnowledgeBaseError:
            return ()
        return manifest.access_control_list if manifest else ()

    def last_published_at(self) -> str | None:
        """When an article last changed for readers."""
        return max((at for listed in self._listed() if (at := listed.summary.published_at)), default=None)

    def open(self, article_id: str, who: Principal, chunks: list[Chunk]) -> Article:
        """An article with the chunks of it that the index holds.

        Raises:
            ArticleNotFoundError: it was never published, or this person may not see it.
        """
        manifest = self.manifest(article_id, who)
        state = load_state(self.layout, article_id)
        folder = self._texts(article_id, state.published_version)
        return Article(
            article_id=article_id,
            title=manifest.title,
            source_url=manifest.source_url,
            markdown=with_image_urls(read_bytes(folder / "article.md").decode(), article_id),
            images=tuple(image_at(f"{article_id}/{image.path}") for image in manifest.images),
            chunks=tuple(map(_shown, sorted(chunks, key=lambda chunk: chunk.chunk_index))),
            links={link.target: link.article_id for link in manifest.article_links},
            published_at=state.published[-1].published_at if state.published else None,
            run_id=manifest.provenance.run_id,
            run_url=None,
            converter=manifest.provenance.converter,
            content_hash=manifest.provenance.content_hash,
        )

    def manifest(self, article_id: str, who: Principal) -> Manifest:
        """The published article's manifest.

        Raises:
            ArticleNotFoundError: it was never published, or this person may not see it.
        """
        try:
            manifest = self._manifest(article_id)
        except InvalidArticleIdError as exc:
            raise ArticleNotFoundError(f"there is no article {article_id[:80]!r}") from exc
        if manifest is None or not may_see(manifest.access_control_list, who):
            raise ArticleNotFoundError(f"there is no article {article_id[:80]!r}")
        return manifest

    def _manifest(self, article_id: str) -> Manifest | None:
        """The manifest of what is published; ``None``, where nothing is."""
        state = load_state(self.layout, check_article_id(article_id))
        folder = self._texts(article_id, state.published_version)
        return load_manifest(folder) if (folder / "manifest.json").is_file() else None

    def _texts(self, article_id: str, version: str | None) -> UPath:
        """The folder of the published article.md and manifest.json.

        Those in the cloud are read where they were made: ten thousand requests would take minutes.
        """
        if version and not isinstance(self.layout.serving_root, Path):
            return self.layout.version(article_id, version)
        return self.layout.serving(article_id)

    def _listed(self) -> list[Listed]:
        """All articles as they were at most two seconds ago: looking at ten thousand files takes a while."""
        with self._lock:
            if monotonic() - self._looked_at >= _FRESH_SECONDS:
                self._known = dict(self._refreshed())
                self._looked_at = monotonic()
            return [listed for _, listed in self._known.values()]

    def _refreshed(self) -> Iterator[tuple[str, tuple[tuple[int, int], Listed]]]:
        folder = self.layout.home / "state"
        # ten thousand path objects of UPath take longer than the looking
        place = Path(folder) if isinstance(folder, Path) else folder
        for path in sorted(place.glob("*.json")) if place.is_dir() else ():
            article_id = path.name.removesuffix(".json")
            try:
                status = path.stat()
                seen = (status.st_mtime_ns, status.st_size)
                known = self._known.get(article_id)
                yield article_id, known if known and known[0] == seen else (seen, self._read(article_id))
            except (FileNotFoundError, KnowledgeBaseError):
                continue  # removed meanwhile, or damaged: reconciliation tells of that, a reader cannot mend it

    def _read(self, article_id: str) -> Listed:
        state = load_state(self.layout, article_id)
        error = state.failure.error.partition("\n")[0] if state.failure else None
        if not state.published:
            return Listed(ArticleSummary(article_id=article_id, title=article_id, state="failed", error=error), None)
        last = state.published[-1]
        manifest = load_manifest(self._texts(article_id, last.id))
        chunks = load_chunks(self.layout, article_id, last.id)
        summary = ArticleSummary(
            article_id=article_id,
            title=manifest.title,
            state=_state(state),
            published_at=last.published_at,
            images=len(manifest.images),
            chunks=len(chunks),
            error=error,
        )
        headings = tuple(dict.fromkeys(chunk.section_header for chunk in chunks if chunk.section_header))
        return Listed(summary, manifest.access_control_list, headings)


def _names(summary: ArticleSummary) -> str:
    return f"{summary.title}\n{summary.article_id}".casefold()


def _state(state: ArticleState) -> Literal["published", "behind", "pinned"]:
    if state.pinned_version:
        return "pinned"
    return "behind" if state.failure else "published"


def _shown(chunk: Chunk) -> ArticleChunk:
    return ArticleChunk(
        chunk_id=chunk.id,
        chunk_index=chunk.chunk_index,
        heading_path=chunk.heading_path,
        content=with_image_urls(chunk.content, chunk.article_id),
        images=images_of(chunk),
        content_hash=chunk.content_hash,
    )
