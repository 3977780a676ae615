"""image_descriptions: what each content image shows. One call per distinct image, ever."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import ValidationError
from upath import UPath

from kb_pipeline.errors import ImageError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.converted_markdown import load_converted
from kb_pipeline.layout import Layout
from kb_pipeline.metering import timed_use
from kb_pipeline.records import DescribedImages, ImageDescription, ImageProblem, ImageReference
from kb_pipeline.report import Report, Table
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.describe import CONTEXT_VERSION, in_context
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.images import to_png
from kb_pipeline.storage import read_bytes, read_record, write_bytes


class ImageDescriptionsLayer(Layer):
    """Descriptions from the pixels, cached by content, then put into the article's context."""

    name: ClassVar[str] = "image_descriptions"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article", "converted_markdown")
    version: ClassVar[str] = f"1/{CONTEXT_VERSION}"
    description: ClassVar[str] = "Description, UI elements and navigation path of every content image."

    def backend(self) -> str:
        analyzer = self.workspace.analyzer
        return f"{analyzer.image_model}/{analyzer.prompt_version}"

    def pool(self) -> str:
        return self.workspace.analyzer.describe_pool

    def is_needed(self, state: ArticleState) -> bool:
        return not state.pinned_version

    def exists(self, state: ArticleState) -> bool:
        return self.layout.descriptions(state.article_id).is_file()

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        article_id = state.article_id
        descriptions: dict[str, ImageDescription] = {}
        problems: list[ImageProblem] = []
        new = 0
        for image in load_converted(self.layout, article_id).images:
            try:
                seen, is_new = self._describe(article_id, image)
            except ImageError as exc:
                problems.append(ImageProblem(file=image.file, problem=f"{image.file}: {exc}"))
                continue
            new += is_new
            descriptions[image.file] = in_context(seen, image)
        described = DescribedImages(descriptions=descriptions, problems=tuple(problems))
        data = described.model_dump_json(indent=1).encode()
        write_bytes(self.layout.descriptions(article_id), data)
        return Made(sha256(data), _report(described, new))

    def _describe(self, article_id: str, image: ImageReference) -> tuple[ImageDescription, bool]:
        """The image's description, and whether it had to be made."""
        key = fingerprint(image.sha256, self.backend())
        path = self.layout.description_cache(key)
        if known := _cached(path):
            return known, False
        with self.workspace.image_locks.hold([key]):
            if known := _cached(path):  # another article shows the same image and was faster
                return known, False
            png = to_png(self.workspace.staging.read(article_id, image.file, image.sha256))
            with timed_use(self.workspace.analyzer.image_model):
                description = self.workspace.analyzer.describe(png.data)
            write_bytes(path, description.model_dump_json().encode())
        return description, True


def _cached(path: UPath) -> ImageDescription | None:
    if not path.is_file():
        return None
    try:
        return ImageDescription.model_validate_json(read_bytes(path))
    except ValidationError:
        return None  # a damaged entry is made again


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


def load_descriptions(layout: Layout, article_id: str) -> DescribedImages:
    """The descriptions that :class:`ImageDescriptionsLayer` wrote."""
    return read_record(layout.descriptions(article_id), DescribedImages, ImageDescriptionsLayer.name)
