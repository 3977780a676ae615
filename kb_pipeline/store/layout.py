"""The layout of the home and serving folders: the paths of an article's files, by article id and layer."""

import re
from dataclasses import dataclass

from upath import UPath

from kb_pipeline.errors import UnknownVersionError
from kb_pipeline.settings import Settings
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.store.place import remote_path

DESCRIPTIONS, CONVERSIONS, PREVIEWED = "descriptions/by-content", "conversions", "previewed"
"""Folders of the results of paid services."""
_VERSION = re.compile("[0-9a-f]{16}")


def is_version(name: str) -> bool:
    """Whether this is the id of a version."""
    return _VERSION.fullmatch(name) is not None


@dataclass(frozen=True)
class Layout:
    """Paths in the home and serving folders. Ids are validated before they become part of a path."""

    home: UPath
    serving_root: UPath

    @classmethod
    def of(cls, settings: Settings) -> "Layout":
        """The layout for these settings."""
        home = UPath(settings.home)
        serving = remote_path(settings.serving, "serving", settings) if settings.serving else home / "serving"
        return cls(home, serving)

    def state(self, article_id: str) -> UPath:
        """The article's state."""
        return self.home / f"state/{check_article_id(article_id)}.json"

    def reports(self, article_id: str) -> UPath:
        """Reports of the article's layers."""
        return self.home / f"reports/{check_article_id(article_id)}.json"

    def access(self, article_id: str) -> UPath:
        """The article's newest access list."""
        return self.home / f"access/{check_article_id(article_id)}.json"

    def pending_access(self, article_id: str) -> UPath:
        """The article's newest access list, while entries of an index may still carry an older one."""
        return self.home / f"access/pending/{check_article_id(article_id)}.json"

    def staged(self, article_id: str) -> UPath:
        """Inventory of the staging folder."""
        return self.home / f"staged/{check_article_id(article_id)}.json"

    def converted(self, article_id: str) -> UPath:
        """Folder of ``article.md`` (with image markers) and ``conversion.json``."""
        return self.home / f"converted/{check_article_id(article_id)}"

    def conversion(self, article_id: str) -> UPath:
        """The conversion of the article's HTML by a paid service."""
        return self.home / f"{CONVERSIONS}/{check_article_id(article_id)}.json"

    def previewed(self, article_id: str) -> UPath:
        """Folder of what services made of the article for previews, as long as no run has taken it over."""
        return self.home / f"{PREVIEWED}/{check_article_id(article_id)}"

    def descriptions(self, article_id: str) -> UPath:
        """Descriptions of the article's images."""
        return self.home / f"descriptions/by-article/{check_article_id(article_id)}.json"

    def summary(self, article_id: str) -> UPath:
        """The article's entry in the list of documents: its summary and facts."""
        return self.home / f"summaries/{check_article_id(article_id)}.json"

    def description_cache(self, key: str) -> UPath:
        """A cached description, by the fingerprint of the image and the model."""
        return self.home / f"{DESCRIPTIONS}/{key[:2]}/{key}.json"

    def page_text(self, key: str) -> UPath:
        """The text that OCR read on the picture of a page, by the fingerprint of the picture and the model."""
        return self.home / f"descriptions/by-page/{key[:2]}/{key}.json"

    def transcript(self, key: str) -> UPath:
        """What is said in a recording, by the fingerprint of the recording and the model."""
        return self.home / f"descriptions/by-recording/{key[:2]}/{key}.json"

    def serving(self, article_id: str) -> UPath:
        """Folder of the published version: ``article.md``, ``images/``, ``document/`` and ``manifest.json``."""
        return self.serving_root / check_article_id(article_id)

    def versions(self, article_id: str) -> UPath:
        """Folder of the article's versions, one folder each, and of the ``images`` and ``documents`` they share."""
        return self.home / f"versions/{check_article_id(article_id)}"

    def version(self, article_id: str, version: str) -> UPath:
        """Folder of ``article.md``, ``manifest.json``, ``chunks.jsonl`` and vectors of one version."""
        if not is_version(version):
            raise UnknownVersionError(
                f"{article_id}: {version!r} is not a version; kb versions {article_id} lists them"
            )
        return self.home / f"versions/{check_article_id(article_id)}/{version}"

    def version_image(self, article_id: str, sha256: str) -> UPath:
        """An image of the article's versions, named by the SHA-256 of the PNG file."""
        return self.home / f"versions/{check_article_id(article_id)}/images/{sha256}.png"

    def version_document(self, article_id: str, sha256: str) -> UPath:
        """The document that versions of the article were made from, or its lines, named by the SHA-256 of the file."""
        return self.home / f"versions/{check_article_id(article_id)}/documents/{sha256}"

    def chunks(self, article_id: str, version: str) -> UPath:
        """The version's chunks, one JSON object per line."""
        return self.version(article_id, version) / "chunks.jsonl"

    def vectors(self, article_id: str, version: str, model_id: str) -> UPath:
        """The vectors of the version's chunks by this model, as Parquet."""
        return self.version(article_id, version) / f"vectors-{fingerprint(model_id)[:12]}.parquet"
