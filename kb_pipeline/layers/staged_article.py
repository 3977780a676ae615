"""staged_article: what lies in the staging folder. Observed, never copied or changed."""

from collections.abc import Mapping
from typing import ClassVar

from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layout import Layout
from kb_pipeline.records import StagedArticle
from kb_pipeline.report import Table
from kb_pipeline.state import ArticleState
from kb_pipeline.storage import read_bytes, read_record, write_bytes


class StagedArticleLayer(Layer):
    """Inventory of names, sizes and hashes; the content hash is what everything else depends on."""

    name: ClassVar[str] = "staged_article"
    upstream: ClassVar[tuple[str, ...]] = ()
    version: ClassVar[str] = "1"
    description: ClassVar[str] = "What the authors put into the article's folder: every file with its hash."
    observes: ClassVar[bool] = True

    def exists(self, state: ArticleState) -> bool:
        return False  # the only way to know whether the authors changed something is to look

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        staged = self.workspace.staging.inventory(state.article_id)
        data = staged.model_dump_json(indent=1).encode()
        path = self.layout.staged(state.article_id)
        if not path.is_file() or read_bytes(path) != data:
            write_bytes(path, data)
        return Made(
            staged.content_hash,
            {
                "files": len(staged.files),
                "bytes": sum(file.size for file in staged.files),
                "inventory": Table(
                    rows=tuple({"file": f.name, "bytes": f.size, "sha256": f.sha256[:12]} for f in staged.files[:50])
                ),
            },
        )


def load_staged(layout: Layout, article_id: str) -> StagedArticle:
    """The inventory that :class:`StagedArticleLayer` wrote."""
    return read_record(layout.staged(article_id), StagedArticle, StagedArticleLayer.name)
