"""Backends for tests: real ones, with one thing wrong or counted."""

import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar, TypeVar

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.models.openai_vision import own_image_prompt, prompt_version
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo, Usage
from kb_pipeline.services.usage import record_usage
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.images import flatten
from kb_pipeline.workers.base import Outcome, Workers

T = TypeVar("T")


class WorkersHere(Workers):
    """Does everything in the calling process, one after the other: quick to start, and open to monkeypatches."""

    def __init__(self, _settings: Settings) -> None:
        import lancedb  # noqa: F401  (libraries of building and of the index are else loaded by two threads)

    def arrivals(
        self, function: Callable[[str], T], items: Iterable[str], patience: float = math.inf
    ) -> Iterator[list[Outcome[T]]]:
        for item in dict.fromkeys(items):
            yield [(item, function(item))]

    def call(self, function: Callable[[], T]) -> T:
        return function()


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

    def __init__(self, _settings: Settings) -> None:
        super().__init__()


class PaidAnalyzer(LocalAnalyzer):
    """Its images are described by a service that bills each call, and is busy as often as ``refusals`` has errors.

    Every call it delivers becomes a line of the file that ``PAID_LEDGER`` names.
    """

    image_model = "paid-vision-1"
    prompt_version = "1"
    refusals: ClassVar[list[Exception]] = []

    def describe(self, png: bytes) -> ImageDescription:
        if self.refusals:
            raise self.refusals.pop(0)
        image = sha256(png)
        with Path(os.environ["PAID_LEDGER"]).open("a") as ledger:
            ledger.write(f"{image}\n")
        record_usage(Usage(model="paid-vision-1-2026", calls=1, input_tokens=1000, output_tokens=200))
        return ImageDescription(description=f"A picture that begins with {image[:8]}.")


class PromptedAnalyzer(PaidAnalyzer):
    """Describes images as a prompt of one's own asks: it repeats the prompt."""

    takes_prompt = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._prompt = own_image_prompt(settings)
        self.prompt_version = prompt_version("1", self._prompt)

    def describe(self, png: bytes) -> ImageDescription:
        described = super().describe(png)
        return described.model_copy(update={"description": f"{self._prompt or 'As ever.'} {described.description}"})


class LossyAnalyzer(PaidAnalyzer):
    """Loses every table, and every image whose file is called lost."""

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        article = super().convert(article_id, html, images)
        rows = [line for line in article.markdown.splitlines(keepends=True) if not line.startswith("|")]
        return article.model_copy(update={"markdown": "".join(rows).replace("[[IMG:lost.image]]", "")})


class GlancingAnalyzer(LocalAnalyzer):
    """Reads the text of small images only, for tests that ask for no text of screenshots, which take seconds each."""

    def describe(self, png: bytes) -> ImageDescription:
        image = flatten(png)
        if image.width * image.height <= 160 * 80:
            return super().describe(png)
        return ImageDescription(description=f"A screenshot that begins with {sha256(png)[:8]}.")


class SlowPaidAnalyzer(PaidAnalyzer):
    """Takes its time, so that several wait for the same image."""

    def describe(self, png: bytes) -> ImageDescription:
        time.sleep(0.2)
        return super().describe(png)
