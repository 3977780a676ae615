"""What the models would have to look at if articles were ingested: distinct images, texts and their tokens.

Counted, not made: no model is called, nothing is written.
"""

import math
from collections import Counter
from collections.abc import Iterable

import lxml.html
from lxml import etree

from kb_pipeline.errors import KnowledgeBaseError, UnreadableArticleError
from kb_pipeline.layers import LAYER_NAMES
from kb_pipeline.layers.chunk_embeddings import ChunkEmbeddingsLayer, kept_passages, text_hash
from kb_pipeline.layers.chunks import ChunksLayer, load_chunks
from kb_pipeline.layers.converted_markdown import NOT_IMAGES, load_converted
from kb_pipeline.layers.image_descriptions import ImageDescriptionsLayer
from kb_pipeline.layers.staged_article import StagedArticleLayer, load_staged
from kb_pipeline.layers.versions import made_versions
from kb_pipeline.records import StagedArticle
from kb_pipeline.staging import INDEX_FILE
from kb_pipeline.staleness import Stale
from kb_pipeline.state import ArticleState, load_state
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.decode import decode
from kb_pipeline.storage import read_bytes
from kb_pipeline.workspace import Workspace

_FILLING = 0.5
"""How full chunks are on average, of the tokens they may have."""


def is_made(layer: str, stale: Stale) -> bool:
    """Whether the layer may have to be made for the article: it is the first stale one, or comes after it."""
    return LAYER_NAMES.index(layer) >= LAYER_NAMES.index(stale.layer)


class Workload:
    """Adds up over articles. ``images`` are hashes of files; ``texts_from``: how many articles were counted how."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._layout = workspace, workspace.layout
        self._embedder = workspace.embedder
        self._described_by = ImageDescriptionsLayer(workspace).backend()
        self.images: set[str] = set()
        self.images_at_most = False
        self.texts = 0
        self.tokens = 0
        self.texts_from: Counter[str] = Counter()
        self.unreadable: list[str] = []

    def add(self, stale: Stale) -> None:
        """Add an article; one that cannot be read will fail, and is only named."""
        try:
            if is_made(ImageDescriptionsLayer.name, stale):
                self._add_images(stale)
            if is_made(ChunkEmbeddingsLayer.name, stale):
                self._add_texts(stale, load_state(self._layout, stale.article_id))
        except KnowledgeBaseError:
            self.unreadable.append(stale.article_id)

    def _add_images(self, stale: Stale) -> None:
        is_converted = stale.layer == ImageDescriptionsLayer.name
        found = self._content_images(stale) if is_converted else self._image_files(stale)
        new = {sha256 for sha256 in found - self.images if not self._is_described(sha256)}
        self.images |= new
        self.images_at_most |= bool(new) and not is_converted

    def _content_images(self, stale: Stale) -> set[str]:
        return {image.sha256 for image in load_converted(self._layout, stale.article_id).images}

    def _image_files(self, stale: Stale) -> set[str]:
        files = self._inventory(stale).files
        return {file.sha256 for file in files if not file.name.lower().endswith(NOT_IMAGES)}

    def _inventory(self, stale: Stale) -> StagedArticle:
        if stale.layer == StagedArticleLayer.name:
            return self._workspace.staging.inventory(stale.article_id)
        return load_staged(self._layout, stale.article_id)

    def _is_described(self, sha256: str) -> bool:
        return self._layout.description_cache(fingerprint(sha256, self._described_by)).is_file()

    def _add_texts(self, stale: Stale, state: ArticleState) -> None:
        is_cut = bool(state.version) and self._layout.chunks(state.article_id, state.version).is_file()
        if stale.layer == StagedArticleLayer.name or not is_cut:
            tokens = self._embedder.count_tokens(self._page(stale.article_id))
            size = max(1, round(_FILLING * self._workspace.chunk_limits[1]))
            self._count("the words of index.html", math.ceil(tokens / size), tokens)
            return
        texts = self._texts(state)
        if stale.layer in (ChunksLayer.name, ChunkEmbeddingsLayer.name):
            new = texts.keys() - self._embedded(state)
            self._count_texts("its chunks that have no vector", [texts[key] for key in new])
        else:  # nobody knows yet which of them will be other ones
            self._count_texts("all its chunks", texts.values())

    def _texts(self, state: ArticleState) -> dict[str, str]:
        """What of the article is embedded now, by the hash under which its vector is kept."""
        texts = [embedding_text(chunk) for chunk in load_chunks(self._layout, state.article_id, state.version)]
        return {text_hash(self._embedder.model_id, text): text for text in texts}

    def _embedded(self, state: ArticleState) -> set[str]:
        """Hashes of the texts of which any version of the article has a vector of the model."""
        found: set[str] = set()
        for version in made_versions(self._layout, state.article_id):
            found |= kept_passages(self._layout, state.article_id, version, self._embedder).keys()
        return found

    def _page(self, article_id: str) -> str:
        path = self._workspace.staging.root / article_id / INDEX_FILE
        text = decode(article_id, read_bytes(path))
        try:
            page = lxml.html.document_fromstring(text)
        except (etree.LxmlError, ValueError) as exc:
            raise UnreadableArticleError(f"{article_id}: {INDEX_FILE} cannot be read as HTML: {exc}") from exc
        etree.strip_elements(page, "script", "style", with_tail=False)
        return " ".join(" ".join(map(str, page.itertext())).split())

    def _count_texts(self, how: str, texts: Iterable[str]) -> None:
        sizes = [self._embedder.count_tokens(text) for text in texts]
        self._count(how, len(sizes), sum(sizes))

    def _count(self, how: str, texts: int, tokens: int) -> None:
        self.texts += texts
        self.tokens += tokens
        self.texts_from[how] += 1
