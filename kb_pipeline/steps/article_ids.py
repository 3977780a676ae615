"""Rules for article ids.

An article id is a folder name in every layer, a Dagster partition key and part of a URL, so it must be safe as all
three. Spaces, dots and Unicode letters are allowed; the error names what is not.
"""

import unicodedata
from functools import lru_cache

from kb_pipeline.errors import InvalidArticleIdError

MAX_BYTES = 200
"""Leaves room, within the 255 bytes of a file name, for temporary and index suffixes."""

_SEPARATORS = frozenset('/\\:*?"<>|')


@lru_cache(maxsize=256)  # called for each path of an article
def check_article_id(article_id: str) -> str:
    """Return ``article_id`` unchanged if it is valid.

    Raises:
        InvalidArticleIdError: the message names the broken rule; renaming the folder fixes it.
    """
    problem = _problem(article_id)
    if problem:
        shown = article_id if len(article_id) <= 60 else article_id[:57] + "..."
        raise InvalidArticleIdError(f"{shown!r} cannot be an article id: {problem}; rename the folder")
    return article_id


def is_article_id(name: str) -> bool:
    """Return whether a name is a valid article id."""
    return _problem(name) is None


def _problem(article_id: str) -> str | None:
    if not article_id.strip():
        return "it is empty"
    if article_id != article_id.strip():
        return "it begins or ends with a space"
    if article_id.startswith((".", "_")):
        return "names that begin with '.' or '_' are for hidden and internal folders"
    if "..." in article_id:
        return "'...' means a range of partitions to Dagster"
    if forbidden := _SEPARATORS.intersection(article_id):
        return f"{' '.join(sorted(forbidden))} is not allowed in file names on every system"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in article_id):
        return "it contains control or invisible characters"
    if (size := len(article_id.encode())) > MAX_BYTES:
        return f"it is {size} bytes long in UTF-8; the limit is {MAX_BYTES}"
    return None
