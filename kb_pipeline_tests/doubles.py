"""Backends for tests: real ones, with one thing wrong or counted."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.records import ConvertedArticle, ImageInfo


class KillingAnalyzer(LocalAnalyzer):
    """Takes its whole process down at one article, as a crash in a native library would."""

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        if article_id == "killer":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().convert(article_id, html, images)


class RenamedAnalyzer(LocalAnalyzer):
    """An analyzer of somebody else, built on ours."""

    converter = "renamed-9"


class OtherEmbedder(HashingEmbedder):
    """Another model as far as the index is concerned."""

    model_id = "other"

    def __init__(self, _cache_dir: Path, _threads: int) -> None:
        super().__init__()
