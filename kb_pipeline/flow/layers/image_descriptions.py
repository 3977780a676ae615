"""image_descriptions: a description of each content image. A model is called once for each distinct image."""

from collections.abc import Collection, Mapping
from typing import ClassVar

from upath import UPath

from kb_pipeline.errors import ImageError
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run, read_made
from kb_pipeline.flow.layers.converted_markdown import ConvertedMarkdownLayer, load_converted, read_image
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer, load_staged
from kb_pipeline.limited import doing, progressed
from kb_pipeline.records import DescribedImages, ImageDescription, ImageProblem, ImageReference, Report, Table
from kb_pipeline.services.usage import timed_use
from kb_pipeline.steps.describe import CONTEXT_VERSION, in_context
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.metadata import METADATA_FILE
from kb_pipeline.steps.said_of_images import SaidOfImages, read_said
from kb_pipeline.store.files import parse_record, write_bytes
from kb_pipeline.store.kept import DurableRecord
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, LayerState

_DESCRIPTIONS = "descriptions"


class ImageDescriptionsLayer(Layer):
    """Descriptions made from the pixels, cached by content, then adapted to the article's context."""

    name: ClassVar[str] = "image_descriptions"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article", "converted_markdown")
    version: ClassVar[str] = f"1/{CONTEXT_VERSION}"
    description: ClassVar[str] = (
        "What each screenshot shows: a description, its UI elements and the navigation path. An image is "
        "described once, however many articles show it."
    )

    def backend(self) -> str:
        # under other limits an image that was given up may be decoded
        return f"{self.describer()}{self.workspace.images.unusual_limits}"

    def describer(self) -> str:
        """The model and prompt version, a part of the key of cached descriptions."""
        return "/".join(self.workspace.describer)

    def pool(self) -> str:
        return "" if self.workspace.staging.made_elsewhere else self.workspace.analyzer.describe_pool

    def is_needed(self, state: ArticleState) -> bool:
        return not state.pinned_version

    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        return {_DESCRIPTIONS: self.layout.descriptions(state.article_id)}

    def report(self, state: ArticleState) -> Report:
        return _report(load_descriptions(self.layout, state.article_id), 0)

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        article_id = state.article_id
        descriptions: dict[str, ImageDescription] = {}
        problems: list[ImageProblem] = []
        new = 0
        converted = load_converted(self.layout, article_id, state.layers.get(ConvertedMarkdownLayer.name))
        said = self._said(state, [image.file for image in converted.images])
        for image in converted.images:
            doing(f"reading {image.file}")
            try:
                if image.file in converted.descriptions:
                    self.workspace.images.to_png(read_image(self.workspace, article_id, image))
                    descriptions[image.file] = converted.descriptions[image.file]
                    continue
                description, is_new = self._describe(article_id, image)
            except ImageError as exc:
                problems.append(ImageProblem(file=image.file, problem=f"{image.file}: {exc}", section=image.section))
                continue
            progressed()
            new += is_new
            descriptions[image.file] = in_context(description, image, said.sentences.get(image.file, ""))
        described = DescribedImages(
            descriptions=descriptions,
            problems=tuple(problems),
            said={file: said.sentences[file] for file in descriptions if file in said.sentences},
            warnings=said.warnings,
        )
        data = described.model_dump_json(indent=1).encode()
        write_bytes(self.layout.descriptions(article_id), data)
        return LayerOutput(sha256(data), _report(described, new), files={_DESCRIPTIONS: sha256(data)})

    def _said(self, state: ArticleState, files: Collection[str]) -> SaidOfImages:
        """What the author says of these pictures."""
        staged = load_staged(self.layout, state.article_id, state.layers.get(StagedArticleLayer.name))
        metadata = next((file for file in staged.files if file.name == METADATA_FILE), None)
        if metadata is None or self.workspace.staging.made_elsewhere:
            return SaidOfImages({}, ())
        return read_said(self.workspace.staging.read(state.article_id, METADATA_FILE, metadata.sha256), files)

    def _describe(self, article_id: str, image: ImageReference) -> tuple[ImageDescription, bool]:
        """The image's description, and whether the model was called for it."""
        key = fingerprint(image.sha256, self.describer())
        cache = kept_description(self.layout, key)
        cached = cache.read()
        if cached.value and not cached.damage:
            return cached.value, False
        with self.workspace.image_locks.hold([key]):
            if description := cache.read().value:  # damaged, or described for another article in the meantime
                if cached.damage:
                    cache.write(description.model_dump_json().encode(), durable=True)
                return description, False
            png = self.workspace.images.to_png(read_image(self.workspace, article_id, image))
            doing(f"describing {image.file}")
            with timed_use(self.workspace.analyzer.image_model):
                description = self.workspace.analyzer.describe(png.data)
            cache.write(description.model_dump_json().encode(), durable=True)
        return description, True


def kept_description(layout: Layout, key: str) -> DurableRecord[ImageDescription]:
    """The cached description of an image, shared by all articles that show it."""
    path = layout.description_cache(key)
    return DurableRecord(layout.home, str(path.relative_to(layout.home)), ImageDescription.model_validate_json)


def _report(described: DescribedImages, new: int) -> Report:
    rows = tuple(
        {
            "image": file,
            "description": image.description[:300],
            "ui_elements": ", ".join(image.ui_elements[:12]),
            "navigation": " > ".join(image.navigation_path),
        }
        for file, image in described.descriptions.items()
    )
    return {
        "images": len(described.descriptions),
        "newly_described": new,
        "from_cache": len(described.descriptions) - new,
        "unreadable": len(described.problems),
        "descriptions": Table(rows=rows[:50]),
    }


def load_descriptions(layout: Layout, article_id: str, made: LayerState | None = None) -> DescribedImages:
    """Load the descriptions that :class:`ImageDescriptionsLayer` wrote; ``made`` is the state to check them against.

    Raises:
        DamagedLayerError: the file is not as it was written.
    """
    path, layer = layout.descriptions(article_id), ImageDescriptionsLayer.name
    return parse_record(path, read_made(path, layer, made, _DESCRIPTIONS), DescribedImages, layer)
