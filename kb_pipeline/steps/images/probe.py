"""What is known of a staged file that may be an image, without decoding it."""

from collections.abc import Callable

from kb_pipeline.errors import ImageError
from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.images import ImageHeader, check_size, read_header


def probe_image(file: str, data: bytes, read: Callable[[bytes], ImageHeader] = read_header) -> ImageInfo:
    """Format and size of an image, or the reason why it cannot be decoded. ``read`` reads its header."""
    info = ImageInfo(file=file, sha256=sha256(data))
    try:
        header = read(data)
        info = info.model_copy(update=header._asdict())
        check_size(header.width, header.height)
    except ImageError as exc:
        return info.model_copy(update={"problem": str(exc)})
    return info
