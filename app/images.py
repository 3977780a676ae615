"""Opens images of the serving layer. HTTP is in :mod:`app.api.images`."""

import re

from app.principal import Principal
from app.served_files import ServedFile, may_see, open_served
from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.store.layout import Layout

_IMAGE_PATH = re.compile(r"images/[^./\\\0][^/\\\0]*\.png")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class ImageNotFoundError(KnowledgeBaseError):
    """There is no such image that this person may see; it does not say whether the image exists."""


def open_image(layout: Layout, article_id: str, image_path: str, who: Principal) -> ServedFile:
    """Open an image of a published article by its path there, ``images/<stem>.png``.

    Images of older versions can be opened as long as their files exist, because an older generation of the index may
    still cite them.

    Raises:
        ImageNotFoundError: there is no such image, or this person may not see it.
        TransientError: the storage account that holds it does not answer.
    """
    try:
        if may_see(layout, article_id, who) and _IMAGE_PATH.fullmatch(image_path):
            return open_served(layout.serving(article_id), image_path, "image/png", _SIGNATURE)
    except TransientError:
        raise
    except (KnowledgeBaseError, OSError, ValueError) as exc:
        raise _not_found(article_id, image_path) from exc
    raise _not_found(article_id, image_path)


def _not_found(article_id: str, image_path: str) -> ImageNotFoundError:
    return ImageNotFoundError(f"there is no image {image_path[:80]!r} of article {article_id[:80]!r}")
