"""staged_article: an inventory of the article's staging folder, whose files are never copied or changed."""

from collections.abc import Mapping
from typing import ClassVar

from upath import UPath

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run, read_made
from kb_pipeline.records import Report, Scalar, StagedArticle, Table
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.main_file import format_of
from kb_pipeline.steps.metadata import METADATA_FILE
from kb_pipeline.steps.said_of_images import besides_images
from kb_pipeline.steps.serving_contract import SERVING
from kb_pipeline.store.files import parse_record, read_bytes, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.staging import content_hash
from kb_pipeline.store.state import ArticleState, LayerState

_INVENTORY = "inventory"


class StagedArticleLayer(Layer):
    """Names, sizes and hashes of the staged files. All other layers depend on the content hash of the inventory."""

    name: ClassVar[str] = "staged_article"
    upstream: ClassVar[tuple[str, ...]] = ()
    version: ClassVar[str] = "1"
    description: ClassVar[str] = (
        "The files that the authors put into the article's folder, each with its hash. It is observed, never "
        "written: when it changes, everything downstream is out of date."
    )
    observes: ClassVar[bool] = True

    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        return {_INVENTORY: self.layout.staged(state.article_id)}

    def report(self, state: ArticleState) -> Report:
        return _report(load_staged(self.layout, state.article_id))

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        staged = self.workspace.staging.inventory(state.article_id)
        data = staged.model_dump_json(indent=1, exclude_defaults=True).encode()
        path = self.layout.staged(state.article_id)
        if not path.is_file() or read_bytes(path) != data:
            write_bytes(path, data)
        kind = SERVING if self.workspace.staging.made_elsewhere else format_of(staged.main)
        made_of = "" if kind == "html" else kind
        files = {_INVENTORY: sha256(data)}
        return LayerOutput(
            staged.content_hash, _report(staged), files=files, format=made_of, text_hash=self._text_hash(staged)
        )

    def _text_hash(self, staged: StagedArticle) -> str:
        """The hash of what is staged besides what the author says of pictures; correcting that converts nothing."""
        metadata = next((file for file in staged.files if file.name == METADATA_FILE), None)
        if metadata is None or self.workspace.staging.made_elsewhere:
            return ""
        rest = besides_images(self.workspace.staging.read(staged.article_id, METADATA_FILE, metadata.sha256))
        others = [file for file in staged.files if file is not metadata]
        return content_hash([*others, metadata.model_copy(update={"sha256": fingerprint(rest)})] if rest else others)


def _report(staged: StagedArticle) -> Report:
    rows: tuple[dict[str, Scalar], ...] = tuple(
        {"file": file.name, "bytes": file.size, "sha256": file.sha256[:12]} for file in staged.files[:50]
    )
    return {
        "main_file": staged.main,
        "files": len(staged.files),
        "bytes": sum(file.size for file in staged.files),
        "inventory": Table(rows=rows),
    }


def load_staged(layout: Layout, article_id: str, made: LayerState | None = None) -> StagedArticle:
    """Load the inventory that :class:`StagedArticleLayer` wrote; ``made`` is the state to check it against.

    Raises:
        DamagedLayerError: it is not as it was written.
    """
    path, layer = layout.staged(article_id), StagedArticleLayer.name
    staged = parse_record(path, read_made(path, layer, made, _INVENTORY), StagedArticle, layer)
    if staged.article_id != article_id or staged.content_hash != content_hash(staged.files):
        raise DamagedLayerError(layer, path)
    return staged
