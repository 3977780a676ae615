"""One dynamic partition for each article, shared by all assets."""

from collections.abc import Iterable, Iterator, Sequence

import dagster as dg
from sqlalchemy.exc import IntegrityError

from kb_pipeline.defs.namespace import PLAIN, Namespace

_CHUNK = 10_000  # every build of SQLite accepts this many variables in one statement
_ATTEMPTS = 5
"""Other runs may add the same keys at the same time; each attempt leaves out what is there by then."""


def add_articles(instance: dg.DagsterInstance, article_ids: Iterable[str], namespace: Namespace = PLAIN) -> int:
    """Add the articles that are not partitions yet; returns how many were new."""
    partitions = set(instance.get_dynamic_partitions(namespace.articles))
    new = [article_id for article_id in article_ids if article_id not in partitions]
    for some in in_statements(new):
        add_partitions(instance, namespace.articles, some)
    return len(new)


def add_partitions(instance: dg.DagsterInstance, name: str, keys: Sequence[str]) -> None:
    """Add the keys that the partitions of this name do not have yet.

    Dagster looks for what is there and inserts the rest, in that order: another run that adds the same keys in between
    makes it fail, and the next attempt finds them.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return instance.add_dynamic_partitions(name, keys)
        except IntegrityError:
            if attempt == _ATTEMPTS - 1:
                raise


def in_statements(article_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """The articles in parts that every storage can add in one statement."""
    for start in range(0, len(article_ids), _CHUNK):
        yield article_ids[start : start + _CHUNK]
