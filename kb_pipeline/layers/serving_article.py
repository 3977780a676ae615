"""serving_article: ``article.md``, images, ``manifest.json``, as a version of the article that may be published.

A version is named by its content and never changes. Images are written first and the manifest last, so a
manifest never names a file that is not there. Readers see a version once ``publication`` has put it in place.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from upath import UPath

from kb_pipeline.errors import DamagedLayerError, UnknownVersionError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.converted_markdown import load_converted
from kb_pipeline.layers.image_descriptions import load_descriptions
from kb_pipeline.layers.staged_article import load_staged
from kb_pipeline.layout import Layout
from kb_pipeline.records import (
    ArticleLink,
    ConvertedArticle,
    ImageDescription,
    ImageReference,
    Manifest,
    Provenance,
    ServedImage,
)
from kb_pipeline.report import Report, Table, preview
from kb_pipeline.staging import INDEX_FILE
from kb_pipeline.state import ArticleState, version_id
from kb_pipeline.steps.article_links import article_links
from kb_pipeline.steps.checks import check_serving
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.image_block import ImageBlock
from kb_pipeline.steps.images import to_png
from kb_pipeline.steps.markers import replace_markers
from kb_pipeline.steps.merge_images import merge_images
from kb_pipeline.storage import names_in, read_bytes, read_record, write_bytes


class ServingArticleLayer(Layer):
    """Markers become image blocks, images become PNG files, provenance becomes the manifest."""

    name: ClassVar[str] = "serving_article"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article", "converted_markdown", "image_descriptions")
    version: ClassVar[str] = "2"
    description: ClassVar[str] = "article.md with an image block at every image's place, its images, manifest.json."

    def exists(self, state: ArticleState) -> bool:
        return is_complete(self.layout, state.article_id, state.version)

    def inputs(self, state: ArticleState, run: Run) -> dict[str, str]:
        """Also the links' targets: they depend on which other articles are staged. Or the version that was put back."""
        if state.pinned_version:
            return {"version": state.pinned_version}
        upstream = super().inputs(state, run)
        links = self._article_links(load_converted(self.layout, state.article_id), run)
        return {**upstream, "article_links": fingerprint([link.model_dump() for link in links])}

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        if "version" in inputs:
            return self._put_back(state.article_id, inputs["version"])
        article_id = state.article_id
        converted = load_converted(self.layout, article_id)
        described = load_descriptions(self.layout, article_id)
        shown = [image for image in converted.images if image.file in described.descriptions]
        images = [self._write_image(article_id, image, described.descriptions[image.file]) for image in shown]
        blocks = {image.file: _block(image, described.descriptions[image.file]) for image in shown}
        # a picture that turned out to be unreadable leaves the words that stand for it
        unreadable = {image.file: image.alt for image in converted.images if image.file not in blocks}
        merged = merge_images(replace_markers(converted.markdown, unreadable), blocks)
        manifest = self._manifest(converted, images, inputs["staged_article"], run).model_copy(
            update={
                "unplaced_images": converted.unplaced_images + len(merged.unplaced),
                "warnings": (*converted.warnings, *(problem.problem for problem in described.problems)),
            }
        )
        content_hash = _content_hash(merged.markdown, manifest)
        self._write(article_id, version_id(content_hash), merged.markdown, manifest)
        checks = check_serving(converted, described, merged.markdown, manifest)
        return Made(content_hash, _report(merged.markdown, manifest), checks)

    def _put_back(self, article_id: str, version: str) -> Made:
        if not is_complete(self.layout, article_id, version):
            raise UnknownVersionError(
                f"{article_id}: version {version} is gone; choose another one or release it: kb rollback --release"
            )
        folder = self.layout.version(article_id, version)
        markdown, manifest = read_bytes(folder / "article.md").decode(), load_manifest(folder)
        report = {**_report(markdown, manifest), "put_back": f"version {version} of {manifest.provenance.created_at}"}
        return Made(_content_hash(markdown, manifest), report)

    def _write_image(self, article_id: str, image: ImageReference, description: ImageDescription) -> ServedImage:
        png = to_png(self.workspace.staging.read(article_id, image.file, image.sha256))
        path = f"images/{image.stem}.png"
        digest = sha256(png.data)
        target = self.layout.version_image(article_id, digest)
        if not target.is_file():
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
            description=description,
        )

    def _manifest(
        self, converted: ConvertedArticle, images: Sequence[ServedImage], content_hash: str, run: Run
    ) -> Manifest:
        analyzer = self.workspace.analyzer
        files = {file.name: file.sha256 for file in load_staged(self.layout, converted.article_id).files}
        shared = converted.model_dump(
            include={"article_id", "title", "source_url", "language", "key_topics", "access_control_list"}
        )
        return Manifest(
            **shared,
            images=tuple(images),
            article_links=self._article_links(converted, run),
            counts=converted.counts,
            decorative_images=converted.decorative_images,
            unplaced_images=converted.unplaced_images,
            warnings=converted.warnings,
            provenance=Provenance(
                content_hash=content_hash,
                source_file=INDEX_FILE,
                source_sha256=files[INDEX_FILE],
                converter=converted.converter,
                image_model=analyzer.image_model,
                prompt_version=analyzer.prompt_version,
                run_id=run.id,
                created_at=run.started_at,
            ),
        )

    def _article_links(self, converted: ConvertedArticle, run: Run) -> tuple[ArticleLink, ...]:
        return article_links(converted.links, converted.article_id, self.workspace.link_index(run.id))

    def _write(self, article_id: str, version: str, markdown: str, manifest: Manifest) -> None:
        # the same content keeps the provenance of the run that made it first
        if not is_complete(self.layout, article_id, version):
            folder = self.layout.version(article_id, version)
            write_bytes(folder / "article.md", markdown.encode())
            write_bytes(folder / "manifest.json", manifest.model_dump_json(indent=1).encode())


def is_complete(layout: Layout, article_id: str, version: str) -> bool:
    """Whether a version is there as it was made (somebody may have changed or removed files by hand)."""
    if not version:
        return False
    folder = layout.version(article_id, version)
    if not {"manifest.json", "article.md"} <= names_in(folder):
        return False
    try:
        manifest = load_manifest(folder)
        text = read_bytes(folder / "article.md").decode()
    except (DamagedLayerError, UnicodeDecodeError):
        return False
    images = {f"{image.sha256}.png" for image in manifest.images}
    there = names_in(layout.versions(article_id) / "images") if images else set()
    return images <= there and version_id(_content_hash(text, manifest)) == version


def _block(image: ImageReference, description: ImageDescription) -> ImageBlock:
    return ImageBlock(stem=image.stem, **description.model_dump())


def _content_hash(markdown: str, manifest: Manifest) -> str:
    # who made it and when is no content: the same article made again is the same article
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
        "warnings": Table(rows=tuple({"warning": warning} for warning in manifest.warnings)),
        "source_url": manifest.source_url or "",
    }


def load_manifest(folder: UPath) -> Manifest:
    """The manifest in the folder of a version, or of the published article."""
    return read_record(folder / "manifest.json", Manifest, ServingArticleLayer.name)
