"""A picture that somebody asks with: what arrives is checked, read and made small, in a process with limits."""

import asyncio
import base64
import binascii
import re
from dataclasses import dataclass
from pathlib import Path

from app.callers.work_pool import WorkPool
from app.errors import BadQuestionError
from kb_pipeline.errors import ImageError, LimitExceededError, WorkerLostError
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits

FORMATS = ("PNG", "JPEG", "WEBP")
MOST_KEPT_BYTES = 1_200_000
"""A document of Cosmos DB holds 2 MB, and a picture is four thirds of its size there."""

_LIMITS = ProcessLimits(30.0, 1500.0)
"""Seconds and MB: OCR of the largest accepted picture takes less on one core."""
_MOST_WAITING = 7
"""One after the other at a second each, so that nobody waits longer than for an answer."""
_IDLE_SECONDS = 300.0
"""The model of OCR takes some hundred MB, which are given back after five minutes."""
_SIDES = (2000, 1536, 1024, 768, 512)
"""Longest side of the picture that is kept, in pixels: the first with which it is small enough."""

_MOST_READ_PIXELS = 4_000_000
"""Pixels that OCR reads: a screenshot of 2560 by 1440 whole, one of 4K at seven tenths of its size."""
_LONGEST_TEXT = 400
"""Characters of what stands on a picture that are searched for with the question, as of a pasted mail."""
_DATA_URL = re.compile(r"data:image/[a-z+.-]{1,20};base64,", re.IGNORECASE)
_NONE_HERE = "pictures cannot be sent here (KB_PICTURE_BYTES=0); ask in words"
_NOT_FETCHED = "a picture must be sent as a data URL (data:image/png;base64,…); addresses are not fetched"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is kept: a PNG, JPEG or WebP that any browser shows. ``text`` is what was read on it."""

    data: bytes
    media_type: str
    width: int
    height: int
    text: str = ""


def bytes_of(url: str, most_bytes: int) -> bytes:
    """The bytes of a picture in a data URL.

    Raises:
        BadQuestionError: it is another URL, damaged, or the picture is too large, or none can be sent.
    """
    if not most_bytes:
        raise BadQuestionError(_NONE_HERE)
    head = _DATA_URL.match(url[:64])
    if head is None:
        raise BadQuestionError(_NOT_FETCHED)
    try:
        data = base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError) as exc:
        raise BadQuestionError("the picture is not valid base64; send it again") from exc
    if not data or len(data) > most_bytes:
        raise BadQuestionError(
            f"the picture has {len(data):,} bytes, the limit is {most_bytes:,} (KB_PICTURE_BYTES); send a smaller one"
            if data
            else "the picture is empty; send it again"
        )
    return data


def bytes_in(file: Path, most_bytes: int) -> bytes:
    """The bytes of a picture in a file of the asker.

    Raises:
        BadQuestionError: it cannot be read, is empty or too large, or none can be sent.
    """
    if not most_bytes:
        raise BadQuestionError(_NONE_HERE)
    try:
        with file.open("rb") as opened:
            data = opened.read(most_bytes + 1)
    except OSError as exc:
        raise BadQuestionError(f"the picture {str(file)!r} cannot be opened: {exc.strerror or exc}") from exc
    if not data or len(data) > most_bytes:
        fault = f"larger than the limit of {most_bytes:,} bytes (KB_PICTURE_BYTES)" if data else "empty"
        raise BadQuestionError(f"the picture {str(file)!r} is {fault}; choose another one")
    return data


class PictureReader:
    """Reads pictures one after the other, in a process that is started when it is needed and ended when it is not."""

    def __init__(self) -> None:
        self._process = LimitedProcess(quiet=True)
        self._pool = WorkPool("reading pictures", at_once=1, most_waiting=_MOST_WAITING)
        self._reading = 0
        self._ending: asyncio.TimerHandle | None = None

    async def read(self, data: bytes) -> Picture:
        """The picture as it is kept, with the text on it.

        Raises:
            BadQuestionError: it is no picture, or it cannot be decoded within the limits.
            UpstreamBusyError: too many others wait.
        """
        self._reading += 1
        if self._ending:
            self._ending.cancel()
        try:
            return await self._pool.run(lambda: self._read(data))
        except (ImageError, LimitExceededError) as exc:
            raise BadQuestionError(f"the picture cannot be read: {exc}; send a PNG, JPEG or WebP") from exc
        except WorkerLostError as exc:
            raise BadQuestionError("the picture cannot be read: decoding it crashed; send another one") from exc
        finally:
            self._reading -= 1
            if not self._reading:
                self._ending = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._process.kill)

    def close(self) -> None:
        """End the process."""
        self._pool.close()
        self._process.kill()

    def _read(self, data: bytes) -> Picture:
        return self._process.call(read_picture, data, limits=_LIMITS, name="picture")


def read_picture(data: bytes) -> Picture:
    """Decode a picture, read the text on it and make it small. Runs in the process with limits.

    Raises:
        ImageError: it is no picture in one of :data:`FORMATS`, too large, or damaged.
    """
    from kb_pipeline.analyzers.local import lines_on
    from kb_pipeline.steps.describe import describe_lines, message_of
    from kb_pipeline.steps.images import flatten, read_header, to_png

    kind = read_header(data).format
    if kind not in FORMATS:
        raise ImageError(f"it is {kind}")
    png = to_png(data)
    image = flatten(png.data)
    if (shrink := (_MOST_READ_PIXELS / (image.width * image.height)) ** 0.5) < 1:
        image.thumbnail((int(image.width * shrink) or 1, int(image.height * shrink) or 1))
    lines = lines_on(image)
    text = message_of(lines) or (describe_lines(lines, *image.size).description if lines else "")
    kept, media_type = _small(png.data)
    return Picture(kept, media_type, png.width, png.height, text[:_LONGEST_TEXT])


def _small(png: bytes) -> tuple[bytes, str]:
    """A picture small enough to be kept, and its media type; at the last of :data:`_SIDES` every one is."""
    from kb_pipeline.steps.images.raster import scaled_down

    for side in _SIDES:
        kept = scaled_down(png, side)
        if len(kept[0]) <= MOST_KEPT_BYTES:
            break
    return kept
