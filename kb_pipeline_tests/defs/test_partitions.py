"""Partitions are added by several runs at once, and each of them finds what it wanted."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
import sqlalchemy
from sqlalchemy import event

from kb_pipeline.defs.partitions import add_articles, add_partitions


@contextmanager
def somebody_else_adds(instance: dg.DagsterInstance, *keys: str) -> Iterator[None]:
    """Adds the keys to the articles between the moment when Dagster looks for them and the moment when it inserts."""
    left = [*keys]

    def before(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        if statement.startswith("INSERT INTO dynamic_partitions") and left:
            with dg.DagsterInstance.from_ref(instance.get_ref()) as other:
                other.add_dynamic_partitions("articles", [left.pop()])

    event.listen(sqlalchemy.Engine, "before_cursor_execute", before)
    try:
        yield
    finally:
        event.remove(sqlalchemy.Engine, "before_cursor_execute", before)
    assert not left


def test_keys_that_another_run_adds_meanwhile_are_there(instance: dg.DagsterInstance) -> None:
    with somebody_else_adds(instance, "a", "b"):
        add_partitions(instance, "articles", ["a", "b", "c"])
    assert sorted(instance.get_dynamic_partitions("articles")) == ["a", "b", "c"]


def test_only_articles_that_were_not_known_count_as_new(instance: dg.DagsterInstance) -> None:
    assert add_articles(instance, ["a", "b"]) == 2
    assert add_articles(instance, ["a", "c"]) == 1
    assert sorted(instance.get_dynamic_partitions("articles")) == ["a", "b", "c"]
