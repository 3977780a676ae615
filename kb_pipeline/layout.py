"""Where each layer keeps an article's files: article id + layer -> path. Nothing else knows."""

import re
from dataclasses import dataclass

from upath import UPath

from kb_pipeline.blob import remote_path
from kb_pipeline.errors import UnknownVersionError
from kb_pipeline.settings import Settings
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import fingerprint

_VERSION = re.compile("[0-9a-f]{16}")


def is_version(name: str) -> bool:
    """Whether a version can have this name."""
    return _VERSION.fullmatch(name) is not None


@dataclass(frozen=True)
class Layout:
    """Paths below the home folder; ids are validated before they become part of a path."""

    home: UPath
    serving_root: UPath

    @classmethod
    def of(cls, settings: Settings) -> "Layout":
        """The layout that the settings ask for."""
        home = UPath(settings.home)
        serving = remote_path(settings.serving, "serving", settings) if settings.serving else home / "serving"
        return cls(home, serving)

    def state(self, article_id: str) -> UPath:
        """What was made from what, for every layer of the article."""
        return self.home.joinpath("state", f"{check_article_id(article_id)}.json")

    def reports(self, article_id: str) -> UPath:
        """What the layers told people when they were made."""
        return self.home.joinpath("reports", f"{check_article_id(article_id)}.json")

    def staged(self, article_id: str) -> UPath:
        """Inventory of the staging folder."""
        return self.home.joinpath("staged", f"{check_article_id(article_id)}.json")

    def converted(self, article_id: str) -> UPath:
        """Folder of ``article.md`` (with image markers) and ``conversion.json``."""
        return self.home.joinpath("converted", check_article_id(article_id))

    def descriptions(self, article_id: str) -> UPath:
        """The article's images with their descriptions."""
        return self.home.joinpath("descriptions", "by-article", f"{check_article_id(article_id)}.json")

    def description_cache(self, key: str) -> UPath:
        """One description, by the content it was made from."""
        return self.home.joinpath("descriptions", "by-content", key[:2], f"{key}.json")

    def serving(self, article_id: str) -> UPath:
        """Folder of ``article.md``, ``images/`` and ``manifest.json``: the published version, the contract."""
        return self.serving_root / check_article_id(article_id)

    def versions(self, article_id: str) -> UPath:
        """Folder of the article's versions, each in a folder of its own, and of ``images`` that they share."""
        return self.home.joinpath("versions", check_article_id(article_id))

    def version(self, article_id: str, version: str) -> UPath:
        """Folder of ``article.md``, ``manifest.json``, ``chunks.jsonl`` and vectors of one version."""
        if not is_version(version):
            raise UnknownVersionError(f"{article_id}: {version!r} is no version; kb versions {article_id} lists them")
        return self.versions(article_id) / version

    def version_image(self, article_id: str, sha256: str) -> UPath:
        """An image of the article's versions, by the hash of its PNG file."""
        return self.versions(article_id) / "images" / f"{sha256}.png"

    def chunks(self, article_id: str, version: str) -> UPath:
        """The version's chunks, one JSON object per line."""
        return self.version(article_id, version) / "chunks.jsonl"

    def vectors(self, article_id: str, version: str, model_id: str) -> UPath:
        """The chunks' vectors by that model, as Parquet."""
        return self.version(article_id, version) / f"vectors-{fingerprint(model_id)[:12]}.parquet"
