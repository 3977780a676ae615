"""Opens images of the serving layer. HTTP is in :mod:`app.api.originals`."""

import re
from collections.abc import Iterable, Iterator

from app.callers.principal import Principal
from app.library.served_files import OpenedFile, may_see, open_served
from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.store.files import for_each
from kb_pipeline.store.layout import Layout

_IMAGE_PATH = re.compile(r"images/[^./\\\0][^/\\\0]*\.png")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class ImageNotFoundError(KnowledgeBaseError):
    """There is no such image that this person may see; it does not say whether the image exists."""


def open_image(layout: Layout, article_id: str, image_path: str, who: Principal) -> OpenedFile:
    """Open an image of a published article by its path there, ``images/<stem>.png``.

    Images of older versions can be opened as long as their files exist, because an older generation of the index may
    still cite them.

    Raises:
        ImageNotFoundError: there is no such image, or this person may not see it.
        TransientError: the storage account that holds it does not answer.
    """
    try:
        if _IMAGE_PATH.fullmatch(image_path) and may_see(layout, article_id, who):
            return open_served(layout.serving(article_id), image_path, "image/png", _SIGNATURE)
    except TransientError:
        raise
    except (KnowledgeBaseError, OSError, ValueError) as exc:
        raise _not_found(article_id, image_path) from exc
    raise _not_found(article_id, image_path)


def visible_image_paths(layout: Layout, paths: Iterable[str], who: Principal) -> list[str]:
    """Those of the paths ``<article_id>/images/<stem>.png`` that name a picture which this person may see.

    It is not looked up whether the file exists.

    Raises:
        TransientError: the storage account that says who may see it does not answer.
    """
    named = [(article_id, path) for path in paths for article_id in _article_of(path)]
    articles = list(dict.fromkeys(article_id for article_id, _ in named))
    may = for_each(layout.serving_root, lambda article_id: may_see(layout, article_id, who), articles)
    visible = {article_id for article_id, is_visible in zip(articles, may, strict=True) if is_visible}
    return [path for article_id, path in named if article_id in visible]


def _article_of(path: str) -> Iterator[str]:
    article_id, _, image = path.partition("/")
    if _IMAGE_PATH.fullmatch(image):
        yield article_id


def _not_found(article_id: str, image_path: str) -> ImageNotFoundError:
    return ImageNotFoundError(f"there is no image {image_path[:80]!r} of article {article_id[:80]!r}")
