"""Where each layer keeps an article's files: article id + layer -> path. Nothing else knows."""

from dataclasses import dataclass

from upath import UPath

from kb_pipeline.settings import Settings
from kb_pipeline.steps.article_ids import check_article_id


@dataclass(frozen=True)
class Layout:
    """Paths below the home folder; ids are validated before they become part of a path."""

    home: UPath
    serving_root: UPath

    @classmethod
    def of(cls, settings: Settings) -> "Layout":
        """The layout that the settings ask for."""
        home = UPath(settings.home)
        serving = UPath(settings.serving) if settings.serving else home / "serving"
        return cls(home, serving)

    def state(self, article_id: str) -> UPath:
        """What was made from what, for every layer of the article."""
        return self.home / "state" / f"{check_article_id(article_id)}.json"

    def staged(self, article_id: str) -> UPath:
        """Inventory of the staging folder."""
        return self.home / "staged" / f"{check_article_id(article_id)}.json"

    def converted(self, article_id: str) -> UPath:
        """Folder of ``article.md`` (with image markers) and ``conversion.json``."""
        return self.home / "converted" / check_article_id(article_id)

    def descriptions(self, article_id: str) -> UPath:
        """The article's images with their descriptions."""
        return self.home / "descriptions" / "by-article" / f"{check_article_id(article_id)}.json"

    def description_cache(self, key: str) -> UPath:
        """One description, by the content it was made from."""
        return self.home / "descriptions" / "by-content" / key[:2] / f"{key}.json"

    def serving(self, article_id: str) -> UPath:
        """Folder of ``article.md``, ``images/`` and ``manifest.json``: the contract."""
        return self.serving_root / check_article_id(article_id)

    def chunks(self, article_id: str) -> UPath:
        """The article's chunks, one JSON object per line."""
        return self.home / "chunks" / f"{check_article_id(article_id)}.jsonl"

    def embeddings(self, article_id: str) -> UPath:
        """The chunks' vectors, as Parquet."""
        return self.home / "embeddings" / f"{check_article_id(article_id)}.parquet"
