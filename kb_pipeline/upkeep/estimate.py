"""Estimates the work, time and cost of an ingest, without calling a model or writing anything.

The work is counted in model calls. Time and cost are the calls times what a call took on average so far, at the
current prices. Which articles are stale is decided in :mod:`kb_pipeline.flow.stale`.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import lxml.html
from lxml import etree

from kb_pipeline.errors import KnowledgeBaseError, UnreadableArticleError
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.layers.chunk_embeddings import ChunkEmbeddingsLayer, kept_passages, previewed_passages, text_hash
from kb_pipeline.flow.layers.chunks import ChunksLayer, load_chunks
from kb_pipeline.flow.layers.converted_markdown import ConvertedMarkdownLayer, load_converted
from kb_pipeline.flow.layers.image_descriptions import ImageDescriptionsLayer
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer, load_staged
from kb_pipeline.flow.serving_versions import made_versions
from kb_pipeline.flow.stale import Stale, stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import StagedArticle, Usage
from kb_pipeline.services.usage import priced, total
from kb_pipeline.sources import SourceDocument
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.formats import may_be_picture
from kb_pipeline.steps.html.decode import decode
from kb_pipeline.steps.main_file import format_of
from kb_pipeline.store.files import read_bytes
from kb_pipeline.store.state import ArticleState, load_state, load_states

_FILLING = 0.5
"""The average size of a passage, as a share of the tokens that it may have."""


def is_made(layer: str, stale: Stale) -> bool:
    """Whether the layer may have to be made for the article: it is the first stale layer, or comes after it."""
    return LAYER_NAMES.index(layer) >= LAYER_NAMES.index(stale.layer)


class Workload:
    """Adds up the images and texts of articles. See :class:`Estimate` for what its attributes mean.

    ``previewed`` are articles that a preview built already, with the texts that are still to be embedded.
    """

    def __init__(self, workspace: Workspace, previewed: Mapping[str, int] = MappingProxyType({})) -> None:
        self._workspace, self._layout = workspace, workspace.layout
        self._previewed = previewed
        self._conversion = ConvertedMarkdownLayer(workspace)
        self._embedder = workspace.embedder
        self._described_by = ImageDescriptionsLayer(workspace).describer()
        # images and texts of an article are counted one after the other, from the same files
        self._staged = lru_cache(maxsize=1)(self._read_staged)
        self._document = lru_cache(maxsize=1)(self._read_document)
        self.images: set[str] = set()
        self.images_at_most = False
        self.conversions = 0
        self.pages = 0
        self.ocr_pages = 0
        self.texts = 0
        self.tokens = 0
        self.texts_from: Counter[str] = Counter()
        self.unreadable: list[str] = []

    def add(self, stale: Stale) -> None:
        """Add an article. One that cannot be read is only listed, because its build will fail."""
        try:
            if is_made(ConvertedMarkdownLayer.name, stale):
                self._add_conversion(stale)
                self._add_pages(stale)
            if stale.article_id in self._previewed:  # its images are described, and its texts are known
                self._count("its chunks that were previewed", self._previewed[stale.article_id], 0)
                return
            if is_made(ImageDescriptionsLayer.name, stale):
                self._add_images(stale)
            if is_made(ChunkEmbeddingsLayer.name, stale):
                self._add_texts(stale, load_state(self._layout, stale.article_id))
        except KnowledgeBaseError:
            self.unreadable.append(stale.article_id)

    def _add_conversion(self, stale: Stale) -> None:
        """Count the conversion, unless a service was paid for it already."""
        is_known = stale.layer == ConvertedMarkdownLayer.name  # otherwise what it is made from may change as well
        inputs = self._conversion.inputs(load_state(self._layout, stale.article_id), Run("", "")) if is_known else {}
        self.conversions += not self._conversion.is_paid(stale.article_id, inputs)

    def _add_pages(self, stale: Stale) -> None:
        document = self._document(self._staged(stale))
        self.pages += len(document.pages) if document else 0
        # read without OCR, so these are still to be read by it
        self.ocr_pages += sum(page.read_by == "ocr" for page in document.pages) if document else 0

    def _add_images(self, stale: Stale) -> None:
        is_converted = stale.layer == ImageDescriptionsLayer.name
        images = self._content_images(stale.article_id) if is_converted else self._image_files(stale)
        new = {
            digest
            for digest in images - self.images
            if not self._layout.description_cache(fingerprint(digest, self._described_by)).is_file()
        }
        self.images |= new
        self.images_at_most |= bool(new) and not is_converted

    def _content_images(self, article_id: str) -> set[str]:
        converted = load_converted(self._layout, article_id)
        return {image.sha256 for image in converted.images if image.file not in converted.descriptions}

    def _image_files(self, stale: Stale) -> set[str]:
        """The staged files that may be images; before the conversion nobody knows which are decorative."""
        if self._workspace.staging.made_elsewhere:
            return set()  # they come with their descriptions
        staged = self._staged(stale)
        images = {file.sha256 for file in staged.files if may_be_picture(file.name)}
        document = self._document(staged)
        return images | set(map(sha256, document.images.values())) if document else images

    def _add_texts(self, stale: Stale, state: ArticleState) -> None:
        has_chunks = bool(state.version) and self._layout.chunks(state.article_id, state.version).is_file()
        if stale.layer == StagedArticleLayer.name or not has_chunks:
            tokens = self._embedder.count_tokens(self._text(self._staged(stale)))
            longest = min(self._workspace.chunk_limits[1], self._embedder.max_tokens)
            size = max(1, round(_FILLING * longest))
            self._count("the words of the page or document", math.ceil(tokens / size), tokens)
            return
        texts = self._texts(stale, state)
        if stale.layer in (ChunksLayer.name, ChunkEmbeddingsLayer.name):
            new = texts.keys() - self._embedded(state)
            self._count_texts("its chunks that have no vector", [texts[key] for key in new])
        elif stale.layer == ImageDescriptionsLayer.name:
            self._count_texts("its chunks with images", texts.values())
        else:  # which of its chunks will change is not known yet
            self._count_texts("all its chunks", texts.values())

    def _texts(self, stale: Stale, state: ArticleState) -> dict[str, str]:
        """The texts of the article's chunks by their hash: as they will be cut if only that changes, else as now."""
        if stale.layer == ChunksLayer.name:
            chunks = ChunksLayer(self._workspace).cut(state)
        else:
            chunks = load_chunks(self._layout, state.article_id, state.version)
        if stale.layer == ImageDescriptionsLayer.name:
            chunks = [chunk for chunk in chunks if chunk.image_urls]  # the others are cut as before
        texts = [text for chunk in chunks for text in self._embedder.passages_of(chunk)]
        return {text_hash(self._embedder.model_id, text): text for text in texts}

    def _embedded(self, state: ArticleState) -> set[str]:
        """Hashes of the texts that any version of the article has a vector for."""
        hashes: set[str] = set()
        for version in made_versions(self._layout, state.article_id):
            hashes |= kept_passages(self._layout, state.article_id, version, self._embedder).keys()
        return hashes | previewed_passages(self._layout, state.article_id, self._embedder).keys()

    def _read_staged(self, stale: Stale) -> StagedArticle:
        if stale.layer == StagedArticleLayer.name:
            return self._workspace.staging.inventory(stale.article_id)
        return load_staged(self._layout, stale.article_id)

    def _read_document(self, staged: StagedArticle) -> SourceDocument | None:
        """Read the article's main file if it is a document."""
        if format_of(staged.main) == "html":
            return None
        path = self._workspace.staging.path(staged.article_id, staged.main)
        source = self._workspace.source_of(staged.article_id, format_of(staged.main), by_ocr=False)
        return source.read(staged.article_id, staged.main, read_bytes(path))

    def _text(self, staged: StagedArticle) -> str:
        article_id = staged.article_id
        document = self._document(staged)
        path = self._workspace.staging.path(article_id, staged.main)
        text = document.html if document else decode(article_id, read_bytes(path))
        try:
            # bytes, because lxml refuses a string with an XML declaration
            page = lxml.html.document_fromstring(text.encode(), parser=lxml.html.HTMLParser(encoding="utf-8"))
        except (etree.LxmlError, ValueError) as exc:
            raise UnreadableArticleError(f"{article_id}: {staged.main} cannot be read as HTML: {exc}") from exc
        etree.strip_elements(page, "script", "style", with_tail=False)
        return " ".join(" ".join(map(str, page.itertext())).split())

    def _count_texts(self, how: str, texts: Iterable[str]) -> None:
        sizes = [self._embedder.count_tokens(text) for text in texts]
        self._count(how, len(sizes), sum(sizes))

    def _count(self, how: str, texts: int, tokens: int) -> None:
        self.texts += texts
        self.tokens += tokens
        self.texts_from[how] += 1


@dataclass(frozen=True)
class ModelUse:
    """The use of one model for one layer. ``seconds`` or ``cost`` is ``None`` if ``unknown`` says why.

    ``seconds`` is the sum over all calls, although several workers call at once.
    """

    layer: str
    model: str
    units: int
    unit: str
    seconds: float | None
    cost: float | None
    unknown: str = ""


@dataclass(frozen=True)
class Estimate:
    """What an ingest would do.

    Attributes:
        articles: how many articles would be built.
        up_to_date: how many of the requested articles need no build.
        failing: how many of them failed for good, and are not built again before they or the code change.
        refused: how many staged folders are no articles.
        not_staged: requested articles that are not staged.
        unreadable: articles that cannot be read, and will fail.
        reasons: how many articles are built for which reason.
        layers: for how many articles a layer is made at most; a layer with an unchanged result ends the work early.
        images: distinct images to describe.
        images_are: "exactly", or "at most" if decorative images may be among them.
        pages: of documents, to read.
        ocr_pages: how many of them OCR has to read.
        texts: texts to embed.
        tokens: their tokens.
        texts_from: for how many articles the texts were counted in which way.
        models: the use of each model.
    """

    articles: int
    up_to_date: int
    failing: int
    refused: int
    not_staged: tuple[str, ...]
    unreadable: tuple[str, ...]
    reasons: Mapping[str, int]
    layers: Mapping[str, int]
    images: int
    images_are: str
    pages: int
    ocr_pages: int
    texts: int
    tokens: int
    texts_from: Mapping[str, int]
    models: tuple[ModelUse, ...]

    @property
    def cost(self) -> float | None:
        """The cost of all models, in the currency of the price table; ``None`` if the cost of one is unknown."""
        costs = [use.cost for use in self.models if use.cost is not None]
        return round(sum(costs), 6) if len(costs) == len(self.models) else None

    def as_dict(self) -> dict[str, Any]:
        """The estimate as plain values, for JSON."""
        return {**asdict(self), "cost": self.cost}


def estimate(
    workspace: Workspace,
    article_ids: Sequence[str] | None,
    measured: Mapping[str, Sequence[Usage]] = MappingProxyType({}),
    previewed: Mapping[str, int] = MappingProxyType({}),
) -> Estimate:
    """Estimate an ingest of these articles, or of all stale articles if ``article_ids`` is ``None``.

    ``measured`` is usage by layer that the states do not hold, such as that of a preview: what a call takes is
    averaged over both. ``previewed`` are articles that a preview built, with the texts that are still to be embedded.

    Raises:
        KnowledgeBaseError: staging cannot be listed, or a backend cannot be opened.
    """
    listing = workspace.staging.list_articles()
    staged = set(listing.article_ids)
    requested = staged if article_ids is None else staged.intersection(article_ids)
    stale = [article for article in stale_articles(workspace) if article.article_id in requested]
    if article_ids is not None:
        stale += _permanently_failed(workspace, requested - {article.article_id for article in stale})
    idle = requested - {article.article_id for article in stale}
    failing = {state.article_id for state in load_states(workspace.layout) if state.failure}
    work = Workload(workspace, previewed)
    for article in stale:
        work.add(article)
    layers = {name: sum(is_made(name, article) for article in stale) for name in LAYER_NAMES}
    return Estimate(
        articles=len(stale),
        up_to_date=len(idle - failing),
        failing=len(idle & failing),
        refused=len(listing.refused) if article_ids is None else 0,
        not_staged=tuple(sorted({*(article_ids or ())} - staged)),
        unreadable=tuple(work.unreadable),
        reasons=dict(Counter(article.reason for article in stale).most_common()),
        layers=layers,
        images=len(work.images),
        images_are="at most" if work.images_at_most else "exactly",
        pages=work.pages,
        ocr_pages=work.ocr_pages,
        texts=work.texts,
        tokens=work.tokens,
        texts_from=dict(work.texts_from),
        models=_model_uses(workspace, work, measured),
    )


def _permanently_failed(workspace: Workspace, article_ids: Collection[str]) -> list[Stale]:
    """The articles that failed permanently, which are only tried again when they are requested by name."""
    states = [load_state(workspace.layout, article_id) for article_id in sorted(article_ids)]
    failing = [(state.article_id, state.failure) for state in states if state.failure]
    return [Stale(article_id, failure.layer, "failed for good, tried again") for article_id, failure in failing]


def _model_uses(workspace: Workspace, work: Workload, measured: Mapping[str, Sequence[Usage]]) -> tuple[ModelUse, ...]:
    history = {layer: list(used) for layer, used in measured.items()}
    for state in load_states(workspace.layout):
        for layer, used in state.spent.items():
            history.setdefault(layer, []).extend(used)
    elsewhere = workspace.staging.made_elsewhere
    uses = (
        (ConvertedMarkdownLayer.name, workspace.converter, 0 if elsewhere else work.conversions, "articles"),
        (ImageDescriptionsLayer.name, workspace.describer.name, len(work.images), "images"),
        (ChunkEmbeddingsLayer.name, workspace.embedder.model_id, work.texts, "texts"),
    )
    return tuple(
        _model_use(workspace, layer, model, units=units, unit=unit, history=history.get(layer, ()), tokens=work.tokens)
        for layer, model, units, unit in uses
        if units
    )


def _model_use(
    workspace: Workspace, layer: str, model: str, *, units: int, unit: str, history: Iterable[Usage], tokens: int
) -> ModelUse:
    # a provider reports the release that it used: gpt-4.1 may be gpt-4.1-2025-04-14
    past = total(used for used in history if used.model == model or used.model.startswith(f"{model}-"))
    calls, embedded = sum(used.calls for used in past), sum(used.input_tokens for used in past)
    if not calls:
        unknown = f"{model} was not used yet; ingest a few articles, then estimate again"
        return ModelUse(layer, model, units, unit, None, None, unknown)
    # one call may embed many texts, so tokens are the better measure where the provider reports them
    factor = tokens / embedded if unit == "texts" and embedded else units / calls
    expected = priced([_scaled(used, factor) for used in past], workspace.settings.prices)
    costs = [used.cost for used in expected if used.cost is not None]
    is_priced = len(costs) == len(expected)
    return ModelUse(
        layer=layer,
        model=model,
        units=units,
        unit=unit,
        seconds=round(sum(used.seconds for used in expected), 1),
        cost=round(sum(costs), 6) if is_priced else None,
        unknown="" if is_priced else f"{model} has no price; set KB_PRICES",
    )


def _scaled(used: Usage, factor: float) -> Usage:
    is_billed = used.cost != 0 and (used.calls or used.input_tokens or used.output_tokens or used.pages)
    return Usage(
        model=used.model,
        calls=round(used.calls * factor),
        input_tokens=round(used.input_tokens * factor),
        output_tokens=round(used.output_tokens * factor),
        pages=round(used.pages * factor),
        seconds=used.seconds * factor,
        cost=None if is_billed else 0.0,
    )
