"""Which folder names may be article ids.

The id is a folder name in every layer, a Dagster partition key and part of a URL, so it must be
safe as all three. Spaces, dots and Unicode letters are fine; what is refused is refused by name.
"""

import unicodedata
from functools import lru_cache

from kb_pipeline.errors import InvalidArticleIdError

MAX_BYTES = 200
"""Leaves room, within the 255 bytes of a file name, for temporary and index suffixes."""

_SEPARATORS = frozenset('/\\:*?"<>|')


@lru_cache(maxsize=256)  # asked for each path of an article
def check_article_id(article_id: str) -> str:
    """Return ``article_id`` unchanged when it may be used.

    Raises:
        InvalidArticleIdError: says which rule the name breaks; renaming the folder mends it.
    """
    problem = _problem(article_id)
    if problem:
        raise InvalidArticleIdError(f"{_shown(article_id)} cannot be an article id: {problem}; rename the folder")
    return article_id


def _problem(article_id: str) -> str | None:
    if not article_id.strip():
        return "it is empty"
    if article_id != article_id.strip():
        return "it begins or ends with a space"
    if article_id.startswith((".", "_")):
        return "names that begin with '.' or '_' are for hidden and internal folders"
    if "..." in article_id:
        return "'...' means a range of partitions to Dagster"
    if bad := _SEPARATORS.intersection(article_id):
        return f"{' '.join(sorted(bad))} is not allowed in file names on every system"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in article_id):
        return "it holds control or invisible characters"
    if (size := len(article_id.encode())) > MAX_BYTES:
        return f"it is {size} bytes long in UTF-8, the limit is {MAX_BYTES}"
    return None


def _shown(article_id: str) -> str:
    return repr(article_id if len(article_id) <= 60 else article_id[:57] + "...")


def is_article_id(name: str) -> bool:
    """Whether a name may be an article id."""
    return _problem(name) is None
