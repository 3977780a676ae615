"""One dynamic partition for each article, shared by all assets."""

from collections.abc import Iterable

import dagster as dg

articles = dg.DynamicPartitionsDefinition(name="articles")

_CHUNK = 10_000  # every build of SQLite accepts this many variables in one statement


def add_articles(instance: dg.DagsterInstance, article_ids: Iterable[str]) -> int:
    """Add the articles that are not partitions yet; returns how many were new."""
    partitions = set(instance.get_dynamic_partitions("articles"))
    new = [article_id for article_id in article_ids if article_id not in partitions]
    for start in range(0, len(new), _CHUNK):
        instance.add_dynamic_partitions("articles", new[start : start + _CHUNK])
    return len(new)
