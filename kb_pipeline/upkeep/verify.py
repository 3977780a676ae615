"""Verifies articles from source to index: builds them again in a temporary home folder and compares the results.

This finds what fingerprints cannot: files damaged on disk, an index that another program has changed, and code whose
results vary. Paid services are not called: cached descriptions, conversions and vectors are used.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from kb_pipeline.errors import DamagedLayerError, ImageError, IndexDamagedError, KnowledgeBaseError
from kb_pipeline.flow.access_binding import bind
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.index_state import published_hash
from kb_pipeline.flow.layers import ARTICLE_LAYERS, Run
from kb_pipeline.flow.layers.chunk_embeddings import ChunkEmbeddingsLayer, load_vectors
from kb_pipeline.flow.layers.chunks import CHUNKS, ChunksLayer, chunks_hash, load_chunks
from kb_pipeline.flow.layers.converted_markdown import (
    ConvertedMarkdownLayer,
    kept_conversion,
    load_converted,
    read_image,
)
from kb_pipeline.flow.layers.document_summary import DocumentSummaryLayer
from kb_pipeline.flow.layers.image_descriptions import ImageDescriptionsLayer, kept_description
from kb_pipeline.flow.layers.serving_article import (
    OCR_LINES,
    TEXTS,
    has_texts,
    is_complete,
    load_manifest,
    shared_files,
    version_files,
)
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer
from kb_pipeline.flow.serving_versions import kept_versions, published_texts
from kb_pipeline.flow.stale import outdated
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, ImageReference
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.store.files import is_file_of, read_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, load_reports, load_state, save_state


def served_problems(workspace: Workspace, state: ArticleState, version: str) -> Iterator[str]:
    """Check the files of the published version, in its own folder and in the serving folder."""
    layout, article_id = workspace.layout, state.article_id
    made, served = layout.version(article_id, version), layout.serving(article_id)
    files = version_files(state, version)
    if not has_texts(layout, article_id, version, files):
        damaged = [made / name for name in TEXTS if not is_file_of(made / name, files.get(name))]
        yield f"its published version {version} is not as it was made: {', '.join(map(str, damaged)) or made}"
        return
    for name, data in published_texts(layout, article_id, version).items():
        path = served / name
        if (read_bytes(path) if path.is_file() else b"") != data:
            yield f"{path} is not what was published"
    manifest = load_manifest(made)
    for file in shared_files(layout, manifest):
        for path in (served / file.path, file.made):
            if not is_file_of(path, file.sha256):
                yield f"{path} is not the {_kind_of(file.path)} that was published"


def _kind_of(path: str) -> str:
    if path == OCR_LINES:
        return "text of scanned pages"
    return "image" if path.startswith("images/") else "document"


def published_entries(workspace: Workspace, state: ArticleState, version: str) -> list[IndexEntry]:
    """The entries that the index should hold of the published version, made from its chunks and vectors.

    Raises:
        KnowledgeBaseError: the chunks or vectors are not those that were published.
    """
    chunks = published_chunks(workspace, state, version)
    vectors = load_vectors(workspace.layout, state.article_id, version, workspace.embedder.model_id)
    if missing := [chunk.id for chunk in chunks if chunk.id not in vectors]:
        path = workspace.layout.vectors(state.article_id, version, workspace.embedder.model_id)
        raise DamagedLayerError(ChunkEmbeddingsLayer.name, f"{path}, without the vector of {missing[0]},")
    return [IndexEntry(chunk, vectors[chunk.id].passages) for chunk in chunks]


def published_chunks(workspace: Workspace, state: ArticleState, version: str) -> list[Chunk]:
    """Load the chunks of the published version.

    Raises:
        KnowledgeBaseError: they are not those that were published.
    """
    layout, article_id = workspace.layout, state.article_id
    published = state.layers.get("search_index")
    made = published if published and CHUNKS in published.files else None
    chunks = load_chunks(layout, article_id, version, made)
    if chunks_hash(chunks) != published_hash(state):
        raise DamagedLayerError(ChunksLayer.name, layout.chunks(article_id, version))
    return chunks


def lost_versions(workspace: Workspace, state: ArticleState) -> list[str]:
    """Earlier versions that cannot be put back any more, because their files are damaged."""
    kept = kept_versions(state, workspace.settings.keep_versions)
    earlier = [version for version in kept if version != state.published_version]
    layout, article_id = workspace.layout, state.article_id
    return [
        version for version in earlier if not is_complete(layout, article_id, version, version_files(state, version))
    ]


_MADE_AGAIN = tuple(layer.name for layer in ARTICLE_LAYERS if layer is not ChunkEmbeddingsLayer)
"""All layers but the vectors, which may cost money to make again, and may differ in the last bit."""


OF_THE_SOURCE = (StagedArticleLayer, ConvertedMarkdownLayer, ImageDescriptionsLayer, DocumentSummaryLayer)
"""Layers that are stored once for an article, and not for each version."""


@dataclass(frozen=True)
class Verification:
    """The problems of an article; empty if it is intact.

    ``skipped`` is the reason if the article was not built again and compared.
    """

    article_id: str
    problems: tuple[str, ...] = ()
    skipped: str = ""


def sample(article_ids: Sequence[str], part: int, parts: int) -> list[str]:
    """One of ``parts`` samples that together contain all articles. An article is always in the same sample."""
    return [key for key in article_ids if int(sha256(key.encode())[:8], 16) % parts == part % parts]


def verify(workspace: Workspace, article_id: str) -> Verification:
    """Compare what readers see of an article with a new build of its source.

    An access list that waits to be written to the index is written first, so that it does not look like damage.

    Raises:
        KnowledgeBaseError: something cannot be read at all.
    """
    with workspace.locks.hold([article_id]):
        with suppress(IndexDamagedError):  # found below as well, with what to do
            bind(workspace, set(workspace.access.pending()) & {article_id})
        state = load_state(workspace.layout, article_id)
        version = state.published_version
        if version is None:
            return Verification(article_id, skipped="it is not published")
        damage = [*_file_problems(workspace, state, version), *_index_problems(workspace, state, version)]
        problems = tuple(f"{problem}; run: kb reconcile --article {article_id}" for problem in damage)
        run = Run(f"verification-{uuid4()}", "1970-01-01T00:00:00+00:00")
        if reason := _reason_to_skip(workspace, state, run):
            return Verification(article_id, problems, reason)
        with tempfile.TemporaryDirectory(prefix="kb-verify-") as folder:
            rebuilt = _build_again(workspace, _scratch(workspace.settings, Path(folder)), state, run)
    return replace(rebuilt, problems=(*problems, *rebuilt.problems))


def _file_problems(workspace: Workspace, state: ArticleState, version: str) -> Iterator[str]:
    if state.damage:
        yield state.damage
    if load_reports(workspace.layout, state.article_id) is None:
        yield f"{workspace.layout.reports(state.article_id)} is damaged or gone"
    yield from served_problems(workspace, state, version)
    for lost in lost_versions(workspace, state):
        yield f"its earlier version {lost} is damaged and cannot be put back any more"
    for layer in [kind(workspace) for kind in OF_THE_SOURCE]:
        if layer.name in state.layers and (damaged := layer.damaged_file(state)):
            yield f"{damaged} is not what {layer.name} wrote"


def _index_problems(workspace: Workspace, state: ArticleState, version: str) -> Iterator[str]:
    if state.published[-1].generation != workspace.generation.id:
        return
    try:
        entries = published_entries(workspace, state, version)
    except KnowledgeBaseError as exc:
        yield f"chunks or vectors of its published version are not as they were made: {exc}"
        return
    try:
        wrong = workspace.index.mismatched(entries)
        indexed = workspace.index.entries([state.article_id]).get(state.article_id, {}).keys()
    except IndexDamagedError as exc:
        yield str(exc)
        return
    if wrong := wrong | (indexed - {entry.chunk.id for entry in entries}):
        yield f"{len(wrong)} of its entries in the index are not what was published ({min(wrong)})"


def _reason_to_skip(workspace: Workspace, state: ArticleState, run: Run) -> str:
    if state.pin:
        return "an earlier version was put back"
    if state.version != state.published_version or state.failure:
        return "its newest version is not published"
    if workspace.staging.signature(state.article_id) != state.signature:
        return "its source was changed since"
    stale = outdated(workspace, state, run)
    return f"it must be rebuilt: {stale.reason}" if stale else ""


def _build_again(workspace: Workspace, scratch: Settings, state: ArticleState, run: Run) -> Verification:
    """Build layer by layer up to the first that comes out different, because all later ones would differ too."""
    article_id = state.article_id
    if paid := kept_conversion(workspace.layout, article_id).read().value:
        kept_conversion(Layout.of(scratch), article_id).write(paid.model_dump_json().encode())
    new = ArticleState(article_id=article_id, arrived_at=state.arrived_at)
    save_state(Layout.of(scratch), new)
    for layer in _MADE_AGAIN:
        if layer == ImageDescriptionsLayer.name and (missing := _copy_descriptions(workspace, scratch, article_id)):
            return Verification(article_id, skipped=f"the description of {missing} is not cached any more")
        result = build_article(scratch, article_id, (layer,), run)
        if result.error is not None:
            return Verification(article_id, (f"it cannot be made again: {result.error}",))
        if result.layers[0].output_hash != state.layers[layer].output_hash:
            advice = f"run: kb ingest --article {article_id}"
            return Verification(article_id, (f"{layer} comes out different from the same source; {advice}",))
    return Verification(article_id)


def _scratch(settings: Settings, folder: Path) -> Settings:
    """Settings with an empty home folder, which shares only the files of the models, and sources below the home."""
    for name in ("models", "network"):
        if (settings.home_path / name).is_dir():
            (folder / name).symlink_to((settings.home_path / name).absolute())
    return settings.model_copy(update={"home": str(folder), "serving": None, "index_uri": None})


def _copy_descriptions(workspace: Workspace, scratch: Settings, article_id: str) -> str:
    """Copy the cached descriptions of the article's images; returns the name of the first that is not cached."""
    layout = Layout.of(scratch)
    describer = ImageDescriptionsLayer(workspace).describer()
    converted = load_converted(layout, article_id)
    for image in converted.images:
        if image.file in converted.descriptions:
            continue  # it came with the article
        key = fingerprint(image.sha256, describer)
        if description := kept_description(workspace.layout, key).read().value:
            kept_description(layout, key).write(description.model_dump_json().encode())
        elif _is_readable(workspace, article_id, image):
            return image.file
    return ""


def _is_readable(workspace: Workspace, article_id: str, image: ImageReference) -> bool:
    """Whether the image can be decoded; otherwise it was never described."""
    try:
        workspace.images.to_png(read_image(workspace, article_id, image))
    except ImageError:
        return False
    return True
