"""A fake of a paid service: describes every image alike, after the time that a call over the network takes."""

import time
from typing import ClassVar

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.records import ImageDescription

LATENCY_SECONDS = 0.4


class FakeServiceAnalyzer(LocalAnalyzer):
    """Our own conversion; describing an image is waiting."""

    name: ClassVar[str] = "fake"
    image_model: ClassVar[str] = "fake-service/1"

    def describe(self, png: bytes) -> ImageDescription:
        """Wait as for an answer; the pixels are not looked at."""
        time.sleep(LATENCY_SECONDS)
        return ImageDescription(description=f"An image of {len(png)} bytes.")
