"""Articles that change while a service reads them."""

import json
import shutil
from pathlib import Path

from kb_pipeline.flow.agreement import compare_published
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_states
from kb_pipeline.upkeep.remove import remove_all

_RUN = Run("22222222-2222-3333-4444-555555555555", "2026-02-02T00:00:00+00:00")


class Author:
    """Rewrites the articles of a knowledge base that may be written to, in a copy of its staging folder."""

    def __init__(self, own: Settings, staging: Path) -> None:
        shutil.copytree(own.staging, staging)
        self.settings = own.model_copy(update={"staging": str(staging)})

    def replaces(self, article_id: str, old: str, new: str, *, fails: bool = False) -> None:
        """Replace words of an article, which must be there; ``fails``: it cannot be published with the new ones."""
        page = Path(self.settings.staging) / article_id / "index.html"
        html = page.read_text()
        assert old in html
        page.write_text(html.replace(old, new))
        self.publishes(article_id, fails=fails)

    def restricts(self, article_id: str, *readers: str) -> None:
        """Let only these users and groups read an article."""
        names = ", ".join(f'"{reader}"' for reader in readers)
        metadata = Path(self.settings.staging) / article_id / "metadata.json"
        metadata.write_text(f'{{"access_control_list": [{names}]}}')
        self.publishes(article_id)

    def adds(self, article_id: str, html: str, *readers: str) -> None:
        """Publish a new article, for these users and groups."""
        folder = Path(self.settings.staging) / article_id
        folder.mkdir()
        (folder / "index.html").write_text(html)
        self.restricts(article_id, *readers)

    def adds_failing(self, article_id: str, html: str, *readers: str) -> None:
        """Stage a new article that cannot be published, for these users and groups."""
        folder = Path(self.settings.staging) / article_id
        folder.mkdir()
        (folder / "index.html").write_text(html)
        (folder / "metadata.json").write_text(json.dumps({"access_control_list": readers}))
        self.publishes(article_id, fails=True)

    def removes(self, article_id: str) -> None:
        shutil.rmtree(Path(self.settings.staging) / article_id)
        remove_all(open_workspace(self.settings), [article_id])
        self._compares()

    def publishes(self, article_id: str, *, fails: bool = False) -> None:
        """Have an article ingested as it is staged."""
        [result] = publish(
            open_workspace(self.settings),
            [build_article(self.settings, article_id, LAYER_NAMES, _RUN)],
            LAYER_NAMES,
            _RUN,
        )
        assert (result.error is not None) == fails
        self._compares()

    def _compares(self) -> None:
        """Compare what the articles state, as the end of a run does."""
        workspace = open_workspace(self.settings)
        compare_published(workspace, load_states(workspace.layout), _RUN.id)
