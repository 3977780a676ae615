"""Decodes images in a separate process, which is killed when an image takes too long or needs too much memory.

The decoding itself is in :mod:`kb_pipeline.steps.images`. A plain PNG is only copied, so it needs no other process.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from kb_pipeline.errors import ImageError, LimitExceededError, WorkerLostError
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits
from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.images import ImageHeader, PngImage, is_plain_png, read_header, to_png
from kb_pipeline.steps.images.probe import probe_image

T = TypeVar("T")

SECONDS = 30.0
"""Seconds for an image: far more than the largest accepted one takes."""
MEMORY_MB = 1500
"""The largest accepted image unpacked, some times over."""

_KEPT_BYTES = 16 << 20
"""Size of the cache of PNGs: each image of an article is needed twice, to be described and to be served."""


class ImageReader:
    """Probes and converts images within a limit of ``seconds`` and ``memory_mb`` each."""

    def __init__(self, seconds: float = SECONDS, memory_mb: int = MEMORY_MB) -> None:
        self._limits = ProcessLimits(
            seconds, memory_mb, "raise KB_IMAGE_SECONDS or KB_IMAGE_MEMORY_MB, or simplify the image"
        )
        self._process = LimitedProcess(quiet=True)
        self._recent: OrderedDict[str, PngImage] = OrderedDict()

    @property
    def unusual_limits(self) -> str:
        """The limits as a part of fingerprints; empty for the default limits."""
        seconds, memory_mb = self._limits.seconds, self._limits.memory_mb
        return "" if (seconds, memory_mb) == (SECONDS, MEMORY_MB) else f"/{seconds:g} s, {memory_mb:g} MB"

    def probe(self, file: str, data: bytes) -> ImageInfo:
        """Format and size of an image, or the reason why it cannot be decoded."""
        return probe_image(file, data, self._read_header)

    def to_png(self, data: bytes) -> PngImage:
        """Convert the image to a PNG.

        Raises:
            ImageError: it cannot be decoded, or not within the limits.
        """
        if is_plain_png(data):
            return to_png(data)
        key = sha256(data)
        if key not in self._recent:
            self._recent[key] = self._call(to_png, data)
        png = self._recent[key]
        while sum(len(kept.data) for kept in self._recent.values()) > _KEPT_BYTES:
            self._recent.popitem(last=False)
        return png

    def _read_header(self, data: bytes) -> ImageHeader:
        return read_header(data) if is_plain_png(data) else self._call(read_header, data)

    def _call(self, function: Callable[..., T], *arguments: object) -> T:
        try:
            try:
                return self._process.call(function, *arguments, limits=self._limits)
            except WorkerLostError:  # the image crashed it, or somebody killed it: a second call shows which
                return self._process.call(function, *arguments, limits=self._limits)
        except LimitExceededError as exc:
            raise ImageError(f"decoding or drawing it {exc}") from exc
        except WorkerLostError as exc:
            raise ImageError(
                "the process that decoded or drew it died (a crash in a native library); replace the image"
            ) from exc
