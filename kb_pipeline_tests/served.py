"""What readers see of an article, for comparing before and after."""

from pathlib import Path

from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, load_state


def serving_files(settings: Settings, article_id: str) -> dict[str, bytes]:
    """Every file of the serving folder, by its path below it."""
    folder = Path(Layout.of(settings).serving(article_id))
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def article_text(settings: Settings, article_id: str) -> str:
    return (Layout.of(settings).serving(article_id) / "article.md").read_text()


def index_rows(settings: Settings) -> list[dict[str, object]]:
    """Every row of the live index, vectors included."""
    import lancedb

    live = Workspace(settings).reader().generation
    table = lancedb.connect(str(Path(settings.home) / "index")).open_table(f"kb-articles-{live.id}")
    return sorted(table.to_arrow().to_pylist(), key=lambda row: row["id"])


def before_readers(settings: Settings, article_id: str) -> tuple[dict[str, bytes], list[dict[str, object]]]:
    """Serving files and index, byte for byte."""
    return serving_files(settings, article_id), index_rows(settings)


def state_of(settings: Settings, article_id: str) -> ArticleState:
    return load_state(Layout.of(settings), article_id)


def assert_consistent(settings: Settings, article_id: str) -> None:
    """Serving files and index are exactly the version that the state calls published."""
    layout, published = Layout.of(settings), state_of(settings, article_id).published_version
    assert published is not None
    files, version = serving_files(settings, article_id), layout.version(article_id, published)
    for name in ("article.md", "manifest.json"):
        assert files.pop(name) == (version / name).read_bytes()
    wanted = {image.path: image.sha256 for image in load_manifest(version).images}
    assert {path: sha256(data) for path, data in files.items()} == wanted
    chunks = {chunk.id: chunk.content_hash for chunk in load_chunks(layout, article_id, published)}
    assert Workspace(settings).reader().index.entries([article_id]).get(article_id, {}) == chunks
