"""Our own conversion without descriptions of images: the peers don't read screenshots.

Chosen by ``KB_ANALYZER=benchmarks.peers.text_only:TextOnlyAnalyzer``. Images are still served, which no peer does.
"""

from typing import ClassVar

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.records import ImageDescription

ANALYZER = "benchmarks.peers.text_only:TextOnlyAnalyzer"


class TextOnlyAnalyzer(LocalAnalyzer):
    """Converts as ``local`` does and says nothing about pictures."""

    name: ClassVar[str] = "text-only"
    image_model: ClassVar[str] = "none"

    def describe(self, png: bytes) -> ImageDescription:
        """Nothing."""
        return ImageDescription(description="")
