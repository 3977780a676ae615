"""serving_article: ``article.md``, images and ``manifest.json``, a version of the article that can be published.

The version of a document has the original file, too. A version is named by its content and never changes. Images are
written first and the manifest last, so that a manifest never names a missing file. Readers see a version once
:mod:`kb_pipeline.flow.publish` has put it in place.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from upath import UPath

from kb_pipeline.errors import DamagedLayerError, UnknownVersionError
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run
from kb_pipeline.flow.layers.converted_markdown import (
    ConvertedMarkdownLayer,
    load_converted,
    load_ocr_lines,
    pages_report,
    read_image,
)
from kb_pipeline.flow.layers.image_descriptions import ImageDescriptionsLayer, load_descriptions
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer, load_staged
from kb_pipeline.limited import doing
from kb_pipeline.records import (
    ArticleLink,
    ConvertedArticle,
    DescribedImages,
    ImageReference,
    Manifest,
    Provenance,
    Report,
    ServedDocument,
    ServedImage,
    Table,
    preview,
)
from kb_pipeline.sources import source_of
from kb_pipeline.steps.article_links import article_links
from kb_pipeline.steps.checks import images_are_accounted_for
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.formats import media_type_of
from kb_pipeline.steps.markers import ImageBlock, replace_markers
from kb_pipeline.steps.merge_images import merge_images
from kb_pipeline.steps.pages import marks_to_comments
from kb_pipeline.steps.serving_contract import SERVING
from kb_pipeline.store.files import is_file_of, read_bytes, read_record, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, version_id

TEXTS = ("article.md", "manifest.json")
"""The files of a version that are its own, in the order in which they are written."""
OCR_LINES = "document/ocr-lines.json"
"""Where a version has the lines of its scanned pages; the original beside it is never JSON."""
_ORIGINAL_VERSION = "1"
"""Increase it if another file than the staged one is to be served as the original of a document."""


class ServingArticleLayer(Layer):
    """Replaces markers by image blocks, converts images to PNG, and records the provenance in the manifest."""

    name: ClassVar[str] = "serving_article"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article", "converted_markdown", "image_descriptions")
    version: ClassVar[str] = "2"
    description: ClassVar[str] = (
        "What readers and the index get: `article.md` with each image in its place, the images as PNG, and "
        "`manifest.json` with hashes, versions and the run that made it."
    )

    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        folder = self.layout.version(state.article_id, state.version)
        return {name: folder / name for name in TEXTS}

    def report(self, state: ArticleState) -> Report:
        folder = self.layout.version(state.article_id, state.version)
        return _report(read_bytes(folder / "article.md").decode(), load_manifest(folder))

    def damaged_file(self, state: ArticleState) -> str:
        damaged = super().damaged_file(state)
        return damaged or next(map(str, damaged_files(self.layout, state.article_id, state.version)), "")

    def inputs(self, state: ArticleState, run: Run) -> dict[str, str]:
        if state.pinned_version:
            return {"version": state.pinned_version}
        upstream = super().inputs(state, run)
        # the targets of links depend on which other articles are staged
        converted = load_converted(self.layout, state.article_id, state.layers[ConvertedMarkdownLayer.name])
        links = self._article_links(converted, run)
        inputs = {**upstream, "article_links": fingerprint([link.model_dump() for link in links])}
        # the layer's own version would make the pages again, too
        return {**inputs, "original": _ORIGINAL_VERSION} if self._has_original(state) else inputs

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        if "version" in inputs:
            return self._put_back(state, inputs["version"])
        article_id = state.article_id
        converted = load_converted(self.layout, article_id, state.layers.get(ConvertedMarkdownLayer.name))
        described = load_descriptions(self.layout, article_id, state.layers.get(ImageDescriptionsLayer.name))
        shown = [image for image in converted.images if image.file in described.descriptions]
        images = [self._write_image(article_id, image, described) for image in shown]
        blocks = {
            image.file: ImageBlock(stem=image.stem, **described.descriptions[image.file].model_dump())
            for image in shown
        }
        # an unreadable image is replaced by its alternative text, for settings in which its check only warns
        unreadable = {image.file: image.alt for image in converted.images if image.file not in blocks}
        merged = merge_images(replace_markers(converted.markdown, unreadable), blocks)
        manifest = self._manifest(converted, images, inputs["staged_article"], run).model_copy(
            update={
                "document": self._write_original(state, converted) if self._has_original(state) else None,
                "unplaced_images": converted.unplaced_images + len(merged.unplaced),
                "warnings": (
                    *converted.warnings,
                    *described.warnings,
                    *(problem.problem for problem in described.problems),
                ),
            }
        )
        markdown = marks_to_comments(merged.markdown) if manifest.pages else merged.markdown
        content_hash = _content_hash(markdown, manifest)
        files = self._write(state, version_id(content_hash), markdown, manifest)
        check = images_are_accounted_for(converted, described, merged.markdown, manifest)
        return LayerOutput(content_hash, _report(markdown, manifest), (check,), files)

    def _has_original(self, state: ArticleState) -> bool:
        """Whether the article was staged as a document, which readers can open."""
        file_format = state.layers[StagedArticleLayer.name].format
        if file_format in ("", SERVING):
            return False
        return not (self.workspace.settings.mask_addresses and source_of(file_format).names_people)

    def _put_back(self, state: ArticleState, version: str) -> LayerOutput:
        article_id = state.article_id
        if not is_complete(self.layout, article_id, version, version_files(state, version)):
            raise UnknownVersionError(
                f"{article_id}: version {version} is gone; choose another one or release it: kb rollback --release"
            )
        folder = self.layout.version(article_id, version)
        contents = {name: read_bytes(folder / name) for name in TEXTS}
        markdown, manifest = contents["article.md"].decode(), load_manifest(folder)
        report = {**_report(markdown, manifest), "put_back": f"version {version} of {manifest.provenance.created_at}"}
        files = {name: sha256(data) for name, data in contents.items()}
        return LayerOutput(_content_hash(markdown, manifest), report, files=files)

    def _write_image(self, article_id: str, image: ImageReference, described: DescribedImages) -> ServedImage:
        doing(f"converting {image.file}")
        png = self.workspace.images.to_png(read_image(self.workspace, article_id, image))
        path = f"images/{image.stem}.png"
        digest = sha256(png.data)
        target = self.layout.version_image(article_id, digest)
        if not is_file_of(target, digest):
            write_bytes(target, png.data)
        return ServedImage(
            path=path,
            source_file=image.file,
            source_sha256=image.sha256,
            sha256=digest,
            width=png.width,
            height=png.height,
            alt=image.alt,
            caption=image.caption,
            said=described.said.get(image.file, ""),
            description=described.descriptions[image.file],
        )

    def _write_original(self, state: ArticleState, converted: ConvertedArticle) -> ServedDocument:
        """Copy the document itself, which readers open, and the lines that OCR read on its scanned pages."""
        article_id = state.article_id
        if converted.ocr_lines:
            lines = load_ocr_lines(self.layout, article_id, state.layers.get(ConvertedMarkdownLayer.name))
            kept = self.layout.version_document(article_id, converted.ocr_lines)
            if not is_file_of(kept, converted.ocr_lines):
                write_bytes(kept, lines)
        staged = load_staged(self.layout, article_id)
        digest = next(file.sha256 for file in staged.files if file.name == staged.main)
        target = self.layout.version_document(article_id, digest)
        doing(f"copying {staged.main}")
        data = self.workspace.staging.read(article_id, staged.main, digest)
        if not is_file_of(target, digest):
            write_bytes(target, data)
        return ServedDocument(
            path=f"document/{staged.main}",
            sha256=digest,
            size=len(data),
            media_type=media_type_of(staged.main),
            ocr_lines=converted.ocr_lines,
        )

    def _manifest(
        self, converted: ConvertedArticle, images: Sequence[ServedImage], content_hash: str, run: Run
    ) -> Manifest:
        staged = load_staged(self.layout, converted.article_id)
        files = {file.name: file.sha256 for file in staged.files}
        shared = converted.model_dump(
            include={"article_id", "title", "source_url", "language", "key_topics", "access_control_list"}
        )
        return Manifest(
            **shared,
            pages=converted.pages,
            facts=converted.facts,
            images=tuple(images),
            article_links=self._article_links(converted, run),
            counts=converted.counts,
            decorative_images=converted.decorative_images,
            unplaced_images=converted.unplaced_images,
            warnings=converted.warnings,
            provenance=Provenance(
                content_hash=content_hash,
                source_file=staged.main,
                source_sha256=files[staged.main],
                converter=converted.converter,
                image_model=self.workspace.describer.name,
                prompt_version=self.workspace.describer.prompt_version,
                run_id=run.id,
                created_at=run.started_at,
            ),
        )

    def _article_links(self, converted: ConvertedArticle, run: Run) -> tuple[ArticleLink, ...]:
        return article_links(converted.links, converted.article_id, self.workspace.link_index(run.id))

    def _write(self, state: ArticleState, version: str, markdown: str, manifest: Manifest) -> Mapping[str, str]:
        """Write the version's texts and return their hashes."""
        folder = self.layout.version(state.article_id, version)
        if is_complete(self.layout, state.article_id, version, version_files(state, version)):
            # the same content was made before: keep the provenance of its first run
            return {name: sha256(read_bytes(folder / name)) for name in TEXTS}
        contents = {"article.md": markdown.encode(), "manifest.json": manifest.model_dump_json(indent=1).encode()}
        for name, data in contents.items():
            write_bytes(folder / name, data)
        return {name: sha256(data) for name, data in contents.items()}


def version_files(state: ArticleState, version: str) -> Mapping[str, str]:
    """The hashes of a version's files by name, as far as the article's state has them."""
    layers = [state.layers.get("search_index")] if version == state.published_version else []
    if version == state.version:
        layers += [state.layers.get(name) for name in (ServingArticleLayer.name, "chunks", "chunk_embeddings")]
    return {name: digest for layer in layers if layer for name, digest in layer.files.items()}


_UNKNOWN: Mapping[str, str] = MappingProxyType({})


def is_complete(layout: Layout, article_id: str, version: str, files: Mapping[str, str] = _UNKNOWN) -> bool:
    """Whether all files of a version are as they were made.

    ``files`` are recorded hashes of its files. Without them, a changed provenance in the manifest goes unnoticed.
    """
    return has_texts(layout, article_id, version, files) and not any(damaged_files(layout, article_id, version))


def has_texts(layout: Layout, article_id: str, version: str, files: Mapping[str, str] = _UNKNOWN) -> bool:
    """As :func:`is_complete`, without checking the images and the document."""
    if not version:
        return False
    folder = layout.version(article_id, version)
    if not all(is_file_of(folder / name, files.get(name)) for name in TEXTS):
        return False
    try:
        return version_id(content_hash_of(read_bytes(folder / "article.md"), load_manifest(folder))) == version
    except DamagedLayerError:
        return False


class SharedFile(NamedTuple):
    """A file that the versions of an article share: its path in the serving folder, its hash, and where it was made."""

    path: str
    sha256: str
    made: UPath


def shared_files(layout: Layout, manifest: Manifest) -> list[SharedFile]:
    """The files of a version besides its texts: its images, the document that it was made from, and what OCR read."""
    article_id, document = manifest.article_id, manifest.document
    images = [
        SharedFile(image.path, image.sha256, layout.version_image(article_id, image.sha256))
        for image in manifest.images
    ]
    if document is None:
        return images
    files = {document.path: document.sha256} | ({OCR_LINES: document.ocr_lines} if document.ocr_lines else {})
    return [
        *images,
        *(SharedFile(path, digest, layout.version_document(article_id, digest)) for path, digest in files.items()),
    ]


def damaged_files(layout: Layout, article_id: str, version: str) -> Iterator[UPath]:
    """The shared files of a version that are gone or damaged. Their names are hashes, so every version can be checked.

    Raises:
        KnowledgeBaseError: the version's manifest cannot be read.
    """
    shared = shared_files(layout, load_manifest(layout.version(article_id, version)))
    for path, digest in dict.fromkeys((file.made, file.sha256) for file in shared):
        if not is_file_of(path, digest):
            yield path


def content_hash_of(text: bytes, manifest: Manifest) -> str:
    """The output hash of a version with this ``article.md`` and manifest; the version's id is its beginning.

    Raises:
        DamagedLayerError: the text is not UTF-8.
    """
    try:
        return _content_hash(text.decode(), manifest)
    except UnicodeDecodeError as exc:
        raise DamagedLayerError(ServingArticleLayer.name, f"{manifest.article_id}: article.md") from exc


def _content_hash(markdown: str, manifest: Manifest) -> str:
    # without the provenance, so that the same article made by another run is the same version
    return fingerprint(markdown, manifest.model_dump(mode="json", exclude={"provenance", "warnings"}))


def _report(markdown: str, manifest: Manifest) -> Report:
    rows = tuple(
        {
            "image": image.path,
            "pixels": f"{image.width} x {image.height}",
            "description": image.description.description[:200],
        }
        for image in manifest.images[:50]
    )
    return {
        "title": manifest.title,
        "article": preview(markdown),
        "images": Table(rows=rows),
        "links_to_articles": len(manifest.article_links),
        "decorative_images": manifest.decorative_images,
        "unplaced_images": manifest.unplaced_images,
        **pages_report(manifest.pages),
        **({"document": manifest.document.path} if manifest.document else {}),
        "warnings": Table(rows=tuple({"warning": warning} for warning in manifest.warnings)),
        "source_url": manifest.source_url or "",
    }


def load_manifest(folder: UPath) -> Manifest:
    """Load the manifest from the folder of a version, or from a serving folder."""
    return read_record(folder / "manifest.json", Manifest, ServingArticleLayer.name)
