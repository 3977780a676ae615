"""A fake of a paid service that gives every image the same description, after the latency of a network call."""

import time
from typing import ClassVar

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.records import ImageDescription

LATENCY_SECONDS = 0.4


class FakeServiceAnalyzer(LocalAnalyzer):
    """Converts as ``local`` does; describing an image only waits."""

    name: ClassVar[str] = "fake"
    image_model: ClassVar[str] = "fake-service/1"

    def describe(self, png: bytes) -> ImageDescription:
        """Wait like a network call; the pixels are ignored."""
        time.sleep(LATENCY_SECONDS)
        return ImageDescription(description=f"An image of {len(png)} bytes.")
