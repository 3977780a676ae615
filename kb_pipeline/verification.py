"""Verifies articles from source to index: makes them again in a scratch home and compares.

Finds what fingerprints cannot: files damaged on disk, an index that was written to by somebody else, code that
gives other results on other days. Pays for nothing: descriptions come from the cache, vectors from the version.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from upath import UPath

from kb_pipeline.build import build_article
from kb_pipeline.errors import ImageError, KnowledgeBaseError
from kb_pipeline.index_state import published_hash
from kb_pipeline.layers import ARTICLE_LAYERS, Run
from kb_pipeline.layers.chunk_embeddings import ChunkEmbeddingsLayer, load_vectors
from kb_pipeline.layers.chunks import chunks_hash, load_chunks
from kb_pipeline.layers.converted_markdown import load_converted
from kb_pipeline.layers.image_descriptions import ImageDescriptionsLayer
from kb_pipeline.layers.serving_article import is_complete, load_manifest
from kb_pipeline.layout import Layout
from kb_pipeline.records import ImageDescription, ImageReference
from kb_pipeline.settings import Settings
from kb_pipeline.staleness import outdated
from kb_pipeline.state import ArticleState, load_state
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.images import to_png
from kb_pipeline.storage import copy_file, read_bytes, read_record
from kb_pipeline.workspace import Workspace, open_workspace

_MADE_AGAIN = tuple(layer.name for layer in ARTICLE_LAYERS if layer is not ChunkEmbeddingsLayer)
"""Vectors are compared by what they were made from: making them again may cost, and may differ in the last bit."""


@dataclass(frozen=True)
class Verification:
    """What is wrong with an article; nothing, if ``problems`` is empty.

    ``skipped`` says why it was not made again from its source and compared.
    """

    article_id: str
    problems: tuple[str, ...] = ()
    skipped: str = ""


def sample(article_ids: Sequence[str], part: int, parts: int) -> list[str]:
    """One of ``parts`` samples that together are all articles; an article stays in its part."""
    return [key for key in article_ids if int(sha256(key.encode())[:8], 16) % parts == part % parts]


def verify(settings: Settings, article_id: str) -> Verification:
    """Compare what readers see of an article with what its source makes today.

    Raises:
        KnowledgeBaseError: something cannot be read at all.
    """
    workspace = open_workspace(settings)
    with workspace.locks.hold([article_id]):
        state = load_state(workspace.layout, article_id)
        version = state.published_version
        if version is None:
            return Verification(article_id, skipped="it is not published")
        found = [*_serving_problems(workspace, state, version), *_index_problems(workspace, state, version)]
        problems = tuple(f"{problem}; run: kb reconcile --article {article_id}" for problem in found)
        run = Run(f"verification-{uuid4()}", "1970-01-01T00:00:00+00:00")
        if reason := _not_comparable(workspace, state, run):
            return Verification(article_id, problems, reason)
        with tempfile.TemporaryDirectory(prefix="kb-verify-") as folder:
            again = _make_again(workspace, _scratch(settings, Path(folder)), state, run)
    return replace(again, problems=(*problems, *again.problems))


def _serving_problems(workspace: Workspace, state: ArticleState, version: str) -> Iterator[str]:
    layout, article_id = workspace.layout, state.article_id
    if not is_complete(layout, article_id, version):
        yield f"its published version {version} is not as it was made"
        return
    made, there = layout.version(article_id, version), layout.serving(article_id)
    for name in ("article.md", "manifest.json"):
        if _bytes(there / name) != _bytes(made / name):
            yield f"{there / name} is not what was published"
    for image in load_manifest(made).images:
        for path in (there / image.path, layout.version_image(article_id, image.sha256)):
            if sha256(_bytes(path)) != image.sha256:
                yield f"{path} is not the image that was published"


def _bytes(path: UPath) -> bytes:
    return read_bytes(path) if path.is_file() else b""


def _index_problems(workspace: Workspace, state: ArticleState, version: str) -> Iterator[str]:
    if state.published[-1].generation != workspace.generation.id:
        return
    try:
        chunks = load_chunks(workspace.layout, state.article_id, version)
        load_vectors(workspace.layout, state.article_id, version, workspace.embedder.model_id)
    except KnowledgeBaseError as exc:
        yield f"chunks or vectors of its published version are not as they were made: {exc}"
        return
    if chunks_hash(chunks) != published_hash(state):
        yield f"the chunks of its published version {version} are not those that were published"
    wanted = {chunk.id: chunk for chunk in chunks}
    live = {found.chunk.id: found.chunk for found in workspace.index.find(list(wanted))}
    extra = set(workspace.index.entries([state.article_id]).get(state.article_id, {})) - wanted.keys()
    if wrong := sorted({*extra, *(key for key in wanted if live.get(key) != wanted[key])}):
        yield f"{len(wrong)} of its entries in the index are not what was published ({wrong[0]})"


def _not_comparable(workspace: Workspace, state: ArticleState, run: Run) -> str:
    if state.pin:
        return "an earlier version was put back"
    if state.version != state.published_version or state.failure:
        return "its newest version is not published"
    if workspace.staging.signature(state.article_id) != state.signature:
        return "its source was changed since"
    stale = outdated(workspace, state, run)
    return f"it is to be made again: {stale.reason}" if stale else ""


def _make_again(workspace: Workspace, scratch: Settings, state: ArticleState, run: Run) -> Verification:
    """Find the first layer that comes out different; what is made from it then would, too."""
    article_id = state.article_id
    for layer in _MADE_AGAIN:
        if layer == ImageDescriptionsLayer.name and (missing := _bring_descriptions(workspace, scratch, article_id)):
            return Verification(article_id, skipped=f"the description of {missing} is not cached any more")
        result = build_article(scratch, article_id, (layer,), run)
        if result.error is not None:
            return Verification(article_id, (f"it cannot be made again: {result.error}",))
        if result.layers[0].output_hash != state.layers[layer].output_hash:
            advice = f"run: kb ingest --article {article_id}"
            return Verification(article_id, (f"{layer} comes out different from the same source; {advice}",))
    return Verification(article_id)


def _scratch(settings: Settings, folder: Path) -> Settings:
    """Settings of an empty home that shares nothing but the models' files."""
    models = settings.home_path / "models"
    if models.is_dir():
        (folder / "models").symlink_to(models)
    return settings.model_copy(update={"home": str(folder), "serving": None, "index_uri": None})


def _bring_descriptions(workspace: Workspace, scratch: Settings, article_id: str) -> str:
    """Copy the cached descriptions of the article's images; returns an image that the model would have to see again."""
    there = Layout.of(scratch)
    backend = ImageDescriptionsLayer(workspace).backend()
    for image in load_converted(there, article_id).images:
        path = workspace.layout.description_cache(key := fingerprint(image.sha256, backend))
        try:
            read_record(path, ImageDescription, ImageDescriptionsLayer.name)
        except KnowledgeBaseError:
            if _is_picture(workspace, article_id, image):
                return image.file
        else:
            copy_file(path, there.description_cache(key))
    return ""


def _is_picture(workspace: Workspace, article_id: str, image: ImageReference) -> bool:
    try:
        to_png(workspace.staging.read(article_id, image.file, image.sha256))
    except ImageError:
        return False  # no model ever saw it
    return True
